"""A system's questions by ledger key, each made when it is looked at: of a finished run none is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any

import polars as pl

from portrayal.systems.core.base import Question, System, key_of

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
        key, repeats = key_of(system), range(shown.repeats)
        asked = [key(digest, repeat) for digest in shown.hashes for repeat in repeats]
        self._numbers: dict[str, int | list[int]] = dict(zip(asked, count()))
        if len(self._numbers) < len(asked):  # seldom: a list for each of a hundred thousand questions takes its time
            self._numbers = _shared(asked)

    def __getitem__(self, key: str) -> list[Question]:
        numbers = self._numbers[key]
        return [self._shown.question(each) for each in (numbers if isinstance(numbers, list) else [numbers])]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers


def _shared(asked: Sequence[str]) -> dict[str, int | list[int]]:
    """Return the numbers of each key's questions, in the order of their first."""
    numbers: dict[str, list[int]] = {}
    for number, key in enumerate(asked):
        numbers.setdefault(key, []).append(number)
    return {**numbers}
