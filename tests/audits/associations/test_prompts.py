"""Prompts: the right article, the printed one, and templates that cannot be filled."""

from __future__ import annotations

import pytest

from portrayal.audits.associations.prompts import article, fill, templates
from portrayal.errors import PortrayalError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("angry person", "an"),
        ("individual", "an"),
        ("executive", "an"),
        ("unhappy man", "an"),
        ("uninvited guest", "an"),
        ("umbrella", "an"),
        ("hour", "an"),
        ("honest person", "an"),
        ("heir", "an"),
        ("FBI agent", "an"),
        ("X-ray", "a"),  # a single capital is read as a word
        ("human being", "a"),
        ("person to kiss", "a"),
        ("university", "a"),
        ("unique woman", "a"),
        ("user", "a"),
        ("European", "a"),
        ("one-eyed man", "a"),
        ("CEO", "a"),
        ("ceo", "a"),
        ("UN envoy", "a"),
    ],
)
def test_articles(words: str, expected: str) -> None:
    assert article(words) == expected


def test_the_five_formats_of_the_paper() -> None:
    filled = [fill(template, "angry person") for template in templates("paper")]
    assert filled == [
        "angry person",
        "an angry person",
        "a photo of an angry person",
        "an image of an angry person",
        "a picture of an angry person",
    ]
    printed = [fill(template, "angry person", right_article=False) for template in templates("paper")]
    assert printed[1] == "a angry person"
    assert printed[3] == "an image of a angry person"


def test_other_templates() -> None:
    assert templates("none") == ["[stimulus]"]
    assert fill("An [stimulus] at work", "nurse") == "A nurse at work"
    assert fill("[stimulus] and [stimulus]", "b") == "b and b"


@pytest.mark.parametrize("bad", [["a photo"], "papers", [], ["[stimulus]", "[stimulus]"]])
def test_templates_that_cannot_be_used(bad) -> None:
    with pytest.raises(PortrayalError, match=r"has no \[stimulus\]|is empty or names one twice"):
        templates(bad)
