from __future__ import annotations

import csv
import json
import math
import time
from dataclasses import replace

import polars as pl
import pytest

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.reporting.charts.drawing import drawing
from portrayal.reporting.page.files import all_results, strict, write_csv, write_report
from portrayal.reporting.page.section import draw_all
from portrayal.study.audit import Chart, Measured, ReportTable
from portrayal.tables import RESULTS, results
from reporting.factory import NASTY, STEMS, five_sections, make_section, nasty_section

KINDS = (".html", ".svg", ".png", ".csv")


@pytest.fixture(scope="module")
def sections():
    return five_sections()


@pytest.fixture(scope="module")
def folder(sections, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    started = time.process_time()  # of all threads; other processes on the machine do not count
    page = write_report(out / "new", sections, "Five audits")
    out.joinpath("seconds").write_text(str(time.process_time() - started))
    assert page == out / "new" / "report.html"
    return out / "new"


def loads(text: str):
    """Read strict JSON: NaN and infinity are refused."""

    def refuse(word: str):
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def test_five_sections_take_less_than_ten_seconds(folder):
    assert float((folder.parent / "seconds").read_text()) < 10


def test_every_file_is_there(folder):
    assert {path.name for path in folder.iterdir()} == {
        ".portrayal",
        "report.html",
        "results.json",
        "results.csv",
        "results.parquet",
        "summary.md",
        "croissant.json",
        "charts",
        "tables",
        "rows",
    }
    charts = {path.name for path in (folder / "charts").iterdir()}
    names = [f"{stem}-{name}" for stem in STEMS for name in ("forest", "specification_curve")]
    assert charts == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    tables = {path.name for path in (folder / "tables").iterdir()}
    names = [f"{stem}-{name}" for stem in STEMS for name in ("specifications", "missing")]
    assert tables == {f"{name}.{kind}" for name in names for kind in ("csv", "parquet")}


def test_the_three_files_hold_the_same_unrounded_numbers(folder, sections):
    truth = pl.concat([section.measured.results for section in sections])
    parquet = pl.read_parquet(folder / "results.parquet")
    assert dict(parquet.schema) == {**RESULTS, "study": pl.String}
    assert parquet.drop("study").equals(truth)
    written = loads((folder / "results.json").read_text())["results"]
    assert pl.DataFrame(written, schema={**RESULTS, "study": pl.String}).equals(parquet)
    from_csv = pl.read_csv(folder / "results.csv", schema={**RESULTS, "study": pl.String})
    assert from_csv.equals(parquet)


def test_results_json_says_what_the_page_says(folder, sections):
    whole = loads((folder / "results.json").read_text())
    assert whole["title"] == "Five audits"
    assert [audit["stem"] for audit in whole["audits"]] == list(STEMS)
    first = whole["audits"][0]
    assert first["question"] == "Does a tagger see a person differently in a stereotyped place?"
    assert first["states"] == sections[0].states.to_dicts()
    assert sum(first["state_totals"].values()) == first["questions"] == 720
    assert first["validity"] == list(sections[0].audit.validity)
    assert whole["audits"][2]["warnings"][0].startswith("The reader saw the gender cue")
    assert whole["manifest"]["search"]["seed"] == 0


def test_a_finding_points_into_the_whole_list_of_results(folder, sections):
    whole = loads((folder / "results.json").read_text())
    for audit in whole["audits"]:
        finding = audit["findings"][0]
        row = whole["results"][finding["row"]]
        assert row["audit"] == audit["stem"]
        assert finding["sentence"].startswith(f"{row['system']} leans the stereotyped way for {row['group']}")


def test_strict_json_has_no_nan_and_keeps_missing_missing():
    section = make_section(with_charts=False)
    rows = [{"audit": "associations", "measure": "d", "value": math.nan, "low": -math.inf, "high": math.inf, "n": 2}]
    changed = replace(section, measured=Measured(results(rows)), findings=[])
    assert all_results([changed])["value"].is_nan().all()
    assert strict({"a": math.nan, 1: (math.inf, 0.1), "b": {"c": pl.Series([1.5, None])}}) == {
        "a": None,
        "1": [None, 0.1],
        "b": {"c": [1.5, None]},
    }
    json.dumps(strict(all_results([changed]).to_dicts()), allow_nan=False)


def test_a_report_may_be_written_over_the_file_its_results_were_read_from(tmp_path):
    section = make_section(with_charts=False)
    write_report(tmp_path, [section], "Once")
    before = pl.read_parquet(tmp_path / "results.parquet")
    again = replace(section, measured=Measured(before))
    write_report(tmp_path, [again], "Twice")
    assert pl.read_parquet(tmp_path / "results.parquet").equals(before)
    assert list(tmp_path.glob("**/*.part")) == []


def test_charts_and_tables_of_an_earlier_report_are_taken_away(tmp_path):
    section = make_section(with_charts=False)
    write_report(tmp_path, [section], "Once")
    (tmp_path / "tables" / "kept.parquet").write_bytes(b"a run's own table")
    write_report(tmp_path, [replace(section, tables=section.tables[:1])], "Twice")
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names == {"associations-specifications.csv", "associations-specifications.parquet", "kept.parquet"}


def test_a_report_over_several_runs_overwrites_none_of_them(tmp_path):
    runs = [tmp_path / name for name in ("one", "two")]
    for run in runs:
        run.mkdir()
        (run / "ledger.sqlite").touch()
    for out in (None, runs[1]):
        with pytest.raises(PortrayalError, match="needs a folder of its own"):
            flow.report(runs, out)


def test_two_studies_of_one_audit_keep_their_rows_and_files_apart(tmp_path):
    one = make_section("search", study="first", with_charts=False)
    two = make_section("search", study="second", anchor="search-2", with_charts=False)
    write_report(tmp_path, [one, two], "Two")
    table = pl.read_parquet(tmp_path / "results.parquet")
    assert table["study"].unique(maintain_order=True).to_list() == ["first", "second"]
    assert (tmp_path / "tables" / "search-2-missing.csv").exists()
    assert set(loads((tmp_path / "results.json").read_text())["manifest"]) == {"search", "search-2"}


def test_names_from_outside_never_leave_the_folder(tmp_path):
    bad = "../../outside\x00<b>"
    table = ReportTable(bad, "t", "", pl.DataFrame({"a": [1]}))
    chart = Chart(bad, "t", "words", png=b"\x89PNG\r\n\x1a\n")
    section = replace(make_section(with_charts=False), tables=[table, table], charts=[chart])
    write_report(tmp_path / "in", [section], "t")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    written = {path.name for path in (tmp_path / "in" / "tables").iterdir()}
    stems = ("associations-outside_b", "associations-outside_b-2")
    assert written == {f"{stem}{end}" for stem in stems for end in (".csv", ".parquet")}
    assert {path.name for path in (tmp_path / "in" / "charts").iterdir()} == {"associations-outside_b.png"}


def test_a_nasty_report_is_written_and_read_back(tmp_path):
    section = nasty_section()
    write_report(tmp_path, [section], NASTY)
    whole = loads((tmp_path / "results.json").read_text())
    assert whole["title"] == NASTY  # files keep what was said, to the character
    assert pl.read_parquet(tmp_path / "results.parquet")["system"][0] == NASTY


def test_a_spreadsheet_runs_nothing(tmp_path):
    table = pl.DataFrame(
        {
            "tag": ['=HYPERLINK("http://x")', "@cmd", "+1", "-0.5", "- none", "plain", None],
            "value": [-1.5, 2.0, None, 0.1, 0.2, 0.3, 0.4],
            "several": [["a"], [], None, ["b"], ["c"], ["d"], ["e"]],
        }
    )
    write_csv(table, tmp_path / "tags.csv")
    with (tmp_path / "tags.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    tags = [row["tag"] for row in rows]
    assert tags == ['\'=HYPERLINK("http://x")', "'@cmd", "+1", "-0.5", "'- none", "plain", ""]
    assert [row["value"] for row in rows][:2] == ["-1.5", "2.0"]
    assert json.loads(rows[0]["several"]) == ["a"]
    assert rows[2]["several"] == ""


def test_charts_drawn_in_processes_are_those_drawn_here(tmp_path):
    sections = five_sections()
    with drawing(2) as draw:
        write_report(tmp_path / "two", sections, "Five audits", draw)
    write_report(tmp_path / "one", sections, "Five audits")
    found = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.suffix in KINDS}
    assert {path.suffix for path in found} == set(KINDS)
    for path in found:
        assert (tmp_path / "two" / path).read_bytes() == (tmp_path / "one" / path).read_bytes(), path


def test_a_chart_that_cannot_be_drawn_is_one_line_from_a_process_too():
    chart = Chart("broken", "t", "words", chart={"mark": "no such mark", "data": {"values": [{"a": 1}]}})
    section = replace(make_section(with_charts=False), charts=[chart])
    with drawing(2) as draw, pytest.raises(PortrayalError, match="a chart cannot be drawn"):
        draw_all([section], draw)
