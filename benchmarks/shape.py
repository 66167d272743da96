"""Benchmark: one piece of work at a size, done by us and peers, with equal answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Data = Any  # whatever `prepare` made
Answer = Any  # whatever `ours` and `peer` return; `equal` compares them


def _one(data: Data) -> float:
    return 1.0


def _agreed(data: Data, ours: Answer, theirs: Answer) -> str:
    return ""


@dataclass(frozen=True)
class Peer:
    """Somebody else's way to do the work: a function here, or a script run in an environment of its own."""

    name: str
    needed: float | None  # how many times faster ours is to be; None where nothing was promised
    module: str  # what must be importable
    run: Callable[[Data], Answer] | None = None
    script: str = ""  # benchmarks/peers/SCRIPT.py, where `run` is None
    environment: str = ""  # .venv-peers/ENVIRONMENT, from requirements/ENVIRONMENT.txt; "" is this one
    give: Callable[[Data, Path], object] | None = None  # writes into a folder what the script reads
    equal: Callable[[Data, Answer, Answer], str] = _agreed  # "" or what differs
    scale: Callable[[Data], float] = _one  # how many times the work timed goes into the whole
    scaled: str = ""  # says so, where it does
    processor: bool = False  # whether the ratio is of processor time


@dataclass(frozen=True)
class Benchmark:
    """One row of docs/benchmarks.md."""

    name: str
    work: str
    size: int
    unit: str  # what the size counts
    prepare: Callable[[int], Data]
    ours: Callable[[Data], Answer]
    peers: tuple[Peer, ...]
    check: Callable[[Data, Answer], str]  # "" or how ours differs from an independent answer
    limit: Callable[[Data], Mapping[str, float]]  # the least the work needs of the machine: see `probes.RATES`
    growth: tuple[int, ...] = ()  # sizes of the growth; by default a sixteenth, a quarter and the whole
    linear: bool = True
    grows: str = ""  # what is said beside an exponent of work that is not linear
    fresh: Callable[[Data], object] | None = None  # forgets what an earlier run left, before each
    close: Callable[[Data], object] | None = None
    smallest: int = 1  # at a small share the size is not below this
    why: str = ""  # printed where a ratio is missed
    notes: Mapping[str, str] = field(default_factory=dict)

    def at(self, share: float) -> int:
        """Return the size at a share of the whole."""
        return max(self.smallest, round(self.size * share))

    def sizes(self) -> tuple[int, ...]:
        """Return the sizes at which growth is measured."""
        return self.growth or (max(1, self.size // 16), max(1, self.size // 4), self.size)
