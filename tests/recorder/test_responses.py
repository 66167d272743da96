"""From the ledger to the Responses table: what each state of a question becomes."""

from __future__ import annotations

import json

import polars as pl
import pytest

from portrayal.recorder.ledger import Entry, Ledger, Planned
from portrayal.recorder.responses import read_entry, read_responses
from portrayal.systems.core.base import Answer

TAGS = b'[["woman", 0.9], ["hair", null]]'


def entry(name: str, state: str = "done", raw: bytes | None = None, **more: object) -> Entry:
    """Return a question about the picture of this name, put to the tagger 'a'."""
    answer = None if raw is None else Answer(raw, refused=state == "refused")
    asked = {"system": "a", "hash": name, "repeat": 0, "kind": "tagger", "reader": "plain", "parameters": {}}
    return Entry(**{"key": name, **asked, "state": state, "answer": answer, "error": None, **more})


def pictures(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"stimulus": list(names), "hash": list(names)})


def test_every_tag_is_a_row() -> None:
    table = read_responses([entry("p", raw=TAGS)], pictures("p"), "tagger")
    assert table.rows() == [
        ("a", "p", 0, "answered", "woman", 0.9, None),
        ("a", "p", 0, "answered", "hair", None, None),
    ]
    assert table.schema["repeat"] == pl.Int64
    assert table.schema["confidence"] == pl.Float64


def test_every_question_gives_a_row_whatever_became_of_it() -> None:
    entries = [
        entry("a", "in_flight"),
        entry("b", "failed", error="HTTP 400"),
        entry("c", "unknown", error="timed out"),
        entry("d", "refused", b"I cannot"),
        entry("e", raw=b"[]"),
        entry("f", raw=b"<html>"),
        entry("g", "planned"),
    ]
    table = read_responses(entries, pictures(*"abcdefg"), "tagger")
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
        "f": "the answer is not JSON: b'<html>'",
    }
    assert table["tag"].null_count() == table["confidence"].null_count() == 7  # no answer is a number


def test_a_refusal_is_not_read_even_where_its_words_could_be() -> None:
    assert read_entry(entry("p", "refused", TAGS)) == ("refused", None, [])


NO = "I'm sorry, but I can't identify people in images, or tell their age."
CHAT = {"content": [{"type": "text", "text": NO}]}


@pytest.mark.parametrize("kind", ["tagger", "captioner"])
def test_a_chat_systems_refusal_in_words_is_refused_and_not_split_into_tags(kind: str) -> None:
    anthropic = entry("p", raw=json.dumps(CHAT).encode(), reader="anthropic", kind=kind)
    assert read_entry(anthropic) == ("refused", NO, [])
    openai = json.dumps({"choices": [{"message": {"content": f'["{NO}"]'}}]}).encode()
    assert read_entry(entry("p", raw=openai, reader="openai", kind=kind)) == ("refused", f'["{NO}"]', [])


@pytest.mark.parametrize(
    ("reader", "said", "parameters"),
    [
        ("plain", NO, {}),
        ("plain", {"answer": [NO, NO]}, {}),
        ("mapped", {"result": {"text": NO}}, {"answer": "result.text"}),
        ("azure", {"captionResult": {"text": NO}}, {}),
    ],
)
def test_every_captioner_is_read_for_refusals_in_words(reader: str, said: object, parameters: dict) -> None:
    raw = json.dumps(said).encode()
    found = entry("p", raw=raw, reader=reader, kind="captioner", parameters=parameters)
    assert read_entry(found) == ("refused", NO, [])


def test_of_several_captions_one_that_refuses_is_left_out() -> None:
    found = read_entry(entry("p", raw=json.dumps([NO, "a woman"]).encode(), kind="captioner"))
    assert found == ("answered", None, [{"caption": "a woman"}])
    assert read_entry(entry("p", raw=b'""', kind="captioner")) == ("empty", None, [])  # silence is no refusal


def test_an_answer_the_ledger_calls_unreadable_is_read_again() -> None:
    assert read_entry(entry("p", "unreadable", b"<html>"))[0] == "unparsable"
    assert read_entry(entry("p", "unreadable", TAGS))[0] == "answered"  # by a reader that was mended since


def test_an_answer_is_read_by_the_reader_the_ledger_names() -> None:
    said = b'{"found": ["woman"]}'
    mapped = entry("p", raw=said, reader="mapped", parameters={"answer": "found"})
    assert read_entry(mapped) == ("answered", None, [{"tag": "woman", "confidence": None}])
    assert read_entry(entry("p", raw=said))[0] == "unparsable"
    words = entry("p", raw=b'"a dog"', kind="captioner")
    assert read_entry(words) == ("answered", None, [{"caption": "a dog"}])


def test_stimuli_of_the_same_content_share_an_answer() -> None:
    twins = pl.DataFrame({"stimulus": ["second", "first", "other"], "hash": ["p", "p", "q"]})
    table = read_responses([entry("p", raw=b'["woman"]')], twins, "tagger")
    assert table.select("stimulus", "tag").rows() == [("first", "woman"), ("second", "woman")]


def test_an_answer_to_what_is_not_shown_any_more_is_not_read() -> None:
    assert read_responses([entry("p", raw=TAGS)], pictures("q"), "tagger").is_empty()


def test_rows_are_sorted_by_system_stimulus_and_repeat_and_tags_keep_their_order() -> None:
    entries = [
        entry(name, raw=b'["z", "y"]', system=system, repeat=repeat)
        for system in "ba"
        for name in "qp"
        for repeat in (1, 0)
    ]
    table = read_responses(entries, pictures("p", "q"), "tagger").select("system", "stimulus", "repeat", "tag")
    assert table.rows() == [(s, name, n, tag) for s in "ab" for name in "pq" for n in (0, 1) for tag in "zy"]


def test_a_ledger_is_read_as_it_was_recorded(ledger: Ledger) -> None:
    def asked(*names: str) -> list[Planned]:
        given = {"system": "a", "identity": "x", "version": "", "parameters": {}, "repeat": 0}
        return [Planned(**{"key": name, "hash": name, **given, "kind": "tagger", "reader": "plain"}) for name in names]

    ledger.plan(asked("p", "q"))
    ledger.finish([("p", Answer(TAGS))], 1.0)
    table = read_responses(ledger.entries(), pictures("p", "q"), "tagger")
    assert table.select("stimulus", "status", "tag").rows() == [
        ("p", "answered", "woman"),
        ("p", "answered", "hair"),
        ("q", "planned", None),
    ]
    ledger.plan(asked("q"))  # a question that a new plan sets aside is not read
    assert read_responses(ledger.entries(), pictures("p", "q"), "tagger")["stimulus"].to_list() == ["q"]


@pytest.mark.parametrize("kind", ["tagger", "captioner", "encoder", "ranker", "generator"])
def test_no_question_gives_an_empty_table_with_its_columns(kind: str) -> None:
    table = read_responses([], pictures("p"), kind)
    assert table.is_empty()
    assert {"system", "stimulus", "repeat", "status", "reason"} <= set(table.columns)
