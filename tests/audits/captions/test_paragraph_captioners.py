"""Captioners that answer in paragraphs: what they deny, guess or say by pronoun is no accusation about objects."""

from __future__ import annotations

import polars as pl
import pytest

import portrayal
from audits.captions.paragraphs import CAPTIONERS, pictures, write_study
from portrayal.audits.captions.measures import group_words

PICTURES = 160
KEYS = ["stage", "measure", "quantity", "subject", "axis", "group", "versus", "truth"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """The whole audit of all captioners on the same pictures, with its report."""
    folder = tmp_path_factory.mktemp("paragraphs")
    return portrayal.audit(write_study(folder, pictures(PICTURES), CAPTIONERS), folder / "run", quiet=True)


def found(run, system: str) -> list[str]:
    """Return the printed sentences of what was found of a system."""
    return [each["sentence"] for each in run.findings if (each["system"], each["decision"]) == (system, "found")]


def values(run, system: str) -> dict[tuple, float | None]:
    """Return every figure of a system that compares it with no other."""
    rows = run.results.filter(pl.col("system") == system, pl.col("against").is_null())
    return {tuple(row): value for *row, value in rows.select(*KEYS, "value").iter_rows()}


def test_the_plain_captioner_is_found_to_do_nothing(run) -> None:
    assert found(run, "plain") == []
    assert sum(value is not None for value in values(run, "plain").values()) > 20


@pytest.mark.parametrize("system", ["denies", "hedges", "pronouns"])
def test_no_accusation_of_who_denies_guesses_or_says_she(run, system: str) -> None:
    assert found(run, system) == []


@pytest.mark.parametrize("system", ["denies", "hedges"])
def test_what_is_denied_and_guessed_moves_no_figure(run, system: str) -> None:
    assert values(run, system) == values(run, "plain")


def test_who_misgenders_by_pronoun_is_found_as_who_misgenders_by_noun(run) -> None:
    shares = {}
    for system in ("misgenders by noun", "misgenders by pronoun"):
        told = "more often for people annotated female than for people annotated male"
        assert sum("wrong group word" in text and told in text for text in found(run, system)) == 1
        of_system = (pl.col("system") == system) & (pl.col("measure") == group_words.TEST)
        shares[system] = run.results.filter(of_system).select("value", "p", "n").rows()
    assert shares["misgenders by noun"] == shares["misgenders by pronoun"]


def test_who_misgenders_by_pronoun_is_accused_of_nothing_else(run) -> None:
    other = [
        text
        for text in found(run, "misgenders by pronoun")
        if " group word " not in text and " word of another group " not in text
    ]
    assert other == []
