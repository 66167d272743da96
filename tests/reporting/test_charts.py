from __future__ import annotations

import itertools
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.reporting.charts import charts
from portrayal.reporting.charts.charts import MOST_POINTS, least_squares
from portrayal.reporting.charts.curve import MOST, ranked
from portrayal.reporting.charts.drawing import prefixed, svg_to_png, tidied
from portrayal.reporting.charts.theme import CARD, DARK, PALETTE, SHAPES, merge, themed
from reporting.factory import NASTY, coloured, make_results, make_specifications

TEXT = "{http://www.w3.org/2000/svg}text"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(TEXT)]


def shapes_drawn(svg: str, name: str) -> int:
    """Count the marks of one layer: Vega names each group of marks in its class."""
    root = ElementTree.fromstring(svg)
    groups = [group for group in root.iter() if name in group.get("class", "").split()]
    return sum(len(list(group)) for group in groups)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return make_results("search", ["A", "B", "C"], seed=4).drop_nulls("value")


def all_charts(rows: pl.DataFrame) -> dict[str, object]:
    steps = pl.DataFrame({"x": [0, 1, 2, 0, 1, 2], "y": [1.0, 2, 3, 2, 2, 2], "s": list("aaabbb")})
    steps = steps.with_columns((pl.col("y") - 0.5).alias("low"), (pl.col("y") + 0.5).alias("high"))
    return {
        "forest": charts.forest(rows, label="group"),
        "bars": charts.bars_with_intervals(rows, axis="share"),
        "scatter": charts.scatter_with_fit(steps, x="x", y="y", color="s"),
        "lines": charts.lines_with_band(steps, x="x", y="y", low="low", high="high", color="s", reference=0.0),
        "curve": charts.specification_curve(make_specifications(), choices=["prompt", "ddof"]),
    }


def test_every_chart_draws_as_svg_and_png(rows):
    for name, chart in all_charts(rows).items():
        svg = charts.to_svg(chart, label=name)
        assert ElementTree.fromstring(svg).get("aria-label") == name
        assert svg_to_png(svg).startswith(b"\x89PNG\r\n\x1a\n"), name


def test_a_forest_has_a_point_a_rule_and_a_name_for_each_row(rows):
    svg = charts.to_svg(charts.forest(rows, label="group", axis="gsr"))
    assert shapes_drawn(svg, "mark-symbol") >= rows.height
    assert shapes_drawn(svg, "mark-rule") >= rows.height + 1  # and the line at zero
    assert {"nurse", "plumber", "CEO", "teacher", "A", "B", "C", "gsr"} <= set(texts(svg))


def test_a_row_without_an_interval_keeps_its_point():
    table = pl.DataFrame({"group": ["a", "b"], "value": [0.2, 0.3], "low": [0.1, None], "high": [0.3, None]})
    chart = charts.forest(table, color=None, reference=None)
    svg = charts.to_svg(chart)
    assert shapes_drawn(svg, "mark-symbol") == 2
    assert {"a", "b"} <= set(texts(svg))


def test_only_what_was_found_is_a_filled_point():
    table = pl.DataFrame({"group": ["a", "b", "c"], "value": [0.2, 0.3, 0.4], "low": 0.1, "high": 0.5})
    decisions = pl.Series("decision", ["found", "not found", None])
    fills = re.compile(r'<path transform[^>]*fill="(#[0-9a-f]{6})"')
    svg = charts.to_svg(charts.forest(table.with_columns(decisions), color=None, reference=None))
    assert sorted(fills.findall(svg)) == sorted([PALETTE[0], CARD, CARD])
    bare = charts.to_svg(charts.forest(table, color=None, reference=None))  # nothing was decided: nothing was found
    assert fills.findall(bare) == [CARD] * 3


def test_a_table_of_many_rows_is_drawn_and_says_what_was_left_out():
    many = pl.DataFrame({"group": [f"row {n}" for n in range(7000)], "value": np.linspace(-1, 2, 7000)})
    many = many.with_columns((pl.col("value") - 0.1).alias("low"), (pl.col("value") + 0.1).alias("high"))
    shown = texts(charts.to_svg(charts.forest(many, color=None)))
    assert "The 120 rows farthest from zero, of 7,000." in shown
    assert "row 6999" in shown
    assert "row 2333" not in shown  # its value is nearest to zero


