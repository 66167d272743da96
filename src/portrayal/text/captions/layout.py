"""Layout of a caption: markup, preambles, quotations and offers."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from portrayal.text.captions import lexicon

HIDDEN = "\ue000"  # stands for words that the picture shows
LONGEST = 4_000  # characters read; what follows is cut and counted
REACH = 120  # characters before a quotation that may announce it
_FILE = tomllib.loads((Path(__file__).parent / "layout.toml").read_text(encoding="utf-8"))


def _filled(pattern: str) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda piece: _filled(_FILE["pieces"][piece[1]]), pattern)


_IS = {name: re.compile(_filled(text), re.IGNORECASE) for name, text in _FILE["patterns"].items()}
_IS |= {name: re.compile(text) for name, text in _FILE["cased"].items()}
_PREAMBLES = tuple(_IS[name] for name in ("shows", "tells", "within", "seen"))
_AROUND = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»", "„": "“"}
_SIGNS = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"])
_ASKS, _COUNTS = frozenset(["what", "who", "where", "when", "why", "how"]), lexicon.DETERMINERS | lexicon.NUMBERS
_PLACES = ("structure.n.01", "room.n.01", "way.n.06", "body_of_water.n.01", "geological_formation.n.01", "tract.n.01")
_STOPS = (".", "!", "?", ":", ";", ",", '"', "”", "'")


def _names_anybody(text: str) -> bool:
    """Return whether a text has a noun or a pronoun for people."""
    words = re.findall(r"[a-z]+", text.lower())
    return any(lexicon.is_person_noun(word) or word in lexicon.PRONOUNS for word in words)


def clean(caption: str) -> str:
    """Return what a caption says of the things depicted, in one line."""
    text = _values(caption[: 2 * LONGEST])
    if _IS["short"].fullmatch(text) is None:
        for name, mark in _FILE["marks"].items():
            text = _IS[name].sub(mark, text)
        text = _without_marks(text)
    elif "'" in text:
        text = _IS["quotes"].sub(_unquoted, text)
    text = _IS["space"].sub(" ", text).strip()
    text = text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0]
    if not text[1:].islower() and not text.isupper():
        text = _IS["written"].sub(rf"\1{HIDDEN}", text)
    return _without_chatter(text)


def _values(text: str) -> str:
    """Return the texts of a caption that is JSON, as lines with labels."""
    inner = text.strip().removeprefix("```json").strip("`\n ")
    if not inner.startswith(("{", "[")) or not inner.endswith(("}", "]")):
        return text
    try:
        return "\n".join(_texts(json.loads(inner)))
    except (ValueError, RecursionError):
        return text


def _texts(value: Any, key: str = "") -> Iterable[str]:
    for name, inner in value.items() if isinstance(value, dict) else ((key, one) for one in value):
        label = str(name).replace("_", " ")
        if isinstance(inner, str):
            yield f"{label}: {inner}" if label else inner
        elif isinstance(inner, (dict, list)):
            yield from _texts(inner, label)


def _without_marks(text: str) -> str:
    """Return a text without lines, emphasis, tables, quotes and emoji."""
    signs = (sign if sign == "\n" or unicodedata.category(sign) not in _SIGNS else " " for sign in text)
    text = _IS["link"].sub(r"\1", "".join(signs).replace("\ufe0f", ""))
    lines = [line for line in text.splitlines() if line.strip()]
    text = _IS["space"].sub(" ", " ".join(_lines(lines))).strip()
    if len(text) > 1 and _AROUND.get(text[0]) == text[-1] and not {text[0], text[-1]} - {"'", "’"} & set(text[1:-1]):
        text = text[1:-1]
    return _IS["quotes"].sub(_unquoted, text)


def _lines(lines: list[str]) -> Iterable[str]:
    """Yield the lines of markdown as sentences; what stands under 'Absent' is denied."""
    heads = {place for place, (_, below) in enumerate(pairwise(lines)) if "|" in below and _IS["rule"].match(below)}
    named = any(_IS["columns"].match(lines[place]) for place in heads)
    is_absent = False
    for place, line in enumerate(lines):
        read = "" if place in heads or _is_heading(lines[place : place + 2]) else _line(line, named)
        if not read and not _IS["mark"].match(line):  # a heading
            is_absent = _IS["absent"].search(line) is not None
        following = lines[place + 1].lstrip() if place + 1 < len(lines) else "a"
        stop = "." if read and not read.endswith(_STOPS) and not following[0].islower() else ""
        denies = bool(read) and is_absent and not read.lower().startswith("no")
        yield f"no {read[0].lower()}{read[1:]}{stop}" if denies else f"{read}{stop}"


def _is_heading(lines: list[str]) -> bool:
    """Return whether a few plain words stand over a list: 'People', 'Not shown'."""
    words = lines[0].lower().split()
    over = len(lines) > 1 and _IS["mark"].match(lines[1]) is not None and not _IS["mark"].match(lines[0])
    return over and len(words) <= 3 and words[0] not in _COUNTS and not lines[0].rstrip().endswith(_STOPS)


def _line(line: str, named: bool) -> str:
    """Return a line as a sentence; headings, rules and code fences are none."""
    text, mark = line.lstrip("> \t").strip(), _IS["mark"].match(line)
    if text.startswith(("#", "```")) or _IS["rule"].match(text):
        return ""
    cells = [cell.strip() for cell in text.strip("| ").split("|")] if text.startswith("|") else []
    text = ", ".join(cells[1:] if named else cells) if cells else line[mark.end() :].strip() if mark else text
    is_heading = text.startswith("**") and text.rstrip(":").endswith("**") and text.count("**") == 2
    text = _IS["emphasis"].sub(r"\2", text)
    if (is_heading and len(text.split()) <= 6 and not text.endswith((".", "!", "?"))) or _IS["lists"].search(text):
        return ""
    plain, text = text, _without_label(text)
    if text[:1] in ('"', "“") and _IS["speech"].search(plain[: -len(text)]):  # 'Caption: "A dog." Enjoy!'
        text = " ".join(text[1:].split(_AROUND[text[0]], 1)).strip()
    return f"{text}." if text and (mark or cells or text != plain) and not text.endswith(_STOPS) else text


def _without_label(text: str) -> str:
    """Return a text without 'Caption:', but with 'Woman on the left:'."""
    label = _IS["label"].match(text)
    words = label[1].lower().split() if label else []
    if label is None or (len(words) > 1 and (words[0] in _COUNTS or words[0].isdecimal())):
        return text
    if _IS["absent"].fullmatch(label[1]):
        return f"no {text[label.end() : label.end() + 1].lower()}{text[label.end() + 1 :]}"
    if words[0] not in _ASKS and not lexicon.AUXILIARIES.isdisjoint(words):  # 'Nobody is dancing: they sit'
        return text
    if _IS["about"].fullmatch(label[1]) or (
        _IS["text"].fullmatch(label[1]) and not _IS["told"].search(text, label.end())
    ):
        return ""
    if words[0] in ("age", "gender", "sex", "race", "ethnicity"):
        return "" if _IS["unknown"].match(text, label.end()) else f"The person is {text[label.end() :]}".strip()
    is_place = len(words) > 1 and lexicon.is_adjective(words[0]) and lexicon.is_under(words[-1], *_PLACES)
    if is_place and not lexicon.is_plural(words[-1]):  # 'Empty classroom: rows of desks'
        return text
    somebody = any(lexicon.is_person_noun(word) and not lexicon.is_plural(word) for word in words)
    rest = text[label.end() :].strip()
    if _IS["nothing"].fullmatch(rest):
        return ""
    alone = len(words) == 1 and rest and not _IS["unknown"].match(rest) and not _names_anybody(rest)
    return text if somebody and (alone or (len(words) > 1 and not words[-1].isdigit())) else rest


def _unquoted(match: re.Match[str]) -> str:
    """Return what stands for quoted words, or the caption that is quoted."""
    inner = match[1] if match[1] is not None else match[2]
    before = match.string[max(match.start() - REACH, 0) : match.start()]
    if inner.count(" ") > 2 and _IS["speech"].search(before):
        return f" {inner} "
    ends = inner.endswith((".", "!", "?")) and match.end() == len(match.string.rstrip())
    return f" {HIDDEN} ." if ends else f" {HIDDEN} "


def _without_offer(piece: str) -> str:
    """Return a sentence unless it is an offer, or what follows its 'but'."""
    while _IS["offer"].match(piece):
        but = _IS["but"].match(piece)
        piece = piece[but.end() :] if but else ""
    return piece


def _without_chatter(text: str) -> str:
    """Return a text without preambles, offers and questions to whoever asked."""
    while (chatter := _IS["chatter"].match(text)) is not None:
        text = text[chatter.end() :].lstrip()
    text = _without_label(text) if ":" in text else text
    pieces = _IS["sentence"].split(text) if ". " in text or "! " in text or "? " in text else [text]
    labels = [_IS["label"].match(piece) for piece in pieces[1:]] if ":" in text else []
    if sum(map(bool, labels)) > 1 or any(
        label and _IS["nothing"].fullmatch(label.string, label.end()) for label in labels
    ):
        pieces = [_without_label(piece) for piece in pieces]  # 'Objects: a chair. People: none.'
    told = (_without_offer(piece) for piece in pieces if len(pieces) == 1 or not piece.endswith("?"))
    kept = [piece for piece in told if piece]
    kept[1:] = [_IS["chatter"].sub("", piece, count=1) if _IS["chatter"].match(piece) else piece for piece in kept[1:]]
    for pattern in _PREAMBLES:
        kept = [pattern.sub("", piece, count=1) if pattern.match(piece) else piece for piece in kept]
    return " ".join(kept)
