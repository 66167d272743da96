"""Refusals in words: the labelled set of tests/systems/data, and what patterns over a stranger's text must stand."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from portrayal.systems.core.refusals import LONGEST, is_refusal

LABELLED = Path(__file__).parent / "data" / "refusals.csv"


def labelled(part: str) -> list[tuple[str, bool]]:
    with LABELLED.open(encoding="utf-8", newline="") as file:
        return [(row["text"], row["refusal"] == "1") for row in csv.DictReader(file) if row["part"] == part]


def scores(answers: list[tuple[str, bool]]) -> tuple[float, float]:
    """Return precision and recall."""
    told = [(is_refusal(text), refusal) for text, refusal in answers]
    both = sum(said and refusal for said, refusal in told)
    return both / sum(said for said, _ in told), both / sum(refusal for _, refusal in told)


def test_the_set_is_large_enough_half_held_out_and_no_answer_is_in_both_halves():
    tuned, held_out = labelled("tune"), labelled("held_out")
    assert len(tuned) + len(held_out) >= 300
    assert 0.45 <= len(held_out) / (len(tuned) + len(held_out)) <= 0.55
    assert not {text for text, _ in tuned} & {text for text, _ in held_out}
    for part in (tuned, held_out):
        assert 0.4 <= sum(refusal for _, refusal in part) / len(part) <= 0.6


def test_precision_and_recall_on_answers_the_phrases_were_not_written_on():
    precision, recall = scores(labelled("held_out"))
    print(f"held out: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.98
    assert recall >= 0.90


@pytest.mark.parametrize(("text", "refusal"), labelled("tune"))
def test_the_answers_the_phrases_were_written_on(text: str, refusal: bool):
    assert is_refusal(text) is refusal


def test_an_answer_that_goes_on_to_describe_the_picture_is_no_refusal():
    assert not is_refusal("I can't identify who this is, but the image shows a woman in a red coat.")
    assert not is_refusal("A woman refuses to sign a letter.")


@pytest.mark.parametrize("text", ["", " ", "\n", "I'm sorry.", "no", "[]", "\u200b", "I", "I can't", "、。"])
def test_what_says_nothing_is_no_refusal(text: str):
    assert not is_refusal(text)


def test_quotes_case_and_marks_make_no_difference():
    plain = "I'm sorry, but I can't describe people."
    for told in (plain.replace("'", "\u2019"), plain.upper(), f"**{plain}**", f'"{plain}"', f"  {plain}\n"):
        assert is_refusal(told)


@pytest.mark.parametrize(
    "piece",
    ["i ", "i am ", "sorry ", "as a x ", "i have to ", "request a ", ", ", ". ", "'", "\n", "the man ", "is ", "i was made ", "no image "],
)  # fmt: skip
def test_a_long_text_is_read_at_once(piece: str):
    # Only the first 2,000 characters are read, and no pattern repeats a repetition: milliseconds, not minutes.
    started = time.perf_counter()
    is_refusal(piece * 200_000)
    assert time.perf_counter() - started < 1
    assert is_refusal("I cannot describe people. " + " " * LONGEST + "A woman in a coat.")
