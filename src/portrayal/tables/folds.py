"""Folds: measures whose sums over parts add up, in memory, on disk and by workers.

A fold that needs something known of all parts, such as a vocabulary, names the folds that give it in `after`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import polars as pl

from portrayal.errors import PortrayalError

Part = Any  # a table, or several tables of the same units
Sums = Any  # whatever `add` adds: counters, arrays, tables of counts
Known = Mapping[str, Any]  # results of the folds named in `after`
Mapper = Callable[[Callable[[Part], Any], Iterable[Part]], Iterable[Any]]  # `map`, or that of a pool of workers


@dataclass(frozen=True)
class Fold:
    """A measure, or a step towards one."""

    name: str
    per_part: Callable[[Part, Known], Sums]
    finish: Callable[[Sums, Known], Any]
    needs: tuple[str, ...] = ()  # columns of a part
    paper: str = ""
    after: tuple[str, ...] = ()
    add: Callable[[Sums, Sums], Sums] = add


def add_counts(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Counter[Any]:
    """Return the sum of two mappings of counts; keys of either stay, also at zero."""
    total = Counter(first)
    total.update(second)
    return total


@dataclass(frozen=True)
class TableSums:
    """Numbers of tables added up by their key columns."""

    keys: tuple[str, ...]
    parts: tuple[pl.DataFrame, ...]

    def __add__(self, other: Self) -> TableSums:
        both = TableSums(self.keys, (*self.parts, *other.parts))
        waiting = sum(part.height for part in both.parts[1:])
        return TableSums(self.keys, (both.total(),)) if waiting > max(self.parts[0].height, WAITING) else both

    def total(self) -> pl.DataFrame:
        """Return the sums, in the order in which keys came first."""
        return pl.concat(self.parts).group_by(self.keys, maintain_order=True).agg(pl.all().sum())


WAITING = 1 << 16  # rows that wait at least before they are added up


def run_folds(folds: Iterable[Fold], parts: Callable[[], Iterable[Part]], mapper: Mapper = map) -> dict[str, Any]:
    """Return the result of each fold by name; each wave reads the parts once."""
    known: dict[str, Any] = {}
    for wave in _waves(list(folds)):
        each = mapper(_PartOf(wave, known), parts())
        total = reduce(lambda one, other: [f.add(a, b) for f, a, b in zip(wave, one, other, strict=True)], each)
        known = known | {fold.name: fold.finish(sums, known) for fold, sums in zip(wave, total, strict=True)}
    return known


@dataclass(frozen=True)
class _PartOf:
    """Sums of one part for the folds of a wave, picklable for workers."""

    wave: tuple[Fold, ...]
    known: Known

    def __call__(self, part: Part) -> list[Sums]:
        return [fold.per_part(part, self.known) for fold in self.wave]


def _waves(left: list[Fold]) -> Iterator[tuple[Fold, ...]]:
    done: set[str] = set()
    while left:
        wave = tuple(fold for fold in left if done.issuperset(fold.after))
        if not wave:
            raise PortrayalError(f"folds wait for each other: {', '.join(fold.name for fold in left)}.")
        yield wave
        done |= {fold.name for fold in wave}
        left = [fold for fold in left if fold not in wave]
