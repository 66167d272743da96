from __future__ import annotations

import json

import numpy as np
import pytest

from portrayal.systems.core.base import Answer, CallFailed, Unreadable
from portrayal.systems.core.plain import pack_reply, read_plain, rows_of


@pytest.mark.parametrize(
    ("kind", "value", "rows"),
    [
        ("tagger", ["woman", "tree"], [{"tag": "woman", "confidence": None}, {"tag": "tree", "confidence": None}]),
        ("tagger", [["woman", 0.9]], [{"tag": "woman", "confidence": 0.9}]),
        ("tagger", [{"tag": "woman", "confidence": 90}], [{"tag": "woman", "confidence": 90.0}]),
        ("tagger", {"nurse": True, "cook": False}, [{"tag": "nurse", "confidence": None}]),
        ("tagger", {"nurse": False}, []),
        ("tagger", {"label": False}, []),
        ("captioner", "a dog", [{"caption": "a dog"}]),
        ("captioner", ["a dog", "a cat"], [{"caption": "a dog"}, {"caption": "a cat"}]),
        ("encoder", [1, 2.5], [{"embedding": [1.0, 2.5]}]),
        ("encoder", {"embedding": [1]}, [{"embedding": [1.0]}]),
        ("ranker", ["d7", "d2"], [{"doc": "d7", "rank": 1, "score": None}, {"doc": "d2", "rank": 2, "score": None}]),
        ("ranker", [["d7", 3.5]], [{"doc": "d7", "rank": 1, "score": 3.5}]),
        ("ranker", [{"doc": "d7", "rank": 4, "score": 1}], [{"doc": "d7", "rank": 4, "score": 1.0}]),
        ("generator", {"person": 0.7}, [{"label": "person", "score": 0.7}]),
        ("generator", ["person"], [{"label": "person", "score": None}]),
    ],
)
def test_every_short_form_is_read(kind: str, value: object, rows: list[dict]) -> None:
    assert rows_of(kind, value) == rows


# The letters of a text are neither numbers nor documents, and a number may be too large for a float.
LETTERS = [("encoder", "123"), ("encoder", {"embedding": "123"}), ("ranker", "abc"), ("encoder", [10**400])]


@pytest.mark.parametrize("nothing", [None, "", []])
@pytest.mark.parametrize("kind", ["tagger", "captioner", "encoder", "ranker", "generator"])
def test_nothing_said_gives_no_rows(kind: str, nothing: object) -> None:
    assert rows_of(kind, nothing) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("tagger", 5),
        ("tagger", {"nurse": "no"}),
        ("tagger", [["a", "b", "c"]]),
        ("encoder", ["x"]),
        ("ranker", [{"id": 1}]),
        *LETTERS,
    ],
)
def test_a_wrong_form_is_unreadable(kind: str, value: object) -> None:
    with pytest.raises(Unreadable, match=f"an? {kind} cannot answer"):
        rows_of(kind, value)


def test_html_instead_of_json_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="not JSON"):
        read_plain(Answer(b"<html>Bad gateway</html>"), "tagger", {})


def test_numpy_answers_are_kept_as_numbers() -> None:
    assert json.loads(pack_reply(np.array([0.5, 1.0])).raw) == [0.5, 1.0]


def test_an_envelope_carries_version_and_cost() -> None:
    envelope = {"answer": ["woman"], "version": "v3", "cost": 0.01}
    answer = pack_reply(envelope)
    assert json.loads(answer.raw) == envelope  # kept whole; reading opens it
    assert (answer.version, answer.cost, answer.refused) == ("v3", 0.01, False)
    assert read_plain(answer, "tagger", {}) == [{"tag": "woman", "confidence": None}]


def test_an_envelope_can_refuse_or_fail() -> None:
    assert pack_reply({"refused": "content filter"}).refused
    with pytest.raises(CallFailed, match="bad image"):
        pack_reply({"error": "bad image"})
