"""Cost of the engine: seconds a shard without work, captions parsed by one and two workers.

    python benchmarks/engine.py [--captions 20000] [--shards 2000] [--nodes] [--json FILE]

`--nodes` parses them on a Ray cluster of two nodes on this machine too, and says whether the scene graphs are the local engine's.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.saved import write_found

from portrayal.engine import Shard, run, using
from portrayal.engine.run import cores
from portrayal.errors import MissingExtra
from portrayal.text.captions import parsing

WHO = ("man", "woman", "girl", "boy", "nurse", "doctor", "dog")
DOES = ("rides", "holds", "watches", "is sitting next to")
LOOK = ("red", "tall", "old", "small", "wooden")
THING = ("bicycle", "bag", "horse", "pizza", "table", "kite")
SHARD = 500  # captions


def captions(count: int) -> list[str]:
    """Return so many different captions."""
    return [
        f"A {LOOK[i % 5]} {WHO[i // 5 % 7]} {DOES[i // 35 % 4]} a {LOOK[i // 140 % 5]} {THING[i // 700 % 6]} near house {i}."
        for i in range(count)
    ]


def nothing() -> Callable[[Any], Any]:
    """Do no work: what is left is the engine."""
    return lambda content: content


def overhead(engine: str, workers: int, shards: int) -> float:
    """Return microseconds a shard, median of five runs of a fifth of the shards; the workers' start is not counted."""
    times = []
    with using(engine, workers):
        results = run(nothing, (Shard(str(place), place) for place in range(shards + 1)))
        next(results)  # the workers are there
        for _ in range(5):
            began, some = time.perf_counter(), max(1, shards // 5 - 4)
            for _ in range(some):
                next(results)
            times.append((time.perf_counter() - began) / some)
        results.close()
    return 1e6 * median(times)


def start(engine: str, workers: int) -> float:
    """Return the seconds until the first result of work that is nothing."""
    began = time.perf_counter()
    with using(engine, workers):
        list(run(nothing, [Shard("one", 1)]))
        return time.perf_counter() - began


def parse(engine: str, workers: int, texts: list[str]) -> tuple[float, list[Any]]:
    """Return the seconds of parsing by workers that are there already, and the scene graphs."""
    shards = [
        Shard(f"captions from {place}", texts[place : place + SHARD], place) for place in range(0, len(texts), SHARD)
    ]
    warm = [Shard(f"warm {worker}", texts[:5], -1 - worker) for worker in range(2 * workers)]
    found: dict[int, Any] = {}
    with using(engine, workers):
        results = run(parsing.make_parser, [*warm, *shards])
        for _ in warm:
            shard, graphs = next(results)
            found[shard.place] = graphs
        began = time.perf_counter()
        found |= {shard.place: graphs for shard, graphs in results}
        seconds = time.perf_counter() - began
    return seconds, [graph for place in sorted(found) if place >= 0 for graph in found[place]]


def two_nodes(texts: list[str]) -> tuple[float, list[Any]]:
    """Parse on a cluster of two nodes with a processor each."""
    from portrayal.engine.ray_pool import import_ray

    import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        return parse(f"ray://{cluster.address}", 2, texts)
    finally:
        cluster.shutdown()


def measured(engine: str, shards: int, texts: list[str]) -> dict[str, Any]:
    """Measure an engine, print it, and return its figures by number of workers."""
    began = start(engine, 2)
    print(f"{engine}: first result after {began:.1f} s")
    cost = {workers: overhead(engine, workers, shards) for workers in (1, 2)}
    print(f"{engine}: {cost[1]:.0f} us a shard with 1 worker, {cost[2]:.0f} us with 2")
    times = {workers: parse(engine, workers, texts)[0] for workers in (1, 2)}
    each = {workers: 1e6 * seconds / len(texts) for workers, seconds in times.items()}
    print(
        f"{engine}: {len(texts):,} captions in {times[1]:.1f} s with 1 worker ({each[1]:.0f} us each), {times[2]:.1f} s with 2"
        f" ({each[2]:.0f} us): {times[1] / times[2]:.2f} times as fast; load {os.getloadavg()[0]:.1f}"
    )
    return {"start_seconds": began, "shard_microseconds": cost, "captions": len(texts), "seconds": times}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--captions", type=int, default=4000)
    parser.add_argument("--shards", type=int, default=2000)
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--json", help="a file for the figures")
    asked = parser.parse_args()
    print(f"{cores()} processors, load {os.getloadavg()[0]:.1f}")
    texts = captions(asked.captions)
    found = {}
    for engine in ("local", "ray"):
        try:
            found[engine] = measured(engine, asked.shards, texts)
        except MissingExtra as error:
            print(f"{engine}: {error}")
    write_found(asked.json, {"engines": found, "shard": SHARD})
    if asked.nodes:
        (here, local), (there, on_nodes) = parse("local", 2, texts), two_nodes(texts)
        same = "identical" if local == on_nodes else "DIFFERENT"
        print(f"two nodes: {len(texts):,} captions in {there:.1f} s, local {here:.1f} s; scene graphs {same}")


if __name__ == "__main__":
    main()
