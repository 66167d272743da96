"""From the ledger to the Responses table: what each state of a question becomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from portrayal.record.ledger import Ledger, Planned
from portrayal.record.responses import read_responses
from portrayal.systems.base import Answer, BaseSystem, Question, Unreadable


@dataclass
class Tagger(BaseSystem):
    """Reads a JSON list of tags; anything else is unreadable."""

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        raise AssertionError("reading asks nobody")

    def read(self, answer: Answer) -> list[dict[str, Any]]:
        try:
            return [{"tag": tag, "confidence": share} for tag, share in json.loads(answer.raw)]
        except ValueError:
            raise Unreadable("this is no JSON") from None


def tagger(name: str = "a") -> Tagger:
    return Tagger(name=name, kind="tagger", identity="x")


def plan(ledger: Ledger, *systems: Tagger, keys: str) -> list[tuple[Tagger, dict[str, list[Question]]]]:
    """Plan one question a key, and return the work: each key asks about the stimulus of the same name."""
    ledger.plan(
        Planned(f"{s.name}{key}", s.name, s.identity, "", {}, key, 0) for s in systems for key in keys
    )
    return [(s, {f"{s.name}{key}": [Question(key, "image", key, key)] for key in keys}) for s in systems]


def test_every_tag_is_a_row(ledger: Ledger) -> None:
    work = plan(ledger, tagger(), keys="p")
    ledger.finish([("ap", Answer(b'[["woman", 0.9], ["hair", null]]'))], 1.0)
    table = read_responses(ledger, work, "tagger")
    assert table.rows() == [
        ("a", "p", 0, "answered", "woman", 0.9, None),
        ("a", "p", 0, "answered", "hair", None, None),
    ]
    assert table.schema["repeat"] == pl.Int64
    assert table.schema["confidence"] == pl.Float64


def test_every_question_gives_a_row_whatever_became_of_it(ledger: Ledger) -> None:
    work = plan(ledger, tagger(), keys="abcdefg")
    ledger.start(["aa"], 1.0)
    ledger.settle(["ab"], "failed", "HTTP 400", 1.0, b"bad picture")
    ledger.settle(["ac"], "unknown", "timed out", 1.0)
    refusal, empty, broken = Answer(b"I cannot", refused=True), Answer(b"[]"), Answer(b"<html>")
    ledger.finish([("ad", refusal), ("ae", empty), ("af", broken)], 1.0)
    table = read_responses(ledger, work, "tagger")
    assert dict(table.select("stimulus", "status").iter_rows()) == {
        "a": "unknown",  # in flight: it may have been answered and billed
        "b": "failed",
        "c": "unknown",
        "d": "refused",
        "e": "empty",
        "f": "unparsable",
        "g": "planned",
    }
    assert dict(table.select("stimulus", "reason").drop_nulls().iter_rows()) == {
        "b": "HTTP 400",
        "c": "timed out",
        "f": "this is no JSON",
    }
    assert table["tag"].null_count() == table["confidence"].null_count() == 7  # no answer is a number


def test_a_refusal_is_not_read_even_where_its_words_could_be(ledger: Ledger) -> None:
    work = plan(ledger, tagger(), keys="p")
    ledger.finish([("ap", Answer(b'[["sorry", 1.0]]', refused=True))], 1.0)
    assert read_responses(ledger, work, "tagger").select("status", "tag").rows() == [("refused", None)]


def test_stimuli_of_the_same_content_share_an_answer(ledger: Ledger) -> None:
    one = tagger()
    plan(ledger, one, keys="p")
    ledger.finish([("ap", Answer(b'[["woman", 0.9]]'))], 1.0)
    twins = {"ap": [Question(name, "image", "p", "p") for name in ("second", "first")]}
    table = read_responses(ledger, [(one, twins)], "tagger")
    assert table.select("stimulus", "tag").rows() == [("first", "woman"), ("second", "woman")]


def test_rows_are_sorted_by_system_stimulus_and_repeat_and_tags_keep_their_order(ledger: Ledger) -> None:
    first, second = tagger("b"), tagger("a")
    ledger.plan(Planned(f"{s.name}{n}", s.name, "x", "", {}, "p", n) for s in (first, second) for n in (0, 1))
    answers = [(f"{s}{n}", Answer(b'[["z", 1], ["y", 1]]')) for s in "ba" for n in (1, 0)]
    ledger.finish(answers, 1.0)
    work = [
        (s, {f"{s.name}{n}": [Question("p", "image", "p", "p", repeat=n)] for n in (1, 0)})
        for s in (first, second)
    ]
    table = read_responses(ledger, work, "tagger").select("system", "repeat", "tag")
    assert table.rows() == [(s, n, tag) for s in "ab" for n in (0, 1) for tag in "zy"]


def test_questions_set_aside_by_a_new_plan_are_not_read(ledger: Ledger) -> None:
    one = tagger()
    before = plan(ledger, one, keys="pq")
    ledger.finish([("ap", Answer(b'[["woman", 1]]'))], 1.0)
    plan(ledger, one, keys="q")
    assert read_responses(ledger, before, "tagger")["stimulus"].to_list() == ["q"]


@pytest.mark.parametrize("kind", ["tagger", "captioner", "encoder", "ranker", "generator"])
def test_no_question_gives_an_empty_table_with_its_columns(ledger: Ledger, kind: str) -> None:
    table = read_responses(ledger, [], kind)
    assert table.is_empty()
    assert {"system", "stimulus", "repeat", "status", "reason"} <= set(table.columns)