def test_a_scatter_of_many_points_is_counted_and_its_line_uses_all():
    dice = np.random.default_rng(0)
    x = dice.normal(size=20_000)
    table = pl.DataFrame({"a.b": x, "c:Q": 2 * x + dice.normal(size=x.size)})
    svg = charts.to_svg(charts.scatter_with_fit(table, x="a.b", y="c:Q"))
    assert len(svg) < 1_500_000
    assert shapes_drawn(svg, "mark-symbol") < MOST_POINTS + 50
    line = least_squares(table.rename({"a.b": "x", "c:Q": "y"}))
    slope, cut = np.polyfit(x, table["c:Q"].to_numpy(), 1)  # an independent fit
    assert line["y"].to_list() == pytest.approx([slope * end + cut for end in (x.min(), x.max())])


def test_points_in_one_place_have_no_line():
    assert least_squares(pl.DataFrame({"x": [1.0, 1.0], "y": [1.0, 2.0]})).is_empty()
    assert least_squares(pl.DataFrame({"x": [1.0], "y": [1.0]})).is_empty()


def test_lines_take_more_rows_than_altair_allows():
    steps = pl.DataFrame({"x": np.arange(6000), "y": np.sin(np.arange(6000) / 500), "system": "A"})
    assert charts.to_svg(charts.lines_with_band(steps, x="x", y="y"))


def test_the_curve_says_the_share_that_supports_the_claim():
    # Three of four intervals leave out zero.
    table = pl.DataFrame(
        {
            "prompt": list("abab"),
            "value": [0.5, 0.1, 0.6, -0.7],
            "low": [0.1, -0.2, 0.2, -0.9],
            "high": [0.9, 0.4, 1.0, -0.5],
        }
    )
    shown = texts(charts.to_svg(charts.specification_curve(table, choices=["prompt"])))
    assert "75% of 4 specifications support the claim." in shown
    assert {"prompt: a", "prompt: b"} <= set(shown)


def test_a_long_curve_is_thinned_evenly_and_keeps_its_share():
    table = make_specifications(size=5000).with_columns(pl.int_range(5000).alias("number"))
    frame = ranked(table, ["prompt"], "low", "high")
    assert frame.height <= MOST
    assert frame["rank"].to_list()[:3] == [0, 9, 18]  # 5,000 over at most 600: every ninth
    truth = ((table["low"] > 0) | (table["high"] < 0)).mean()
    assert frame["share"][0] == pytest.approx(truth)
    chart = charts.specification_curve(table, choices=["prompt"])
    assert any("one in 9 is drawn" in text for text in texts(charts.to_svg(chart)))


def test_choices_are_in_the_order_people_count():
    table = pl.DataFrame({"test": ["weat10", "weat2", "weat1"], "value": [1.0, 2.0, 3.0]})
    chart = charts.specification_curve(table, choices=["test"], low=None, high=None)
    shown = [text for text in texts(charts.to_svg(chart)) if text.startswith("test: ")]
    assert shown == ["test: weat1", "test: weat2", "test: weat10"]


def test_the_curve_takes_the_claim_from_a_column_when_given():
    table = make_specifications(size=10).with_columns(pl.Series("claim", [True] * 9 + [None]))
    assert ranked(table, ["ddof"], supports="claim")["share"][0] == pytest.approx(0.9)


def test_a_misspelt_column_is_one_clear_line(rows):
    with pytest.raises(PortrayalError, match=r"a chart lacks column 'sytem' \(found: .*Did you mean 'system'"):
        charts.forest(rows, color="sytem")
    with pytest.raises(PortrayalError, match=r"a specification curve lacks column 'prompts'"):
        charts.specification_curve(make_specifications(), choices=["prompts"])


def test_text_from_systems_stays_text_inside_a_drawing():
    rows = make_results("associations", [NASTY, "plain"]).drop_nulls("value")
    for chart in (charts.forest(rows, label="system"), coloured(rows)):
        svg = charts.to_svg(chart, label=NASTY)
        assert "<script" not in svg
        assert not re.search("[\x00-\x08\x1b\u202e]", svg)
        assert any("<script>" in text for text in texts(svg))  # it is shown, as text


