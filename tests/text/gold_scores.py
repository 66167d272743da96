"""Scores of a reader against the gold texts of tests/text/gold, by the rules of its README."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "gold"
WORDS = ("objects", "negated", "hedged")
AXES = ("gender", "race", "age", "disability")
STAND_INS = {"person", "people"}  # whom a pronoun means, where the text has no noun for them
# Names that other lists give the same groups.
ALIKE = {
    "hispanic": "latino",
    "latina": "latino",
    "south asian": "asian",
    "east asian": "asian",
    "arab": "middle eastern",
}
ALIKE |= {"non binary": "nonbinary", "african american": "black", "native american": "indigenous"}


@dataclass
class Score:
    """Hits, misses and false readings of one kind, each with the text's id."""

    hits: int = 0
    missed: list[tuple[str, Any]] = field(default_factory=list)
    false: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of what was read that is right."""
        return self.hits / max(1, self.hits + len(self.false))

    @property
    def recall(self) -> float:
        """Share of what is there that was read."""
        return self.hits / max(1, self.hits + len(self.missed))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.hits / max(1, 2 * self.hits + len(self.false) + len(self.missed))

    def __str__(self) -> str:
        """Write the three figures."""
        return f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"


def read_gold(half: str) -> list[dict[str, Any]]:
    """Return the rows of `tune` or `report`."""
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def english(half: str) -> list[dict[str, Any]]:
    """Return the rows that are scored."""
    return [row for row in read_gold(half) if row["language"] == "en"]


def score(gold: Sequence[dict[str, Any]], graphs: Sequence[Any]) -> dict[str, Score]:
    """Return the scores of objects, negated, hedged and people; `layout` has objects that are none as false."""
    scores: dict[str, Score] = defaultdict(Score)
    for row, graph in zip(gold, graphs, strict=True):
        for kind in WORDS:
            _score_words(scores[kind], row, kind, {plain(word) for word in getattr(graph, kind)})
        _score_people(scores["people"], row, list(graph.people))
        scores["layout"].false += [(row["id"], word) for word in _layout(row, graph.objects)]
    return dict(scores)


def plain(word: str) -> str:
    """Return a word in lower case, hyphens as blanks."""
    return word.casefold().replace("-", " ").strip()


def _score_words(total: Score, row: dict[str, Any], kind: str, read: set[str]) -> None:
    wanted = [{plain(word) for word in words.split("/")} for words in row[kind]]
    total.hits += sum(bool(words & read) for words in wanted)
    total.missed += [(row["id"], "/".join(sorted(words))) for words in wanted if not words & read]
    other = read - set().union(*wanted) - {plain(word) for word in row["open"]}
    total.false += [(row["id"], word) for word in sorted(other) if not _is_stand_in(word, row["text"])]


def _is_stand_in(word: str, text: str) -> bool:
    return word in STAND_INS and not re.search(rf"\b{word}\b", text.lower())


def _layout(row: dict[str, Any], read: Sequence[str]) -> Iterator[str]:
    """Yield what was read of the picture's own words, headings, labels and signs."""
    layout = {plain(word) for word in row["layout"]}
    for word in read:
        if plain(word) in layout or not re.search(r"[^\W\d_]", word) or re.search(r"[*#|>`]|[\u2600-\U0001faff]", word):
            yield word


def _score_people(total: Score, row: dict[str, Any], read: list[Any]) -> None:
    """Match each person that is there with one that was read, those with nothing open first."""
    rest = [(person.number, _groups(person.groups)) for person in read]
    for person in sorted(row["people"], key=_open):
        match = next((other for other in rest if _same(person, *other)), None)
        if match is None:
            total.missed.append((row["id"], (person["number"], person["groups"])))
        else:
            total.hits += 1
            rest.remove(match)
    total.false += [(row["id"], other) for other in rest]


def _open(person: dict[str, Any]) -> int:
    return (person["number"] == "*") + list(person["groups"].values()).count("*")


def _groups(groups: Any) -> dict[str, str]:
    """Return the groups that are scored, under one name each; of ages only that of children."""
    named = {axis: ALIKE.get(plain(group), plain(group)) for axis, group in dict(groups).items() if axis in AXES}
    return {axis: group for axis, group in named.items() if axis != "age" or group == "child"}


def _same(person: dict[str, Any], number: int | None, groups: dict[str, str]) -> bool:
    wanted = person["groups"]
    closed = [axis for axis in AXES if wanted.get(axis) != "*"]
    return person["number"] in ("*", number) and all(wanted.get(axis) == groups.get(axis) for axis in closed)


def errors(scores: dict[str, Score], gold: Sequence[dict[str, Any]]) -> str:
    """Return the errors as markdown, by kind and text."""
    texts, lines = {row["id"]: row["text"] for row in gold}, []
    for kind, total in scores.items():
        lines.append(f"\n## {kind}: {total}; missed {len(total.missed)}, false {len(total.false)}\n")
        for name in sorted({name for name, _ in total.missed + total.false}):
            lines.append(f"- {name}: {texts[name]!r}")
            for said, items in (("missed", total.missed), ("false", total.false)):
                lines += [f"    - {said}: {item}" for where, item in items if where == name]
    return "\n".join(lines)


if __name__ == "__main__":
    from portrayal.text.captions.parsing import scene_graphs

    rows = english("tune")  # never the other half: its errors stay unread
    sys.stdout.write(errors(score(rows, scene_graphs([row["text"] for row in rows])), rows) + "\n")
