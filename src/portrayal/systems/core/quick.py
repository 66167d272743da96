"""Fast path that reads the commonest answers straight into columns.

Whatever is not plainly of such a form (a key given twice, a number in quotes, NaN, half of a surrogate pair, a refusal in words)
gives None and is read in full (`portrayal.systems.core.readers`). So this may pass over an answer, and never reads one otherwise than
that would; `tests/properties/test_quick_reading.py` holds the two against each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from portrayal.systems.core.plain import answer_in
from portrayal.systems.core.refusals import is_refusal
from portrayal.systems.core.rows import LONGEST_VECTOR

Columns: TypeAlias = Sequence[Sequence[Any]]  # those of `portrayal.tables.ROWS`, each as long as the answer has rows

EXACT = 2**53  # whole numbers below it are the same as floats
_DECODER = json.JSONDecoder()  # without the hook that looks for a key given twice, it runs in C alone
_NUMBERS = {float, int}


def quick_columns(reader: str, kind: str, raw: bytes) -> Columns | None:
    """Return the columns of an answer of a common form, else None.

    Examples
    --------
    >>> quick_columns("plain", "tagger", b'[{"tag": "tree", "confidence": 0.9}]')
    (['tree'], [0.9])
    >>> quick_columns("plain", "tagger", b'[{"tag": "tree", "tag": "bush"}]') is None
    True
    """
    if reader == "vector":
        return _packed_vector(raw)
    if reader != "plain":
        return None
    value = _value(raw)
    return _COLUMNS[kind](value) if value else None


def _value(raw: bytes) -> Any:
    """Return the plain data of an answer, None where a full read is needed."""
    try:
        text = raw.decode()
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end < len(text) and text[end:].strip(" \t\n\r"):
        return None
    if not _names_once(value, text):
        return None
    return answer_in(value) if type(value) is dict else value


def _names_once(value: Any, text: str) -> bool:
    """Return True where as many colons as keys prove that no key was repeated."""
    if type(value) is list and not {list, dict} & set(map(type, value)):
        return True
    return type(value) is str or text.count(":") == _keys(value)


def _keys(value: Any) -> int:
    """Count the keys of a list of mappings, or of an envelope around one."""
    if type(value) is dict:
        return len(value) + _keys(value.get("answer"))
    return sum(map(len, value)) if type(value) is list and set(map(type, value)) == {dict} else 0


def _of_names(value: Any, name: str, number: str) -> Columns | None:
    """Read names with or without a number each."""
    if type(value) is not list:
        return None
    kinds = set(map(type, value))
    if kinds == {str}:
        return (value, [None] * len(value)) if _is_text(value) else None
    if kinds == {dict}:
        names, numbers = [item.get(name) for item in value], [item.get(number) for item in value]
    elif kinds == {list} and set(map(len, value)) == {2}:
        names, numbers = [item[0] for item in value], [item[1] for item in value]
    else:
        return None
    floats = _floats(numbers)
    return (names, floats) if floats is not None and _is_text(names) else None


def _is_text(texts: Sequence[Any]) -> bool:
    """Return True for texts that UTF-8 can write."""
    if set(map(type, texts)) != {str}:
        return False
    whole = "".join(texts)
    if whole.isascii():
        return True
    try:
        whole.encode()
    except UnicodeEncodeError:
        return False
    return True


def _floats(numbers: Sequence[Any]) -> Sequence[float | None] | None:
    """Return finite numbers as floats, or as many nulls, else None."""
    kinds = set(map(type, numbers))
    if kinds == {type(None)}:
        return numbers
    if not kinds <= _NUMBERS:
        return None
    try:
        floats = numbers if kinds == {float} else list(map(float, numbers))
    except OverflowError:
        return None
    return floats if math.isfinite(sum(floats)) else None  # NaN and infinity stay in a sum


def _captions(value: Any) -> Columns | None:
    texts = value if type(value) is list else [value]
    if set(map(type, texts)) == {dict}:
        texts = [item.get("caption") for item in texts]
    if not _is_text(texts) or "" in texts or any(map(is_refusal, texts)):
        return None
    return (texts,)


def _vector(value: Any) -> Columns | None:
    if type(value) is dict:
        value = value.get("embedding")
    if type(value) is not list or not set(map(type, value)) <= _NUMBERS:
        return None
    try:
        vector = list(map(float, value))
        return ([vector],) if 0 < math.hypot(*vector) < LONGEST_VECTOR else None
    except OverflowError:
        return None


def _packed_vector(raw: bytes) -> Columns | None:
    """Read float32 numbers, whose lengths are all short enough."""
    if not raw or len(raw) % 4:
        return None
    vector = np.frombuffer(raw, dtype="<f4").astype(np.float64)
    return ([vector],) if np.isfinite(vector).all() and vector.any() else None


def _ranking(value: Any) -> Columns | None:
    columns = _of_names(value, "doc", "score")
    if columns is None:
        return None
    if type(value[0]) is not dict or not any("rank" in item for item in value):
        return (columns[0], range(1, len(value) + 1), columns[1])
    ranks = [item.get("rank") for item in value]
    plain = set(map(type, ranks)) == {int} and min(ranks) > -EXACT and max(ranks) < EXACT
    return (columns[0], ranks, columns[1]) if plain else None


_COLUMNS: dict[str, Callable[[Any], Columns | None]] = {
    "tagger": lambda value: _of_names(value, "tag", "confidence"),
    "captioner": _captions,
    "encoder": _vector,
    "ranker": _ranking,
    "generator": lambda value: _of_names(value, "label", "score"),
}