def test_control_characters_do_not_end_the_process():
    # The renderer aborts the whole process on a null byte, so this must run in one of its own.
    code = (
        "import polars as pl; from portrayal.reporting.charts import charts\n"
        "t = pl.DataFrame({'group': ['a\\x00\\x1b\\ufffe'], 'value': [1.0], 'low': [0], 'high': [2]})\n"
        "print(len(charts.to_svg(charts.forest(t, color=None))) > 1000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr[-300:]


POSITION = {"x": {"field": "a", "type": "quantitative"}}


def test_links_of_a_spec_are_dropped():
    spec = {
        "data": {"values": [{"a": 1, "link": "https://example.org"}]},
        "mark": "point",
        "encoding": {**POSITION, "href": {"field": "link"}},
    }
    svg = charts.to_svg(spec)
    assert "mark-symbol" in svg
    assert "example.org" not in svg


def test_what_a_renderer_may_leave_in_a_drawing_is_taken_out():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="run()">'
        '<script>run()</script><a xlink:href="javascript:run()"><text onclick="run()">kept</text></a>'
        '<foreignObject><p>out</p></foreignObject><defs id="inside"/><use href="#inside"/></svg>'
    )
    done = tidied(svg, "a figure")
    assert "run()" not in done
    assert "foreignObject" not in done
    assert 'id="part-1"' in done and 'href="#part-1"' in done
    assert texts(done) == ["kept"]


def test_a_chart_fetches_nothing():
    asked: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Ear) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        picture = {"values": [{"a": 1, "picture": f"{here}/x.png"}]}
        svg = charts.to_svg({"data": picture, "mark": "image", "encoding": {**POSITION, "url": {"field": "picture"}}})
        svg_to_png(svg)
        with pytest.raises(PortrayalError, match="a chart cannot be drawn"):
            charts.to_svg({"data": {"url": f"{here}/data.csv"}, "mark": "point", "encoding": POSITION})
        server.shutdown()
    assert here not in svg
    assert asked == []


def test_the_same_chart_is_always_the_same_text(rows):
    chart = coloured(rows)
    first, second = charts.to_svg(chart), charts.to_svg(chart)
    assert 'id="part-1"' in first and "url(#part-1)" in first
    assert first == second


def test_ids_are_prefixed_with_their_references():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg"><defs><clipPath id="clip1"/><linearGradient id="g"/></defs>'
        '<g clip-path="url(#clip1)"><rect fill="url(#g)"/><text>id="clip1" url(#g)</text></g></svg>'
    )
    done = prefixed(svg, "one")
    assert re.findall(r'id="([^"]+)"', done.split("<text>")[0]) == ["one-clip1", "one-g"]
    assert 'clip-path="url(#one-clip1)"' in done
    assert 'fill="url(#one-g)"' in done
    assert '<text>id="clip1" url(#g)</text>' in done  # what a system wrote stays as it is


def test_the_theme_gives_way_to_a_charts_own_choice():
    assert merge({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == {"a": {"b": 3, "c": 2}}
    spec = themed({"config": {"axis": {"labelFontSize": 20}}})
    assert spec["config"]["axis"]["labelFontSize"] == 20
    assert spec["config"]["background"] == CARD


def test_importing_the_charts_does_not_import_altair():
    code = (
        "import sys, portrayal.reporting.charts.charts, portrayal.reporting.page.page\n"
        "print('altair' in sys.modules, 'vl_convert' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_stand_out_on_white_and_on_dark():
    # 3:1 is what WCAG 2.2 asks of graphics (success criterion 1.4.11).
    for color in PALETTE:
        assert contrast(color, CARD) >= 3, color
        assert contrast(DARK[color], DARK[CARD]) >= 3, color


# Machado, Oliveira, Fernandes (2009), A physiologically-based model for simulation of color vision
# deficiency, severity 1.0: the matrices are applied to linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(color: str, matrix: list[list[float]]) -> np.ndarray:
    """Return CIE L*a*b* (D65) of a colour as seen through the matrix."""
    parts = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ seen / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_first_colours_stay_apart_for_colour_blind_readers(deficiency):
    # A distance of 10 in L*a*b* is plainly seen; beyond the first four, shapes and dashes tell series apart.
    for one, other in itertools.combinations(PALETTE[:4], 2):
        matrix = DEFICIENCIES[deficiency]
        distance = float(np.linalg.norm(lab(one, matrix) - lab(other, matrix)))
        assert distance >= 10, (one, other, distance)


def test_there_is_a_shape_for_every_colour():
    assert len(SHAPES) == len(set(SHAPES)) >= len(PALETTE)
