"""The examples in the docstrings of the report."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["reporting.wording", "portrayal.reporting.page.section"])
def test_examples_hold(name):
    done = doctest.testmod(import_module(name))
    assert done.attempted > 0
    assert done.failed == 0
