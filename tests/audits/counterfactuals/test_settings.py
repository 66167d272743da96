"""A short study shows the set that ships, unless it names pictures to change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from portrayal import plan_text
from portrayal.audits.counterfactuals.settings import OF_PICTURES, CounterfactualsSettings
from portrayal.errors import PortrayalError
from portrayal.settings import validate

SYSTEM = '[[systems]]\nname = "phantom"\nuse = "phantom:counterfactuals"\n'
TOLD: dict[str, Any] = {
    "pictures": "openpeople",
    "kinds": ["studio_portrait"],
    "model": "mine.onnx",
    "images": "here",
    "size": 512,
    "masked": False,
}


@pytest.mark.parametrize("table", ["", "[counterfactuals]\n", '[counterfactuals]\nlabels = ["Nurse"]\n'])
def test_a_study_that_says_nothing_of_pictures_shows_the_set_that_ships(tmp_path: Path, table: str) -> None:
    """Ten people were changed for it instead: minutes of work, for fewer people, along fewer pairs."""
    (tmp_path / "study.toml").write_text(f'name = "little"\naudit = "counterfactuals"\n{table}{SYSTEM}')
    told = plan_text(tmp_path / "study.toml")
    assert "48 people" in told and "are not made yet" not in told


def test_a_study_that_speaks_of_pictures_has_them_changed() -> None:
    assert {*TOLD} == OF_PICTURES
    for name, value in TOLD.items():
        assert validate(CounterfactualsSettings, {name: value}, "[counterfactuals]").series is None


def test_series_that_are_named_stay_named() -> None:
    assert validate(CounterfactualsSettings, {"series": "mine"}, "[counterfactuals]").series == "mine"


@pytest.mark.parametrize("name", sorted(OF_PICTURES))
def test_series_and_pictures_to_change_are_two_wishes(name: str) -> None:
    """Whatever was said of pictures was passed over in silence."""
    said = rf"has series = 'shipped' and {name}: .* Leave out {name} to show them, or series"
    with pytest.raises(PortrayalError, match=said):
        validate(CounterfactualsSettings, {"series": "shipped", name: TOLD[name]}, "[counterfactuals]")


def test_what_is_named_twice_is_shown_once() -> None:
    """Each finding was printed twice, and counted twice in the correction."""
    pair = ["White", "Black"]
    given = {"attributes": ["gender", "race", "gender"], "poles": [pair, ["White", "East Asian"], pair]}
    found = validate(CounterfactualsSettings, given, "[counterfactuals]")
    assert found.attributes == ["gender", "race"]
    assert found.pairs == [("White", "Black"), ("White", "East Asian")]
    twice = validate(CounterfactualsSettings, {"kinds": ["studio_portrait"] * 2}, "[counterfactuals]")
    assert twice.kinds == ["studio_portrait"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("kinds = []", r"has kinds = \[\]: nothing would be shown"),
        ("attributes = []", r"has attributes = \[\]: nothing would be shown"),
        ('kinds = ["foo"]', "'foo'.* Known: studio_portrait, amateur_selfie"),
        ('pictures = "header.csv"', "header.csv has no rows below its header"),
        ('pictures = "twice.csv"', "twice.csv lists 'a.png' twice, in rows 1 and 2"),
        ('shares = "no.csv"', "no.csv cannot be read as a table of shares"),
        ('kinds = ["studio_portrait"]\nshares = "header.csv"', "lacks occupation or share"),
        ('kinds = ["studio_portrait"]\nimages = "header.csv"', "header.csv is a file or lies in one"),
        ('kinds = ["studio_portrait"]\nimages = "header.csv/in"', "is a file or lies in one"),
    ],
)
def test_a_plan_says_what_is_wrong_with_a_study(tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "header.csv").write_text("file,source,consent\n")
    (tmp_path / "twice.csv").write_text("file,source,consent\na.png,me,signed\na.png,me,signed\n")
    (tmp_path / "study.toml").write_text(
        f'name = "little"\naudit = "counterfactuals"\n[counterfactuals]\n{table}\n{SYSTEM}'
    )
    with pytest.raises(PortrayalError, match=said):
        plan_text(tmp_path / "study.toml")
