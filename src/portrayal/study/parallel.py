"""One function over many seeds, through the engine: the same answers in the same order as in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from portrayal.engine import current_engine, cut, run
from portrayal.engine.run import cores

Found = TypeVar("Found")
WORTH_IT = 20  # below this, starting processes costs more than it saves
SHARDS = 20  # for each worker: few enough to be cheap, enough that none waits long for the last


def over_seeds(
    function: Callable[[int], Found],
    seeds: Sequence[int],
    prepare: Callable[[], object] | None = None,
    processes: int | None = None,
) -> list[Found]:
    """Return the function of each seed, in order."""
    processes = processes or cores()
    spread = current_engine().named or (processes > 1 and len(seeds) >= WORTH_IT)
    if not spread:
        return [function(seed) for seed in seeds]
    size = max(1, len(seeds) // (SHARDS * (current_engine().workers or processes)))
    make = partial(_make, function, prepare)
    found = {shard.place: results for shard, results in run(make, cut(seeds, size, "runs"), processes, label="runs")}
    return [result for place in sorted(found) for result in found[place]]


def _make(
    function: Callable[[int], Found], prepare: Callable[[], object] | None
) -> Callable[[Sequence[int]], list[Found]]:
    if prepare is not None:
        prepare()
    return lambda seeds: [function(seed) for seed in seeds]
