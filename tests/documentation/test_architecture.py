"""The architecture page names what exists: walks, the measure it shows, files of papers."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = re.split(r"\n\n(?=A .*:\n)", PAGE.partition("## Three walks")[2].partition("\n## ")[0])[1:]
LONGEST = 15  # functions from an answer to its sentence


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.split(",")[0])
def test_a_walk_from_answer_to_sentence_passes_few_functions_and_each_is_there(walk: str) -> None:
    names = re.findall(r"^\d+\. `(.*)`$", walk, re.M)
    assert 10 <= len(names) <= LONGEST
    for name in names:
        module, _, path = name.partition(":")
        found = import_module(f"portrayal.{module}")
        for step in path.split("."):
            found = getattr(found, step)
        assert callable(found)


def test_there_are_three_walks() -> None:
    assert len(WALKS) == 3


def test_the_measure_it_shows_is_the_file() -> None:
    path = ROOT / "src/portrayal/audits/captions/measures/demeaning_nouns.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "\n".join(f"    {line}" if line else "" for line in lines) in PAGE


def test_papers_are_found_by_the_tree_alone() -> None:
    names = {path.stem for path in (ROOT / "src/portrayal/audits").rglob("*.py")}
    assert {"rq2_recognition", "perfect_system", "demeaning_people"} <= names
