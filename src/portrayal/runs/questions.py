"""A system's questions by ledger key, each made when it is looked at: of a finished run none is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from portrayal.systems.base import Question, System, key_of

COLUMNS = ["stimulus", "kind", "content", "hash", "source", "consent"]


class Shown:
    """What a study shows, so many times each."""

    def __init__(self, stimuli: pl.DataFrame, repeats: int) -> None:
        self.hashes = stimuli["hash"].to_list()
        self.repeats = repeats
        self._stimuli = stimuli.select(COLUMNS)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        return self._stimuli.rows()

    def question(self, number: int) -> Question:
        """Return a question by its number: the repeats of a stimulus follow one another."""
        place, repeat = divmod(number, self.repeats)
        stimulus, kind, content, digest, source, consent = self._rows[place]
        return Question(stimulus, kind, content, digest, repeat, source, consent)


class Questions(Mapping[str, Sequence[Question]]):
    """The questions of one system; stimuli of the same content share a key."""

    def __init__(self, system: System, shown: Shown) -> None:
        self._shown = shown
        self._numbers: dict[str, list[int]] = {}
        key, repeats = key_of(system), range(shown.repeats)
        asked = (key(digest, repeat) for digest in shown.hashes for repeat in repeats)
        for number, each in enumerate(asked):
            self._numbers.setdefault(each, []).append(number)

    def __getitem__(self, key: str) -> list[Question]:
        return [self._shown.question(number) for number in self._numbers[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers
