"""Refusals in words, such as "I'm sorry, but I can't identify people".

A text refuses where a piece of it declines in the first person or as a filter speaks, and no piece goes on to describe the
picture. That a system sees no picture is read as a refusal too: it tells nothing of the picture. The phrases are English.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

LONGEST = 2_000  # characters read: a refusal declines at once, and patterns stay quick on whatever is sent
OPENERS_MOST = 4

_RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _filled(pattern: str) -> str:
    """Return a pattern with its parts in place."""
    return re.sub(r"\{([A-Z_]+)\}", lambda name: _filled("".join(_RULES["parts"][name[1]])), pattern)


_PATTERNS = {name: re.compile(_filled("|".join(either))) for name, either in _RULES["patterns"].items()}
_LONG_FORMS = [(re.compile(short), long) for short, long in _RULES["long_forms"]]
_SHORT_FORM = re.compile(r"'|\b(?:can not|cant|wont|im|dont)\b")
_MARKS = {"\u2018\u2019\u02bc\u0060\u00b4": "'", '\u201c\u201d\u00ab\u00bb"*_#[]{}()<>': " ", "\u2014\u2013": ", "}
_LETTERS = str.maketrans({mark: plain for marks, plain in _MARKS.items() for mark in marks})
_SENTENCE_END = re.compile(r"[.!?;:\n]+(?:\s|$)|,? (?:but|however),? |\s--?\s")
_BLANKS = re.compile(r"[ \t\r\f\v]+")


def is_refusal(text: str) -> bool:
    """Return True where an answer in words declines and tells nothing of the picture."""
    sentences = list(_sentences(text))
    reasons = [bool(_PATTERNS["why"].search(sentence)) for sentence in sentences]
    refused = [_refuses(sentence, sum(reasons) > own) for sentence, own in zip(sentences, reasons, strict=True)]
    return any(refused) and not any(
        _describes(sentence) or not (declines or _is_talk(sentence))
        for sentence, declines in zip(sentences, refused, strict=True)
    )


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences in lower case, with short forms written out."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST].translate(_LETTERS)).lower()[:LONGEST]
    for short, long in _LONG_FORMS if _SHORT_FORM.search(plain) else ():
        plain = short.sub(long, plain)
    for sentence in _SENTENCE_END.split(_BLANKS.sub(" ", plain)):
        stripped = sentence.strip(" '-,.!?\n")
        if stripped:
            yield stripped


def _refuses(sentence: str, reason_elsewhere: bool) -> bool:
    """Return True where a part of this sentence declines."""
    parts = [_without_openers(part) for part in sentence.split(", ")]
    if len(parts) > 2 and all(len(part.split()) <= 3 and not part.startswith("i ") for part in parts):
        return False  # a list of tags
    if any(map(_PATTERNS["refuses"].match, parts)):
        return True
    return any(
        _PATTERNS["filtered"].match(part) and (reason_elsewhere or _PATTERNS["why"].search(part)) for part in parts
    )


def _is_talk(sentence: str) -> bool:
    """Return True for a courtesy, an offer or a reason."""
    return len(sentence.split()) < 4 or bool(_PATTERNS["talk"].search(sentence))


def _without_openers(part: str) -> str:
    piece = part.strip(" '")
    for _ in range(OPENERS_MOST):
        opener = _PATTERNS["opener"].match(piece)
        piece = piece[opener.end() :] if opener else piece
    return piece


def _describes(sentence: str) -> bool:
    """Return True for a sentence that describes the picture."""
    if _PATTERNS["begins_as_caption"].match(_without_openers(sentence)):
        return True
    parts = [part for part in sentence.split(", ") if not part.startswith(("since ", "as ", "because ", "if "))]
    return any(_PATTERNS["describes"].match(_without_openers(part)) for part in parts)
