"""Docstrings open as the field speaks: a function does something, a module or class is something."""

from __future__ import annotations

import ast

import pytest
from conftest import ROOT

from house.sources import PACKAGES, definitions, files
from house.test_budget import EACH

REFUSED = {"What", "Whose", "How", "Of", "Where", "Who", "Which", "Whether"}


@pytest.mark.parametrize("package", PACKAGES)
def test_first_lines_of_docstrings_are_short_and_say_what_is_done(package: str) -> None:
    bad = []
    for path in files(package):
        for node in definitions(path):
            words = (ast.get_docstring(node) or "").split("\n", 1)[0].split()
            if len(words) > EACH["first_line"] or (words and words[0].strip(",:") in REFUSED):
                bad.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {' '.join(words)}")
    assert not bad, f"{len(bad)} docstrings open badly:\n" + "\n".join(bad[:40])


@pytest.mark.parametrize("folder", ["tests", "packages/faces/tests", "packages/rankers/tests", "benchmarks", "scripts"])
def test_docstrings_around_the_packages_open_well_too(folder: str) -> None:
    bad = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in definitions(path):
            words = (ast.get_docstring(node) or "").split()
            if words and words[0].strip(",:") in REFUSED:
                bad.append(f"{path.relative_to(ROOT)}: {' '.join(words[:12])}")
    assert not bad, "\n".join(bad)
