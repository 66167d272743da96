"""Answers in plain data, for systems that are plugged in without writing a class.

A function, a program or an endpoint may answer in any of the forms of docs/systems; each becomes rows of the system's kind.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from portrayal.systems.core.base import Answer, CallFailed, Unreadable, broken_answer, one_of

# The shortest answer of each kind, for whoever sent another.
EXPECTED = {
    "tagger": '["woman", "tree"] or [["woman", 0.9]]',
    "captioner": '"a woman on a horse"',
    "encoder": "[0.1, 0.2, 0.3]",
    "ranker": '["doc7", "doc2"] or [["doc7", 3.2]]',
    "generator": '["label"] or {"label": 0.9}',
}
# A reply that is a mapping with any of these keys is an envelope around the answer itself; a program's has its `id` too.
ENVELOPE = {"answer", "version", "cost", "refused", "error"}


def pack_reply(reply: Any, price: float = 0.0, raw: bytes | None = None) -> Answer:
    """Return the reply of a function or program as a raw answer."""
    if raw is None:
        try:
            raw = to_json(reply, _plain)
        except (TypeError, ValueError, RecursionError) as error:  # no plain data, or data that holds itself
            return broken_answer(_words(reply), f"it is not plain data ({_words(error).decode()})", price)
    if not is_envelope(reply):
        return Answer(raw, cost=price)
    if reply.get("error"):
        raise CallFailed(str(reply["error"]), raw)
    return Answer(
        raw,
        version=str(reply.get("version") or ""),
        cost=_cost(reply.get("cost"), price),
        refused=bool(reply.get("refused")),
    )


def answer_in(reply: Any) -> Any:
    """Return the answer inside an envelope, or the reply itself where there is none."""
    return reply.get("answer") if is_envelope(reply) else reply


def is_envelope(reply: Any) -> bool:
    """Return True for a mapping with an envelope's keys only, beside `id`."""
    return isinstance(reply, Mapping) and bool(set(reply) - {"id"}) and set(reply) <= {*ENVELOPE, "id"}


def _cost(value: Any, price: float) -> float:
    """Return the cost that an envelope names, or the usual price."""
    try:
        cost = price if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return price
    return cost if math.isfinite(cost) and cost >= 0 else price


def read_plain(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turn a raw plain answer into rows of `kind`."""
    return rows_of(kind, answer_in(decoded(answer.raw)))


def decoded(raw: bytes) -> Any:
    """Return the JSON of a raw answer."""
    try:
        return _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except RecursionError:
        raise Unreadable(f"the answer is nested too deeply: {raw[:60]!r}") from None
    except ValueError:
        raise Unreadable(f"the answer is not JSON: {raw[:60]!r}") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that gives a key twice."""
    named = dict(pairs)
    if len(named) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise Unreadable(f"the answer gives the key {twice[:40]!r} twice")
    return named


_DECODER = json.JSONDecoder(object_pairs_hook=_named_once)  # made once: `json.loads` would make one an answer


def rows_of(kind: str, value: Any) -> list[dict[str, Any]]:
    """Turn plain data into rows of `kind`; nothing said gives no rows."""
    if value is None or value == "" or value == []:
        return []
    try:
        rows = _READERS[kind](value)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError):
        raise Unreadable(f"{one_of(kind)} cannot answer {_short(value)}. Expected such as {EXPECTED[kind]}") from None
    return rows


def _tags(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping) and {type(yes) for yes in value.values()} == {bool}:
        value = [name for name, yes in value.items() if yes]  # a classifier's yes and no
    return [{"tag": _text(name), "confidence": _number(score)} for name, score in _pairs(value, "tag", "confidence")]


def _captions(value: Any) -> list[dict[str, Any]]:
    captions = value if isinstance(value, list) else [value]
    texts = [item["caption"] if isinstance(item, Mapping) else item for item in captions]
    return [{"caption": _text(text)} for text in texts if text]


def _embedding(value: Any) -> list[dict[str, Any]]:
    numbers = value["embedding"] if isinstance(value, Mapping) else value
    return [{"embedding": [float(number) for number in _list(numbers)]}]


def _ranking(value: Any) -> list[dict[str, Any]]:
    pairs = _pairs(_list(value), "doc", "score")
    ranks = [
        int(float(item["rank"])) if isinstance(item, Mapping) and "rank" in item else position
        for position, item in enumerate(value, start=1)
    ]
    return [
        # The rank says that an infinite score (1 / distance) is first.
        {"doc": _text(doc), "rank": rank, "score": None if score in (math.inf, -math.inf) else _number(score)}
        for (doc, score), rank in zip(pairs, ranks, strict=True)
    ]


def _labels(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping) and "label" not in value:
        value = list(map(list, value.items()))
    return [{"label": _text(name), "score": _number(score)} for name, score in _pairs(value, "label", "score")]


def _pairs(value: Any, name: str, number: str) -> list[tuple[Any, Any]]:
    """Read `x`, `[x, number]` and `{name: x, number: ...}` alike."""
    if isinstance(value, Mapping):
        value = [value]
    return [_pair(item, name, number) for item in _list(value)]


def _list(value: Any) -> list[Any]:
    """Refuse a text where a list is meant: its letters are neither numbers nor documents."""
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _pair(item: Any, name: str, number: str) -> tuple[Any, Any]:
    if isinstance(item, str):  # first, for most are, and the next questions take longer
        return item, None
    if isinstance(item, Mapping):
        return item[name], item.get(number)
    if isinstance(item, Sequence):
        first, second = item
        return first, second
    return item, None


def _text(value: Any) -> str:
    if not isinstance(value, str | int):
        raise TypeError(value)
    return str(value)


def _number(value: Any) -> float | None:
    number = None if value is None else float(value)
    return None if number is not None and math.isnan(number) else number


def to_json(value: Any, default: Callable[[Any], Any] = str) -> bytes:
    """Return plain data as JSON."""
    try:
        return json.dumps(value, default=default, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return json.dumps(value, default=default).encode()


def _plain(value: Any) -> Any:
    """Turn numpy arrays and numbers into lists and numbers for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")


def _words(value: Any) -> bytes:
    """Return an object's representation, cut short."""
    try:
        return (str(value) if isinstance(value, Exception) else repr(value))[:1000].encode(errors="replace")
    except Exception:
        return f"a {type(value).__name__}".encode()


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "what is nested so deeply"
    return text if len(text) <= 60 else text[:57] + "..."


_READERS: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "tagger": _tags,
    "captioner": _captions,
    "encoder": _embedding,
    "ranker": _ranking,
    "generator": _labels,
}
