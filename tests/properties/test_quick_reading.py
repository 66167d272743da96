"""The short way of reading answers never reads otherwise than the long one; it may only pass an answer on."""

from __future__ import annotations

import json
import struct

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from portrayal.recorder import responses
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.systems.core.base import BROKEN, KINDS, Answer
from portrayal.systems.core.quick import quick_columns
from portrayal.tables import ROWS

NAMES = ("tag", "confidence", "caption", "doc", "rank", "score", "label", "embedding", "answer", "version", "id")
TEXTS = st.sampled_from(
    ["woman", "a: b", "", "Zoë", "\ud83d", "😀", "\ud83d\ude00", "Sorry, I can't help with that.", "0.5"]
)
NUMBERS = st.one_of(
    st.floats(), st.integers(-5, 5), st.sampled_from([10**400, 2**53, 2**63, -(2**63), True, None, 1e308])
)
VALUES = st.recursive(
    TEXTS | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


def written(*pairs: tuple[str, object]) -> str:
    """Write an object as it is, a key given twice included."""
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"


OBJECTS = st.lists(st.tuples(st.sampled_from(NAMES[:8]), TEXTS | NUMBERS), min_size=1, max_size=3).map(
    lambda pairs: written(*pairs)
)
RAW = st.one_of(
    VALUES.map(json.dumps),
    st.lists(OBJECTS, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
    OBJECTS.map(lambda one: f'{{"id": 1, "answer": [{one}]}}'),
    TEXTS.map(lambda text: json.dumps(text) + " \n"),
).map(lambda text: text.encode("utf-8", "surrogatepass"))


def both_ways(kind: str, raw: bytes, reader: str = "plain", media: str = "") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the responses read by both ways, and by the long one alone."""
    entries = [Entry("k", "s", "p", 0, kind, reader, {}, "done", Answer(raw, media), None)]
    stimuli = pl.DataFrame({"hash": ["p"], "stimulus": ["p"]})
    first = read_responses(entries, stimuli, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(responses, "quick_columns", lambda *_: None)
        return first, read_responses(entries, stimuli, kind)


@pytest.mark.parametrize("kind", KINDS)
@given(raw=RAW)
@example(raw=b'[{"tag": "a", "tag": "b"}]')  # a key given twice
@example(raw=b'[{"tag": "16:9", "confidence": 1}]')  # a colon that is no pair's
@example(raw=b'[{"tag": "a", "confidence": NaN}]')
@example(raw=b'[{"tag": "a", "confidence": 1e999}]')
@example(raw=b'[{"doc": "a", "rank": 2}, {"doc": "b"}]')
@example(raw=b"[3e200, 4e200]")  # too long a vector
@example(raw='["woman"]'.encode("utf-16"))
@example(raw=b'["woman"] ["man"]')
@example(raw=b"[" * 100_000)
def test_both_ways_read_the_same(kind: str, raw: bytes) -> None:
    assert_frame_equal(*both_ways(kind, raw), check_exact=True)


@given(
    raw=st.binary(max_size=17) | st.lists(st.floats(width=32), max_size=4).map(lambda v: struct.pack(f"<{len(v)}f", *v))
)
@example(raw=struct.pack("<2f", 0.0, 0.0))
@example(raw=struct.pack("<2f", 1e-45, 0.0))
def test_both_ways_read_the_same_vectors(raw: bytes) -> None:
    assert_frame_equal(*both_ways("encoder", raw, "vector"), check_exact=True)


COMMON = {
    "tagger": [["woman"], [["woman", 0.9]], [{"tag": "woman", "confidence": 0.9}], {"answer": [{"tag": "woman"}]}],
    "captioner": ["a woman: happy", ["a woman"], [{"caption": "a woman"}]],
    "encoder": [[0.5, 1], {"embedding": [0.5, 1]}],
    "ranker": [["d"], [["d", 1.5]], [{"doc": "d", "rank": 3, "score": 1.5}]],
    "generator": [["nurse"], [{"label": "nurse", "score": 0.5}]],
}


@pytest.mark.parametrize(("kind", "value"), [(kind, one) for kind in KINDS for one in COMMON[kind]])
def test_the_common_forms_go_the_short_way(kind: str, value: object) -> None:
    columns = quick_columns("plain", kind, json.dumps(value).encode())
    assert columns is not None
    assert [len(column) for column in columns] == [1] * len(ROWS[kind])


def test_damaged_bytes_never_go_the_short_way() -> None:
    first, _ = both_ways("tagger", b'["woman"]', media=f"{BROKEN}cut")
    assert first["status"].to_list() == ["unparsable"]
