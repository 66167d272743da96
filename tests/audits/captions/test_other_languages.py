"""Captioners that do not answer in English are not measured, and the report says why; one beside them is."""

from __future__ import annotations

import html

import polars as pl
import pytest

import portrayal
from audits.captions.paragraphs import chinese, german, mixed, paragraph, pictures, spanish, write_study

OTHERS = {"german": german, "spanish": spanish, "chinese": chinese, "mixed": mixed}
SAID = {
    "german": "100% of this system's captions are German; the parser reads English",
    "spanish": "100% of this system's captions are Spanish; the parser reads English",
    "chinese": "100% of this system's captions are Chinese; the parser reads English",
    "mixed": "% of this system's captions are in other languages (Chinese, German and Spanish); the parser reads English",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """The whole audit of captioners in English, German, Spanish, Chinese and all of them."""
    folder = tmp_path_factory.mktemp("languages")
    captioners = {"plain": paragraph, **OTHERS}
    return portrayal.audit(write_study(folder, pictures(60), captioners), folder / "run", quiet=True)


@pytest.mark.parametrize("system", OTHERS)
def test_no_row_has_a_figure_of_a_captioner_in_another_language(run, system: str) -> None:
    rows = run.results.filter((pl.col("system") == system) | (pl.col("against") == system))
    assert rows["decision"].to_list() == ["not measurable"]
    assert rows.select("value", "low", "high", "p").row(0) == (None, None, None, None)


@pytest.mark.parametrize(("system", "text"), SAID.items())
def test_the_report_says_which_language_it_is_and_that_nothing_was_measured(run, system: str, text: str) -> None:
    (sentence,) = [each["sentence"] for each in run.findings if each["system"] == system]
    assert sentence.startswith(f"{system} is not measurable: ")
    assert sentence.endswith(f"{text}.")
    assert text in html.unescape(run.report.read_text(encoding="utf-8"))


def test_a_captioner_in_english_is_measured_beside_them(run) -> None:
    assert run.results.filter(pl.col("system") == "plain")["value"].drop_nulls().len() > 20
    assert [each for each in run.findings if each["system"] == "plain" and each["decision"] == "not found"]
