"""A system looks alike in every chart of a report, simulated ones are grey, and colour-blind readers can tell them apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from portrayal.reporting.charts import charts
from portrayal.reporting.charts.drawing import spec_of
from portrayal.reporting.charts.looks import SCALED, dressed, looks_of
from portrayal.reporting.charts.theme import CARD, DARK, GREYS, PALETTE, SHAPES
from portrayal.reporting.page.section import report_looks
from reporting.factory import make_section

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "all cones": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}  # fmt: skip
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]


def linear(color: str) -> np.ndarray:
    parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* under D65."""
    x, y, z = np.array(TO_XYZ) @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = [np.cbrt(one) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: str, other: str, seen: str) -> float:
    cones = np.array(SEEN[seen])
    return float(np.linalg.norm(lab(cones @ linear(one)) - lab(cones @ linear(other))))


def contrast(one: str, other: str) -> float:
    bright = sorted((float(np.array(TO_XYZ)[1] @ linear(color)) for color in (one, other)), reverse=True)
    return (bright[0] + 0.05) / (bright[1] + 0.05)


def test_black_and_white_are_a_hundred_apart_for_everybody():
    assert [round(distance("#000000", "#ffffff", seen)) for seen in SEEN] == [100, 100, 100]
    # Red and green of one brightness are far apart, and for deuteranopes near each other: the simulation does what it should.
    assert distance("#c04000", "#5a7a00", "all cones") > 3 * distance("#c04000", "#5a7a00", "deuteranopia")


@pytest.mark.parametrize("seen", SEEN)
def test_colours_of_real_systems_are_told_apart_by_colour_blind_readers(seen):
    # A difference of 2 to 3 is just seen side by side; 15 is told at a glance.
    assert min(distance(*pair, seen) for pair in combinations(PALETTE, 2)) > 15


@pytest.mark.parametrize("seen", SEEN)
def test_the_grey_of_a_simulated_system_is_no_colour_of_a_real_one(seen):
    assert min(distance(color, grey, seen) for color in PALETTE for grey in GREYS) > 10
    assert min(distance(*pair, seen) for pair in combinations(GREYS, 2)) > 10


def test_every_colour_stands_out_from_its_ground_in_light_and_dark():
    assert min(contrast(color, CARD) for color in (*PALETTE, *GREYS)) >= 3
    assert min(contrast(DARK[color], DARK[CARD]) for color in (*PALETTE, *GREYS)) >= 3


def test_no_two_systems_share_colour_and_shape():
    found = looks_of((f"system {number}", number % 3 == 0) for number in range(54))
    assert len({(look.color, look.shape) for look in found.values()}) == 54
    assert all((look.color in GREYS) == look.simulated for look in found.values())
    assert {look.shape for look in found.values()} == set(SHAPES)


def worn(spec, channel: str) -> dict[str, set]:
    """Return the colours or shapes each name has anywhere in a spec."""
    found: dict[str, set] = {}
    if isinstance(spec, list):
        parts = [worn(one, channel) for one in spec]
    elif isinstance(spec, dict):
        scale = (spec.get(channel) or {}).get("scale") if isinstance(spec.get(channel), dict) else None
        parts = [worn(inner, channel) for key, inner in spec.items() if key != "datasets"]
        if scale:
            parts.append({name: {value} for name, value in zip(scale["domain"], scale["range"], strict=True)})
    else:
        return {}
    for part in parts:
        for name, values in part.items():
            found.setdefault(name, set()).update(values)
    return found


def test_a_system_looks_alike_in_charts_with_others_alone_and_in_another_order():
    rows = pl.DataFrame(
        {"system": ["A", "B", "phantom"], "group": ["x", "x", "x"], "value": [0.1, 0.2, 0.3], "low": 0.0, "high": 0.5}
    )
    looks = looks_of([("A", False), ("B", False), ("phantom", True)])
    drawn = [
        charts.forest(rows),
        charts.forest(rows.reverse()),
        charts.bars_with_intervals(rows.filter(system="B")),
        charts.lines_with_band(rows, x="value", y="value"),
        charts.scatter_with_fit(rows, x="value", y="low", color="system"),
    ]
    specs = [dressed(spec_of(one), looks) for one in drawn]
    assert worn(specs, "color") == {name: {look.color} for name, look in looks.items()}
    assert worn(specs, "shape") == {name: {look.shape} for name, look in looks.items()}
    assert "color" in SCALED


def test_names_that_are_no_systems_keep_their_colours():
    rows = pl.DataFrame({"ruler": ["glove", "A"], "group": ["x", "x"], "value": [0.1, 0.2], "low": 0.0, "high": 0.5})
    plain = spec_of(charts.forest(rows, color="ruler"))
    assert worn(dressed(plain, looks_of([("Z", False)])), "color") == worn(plain, "color")


def test_a_report_gives_looks_once_over_all_its_sections():
    sections = [make_section("search", systems=("one", "both"), with_charts=False),
                make_section("contexts", systems=("both", "a simulated one"), with_charts=False)]  # fmt: skip
    looks = report_looks(sections)
    assert list(looks) == ["one", "both", "a simulated one"]
    assert looks["a simulated one"].color in GREYS
