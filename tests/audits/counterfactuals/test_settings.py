"""What a study shows that says little: the set that ships, unless it speaks of pictures to change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from portrayal import plan_text
from portrayal.audits.counterfactuals.settings import OF_PICTURES, CounterfactualsSettings
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
    for told in ({"series": "mine"}, {"series": "mine", "size": 512}):
        assert validate(CounterfactualsSettings, told, "[counterfactuals]").series == "mine"
