"""Scene graphs of captions, beside sng_parser: another set of rules on the same parser of dependencies."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from benchmarks.shape import Benchmark, Peer

GOLD = Path(__file__).parents[2] / "tests" / "golden" / "scene_graphs.jsonl"
THEIRS = 500  # captions sng_parser is timed on
ALIKE = 0.4  # least mean overlap of the nouns that two sets of rules may have


@cache
def gold() -> pl.DataFrame:
    return pl.read_ndjson(GOLD)


def prepare(size: int) -> list[str]:
    """Make distinct captions from the gold ones, each with a number of its own."""
    texts = gold()["caption"].to_list()
    return [f"{texts[i % len(texts)].rstrip('.')} near {i} trees." for i in range(size)]


def fresh(captions: list[str]) -> None:
    """Forget the graphs of the run before."""
    from portrayal.text.captions import parsing

    getattr(parsing, "_CACHE", {}).clear()


def ours(captions: list[str]) -> list[Any]:
    from portrayal.text.captions.parsing import scene_graphs

    return scene_graphs(captions, processes=os.cpu_count() or 1)


def check(captions: list[str], found: list[Any]) -> str:
    """Parse the gold captions: nouns as annotated by hand in at least 9 of 10; and a few again, one by one."""
    from portrayal.text.captions.parsing import parse, scene_graphs

    if any(parse([text])[0] != graph for text, graph in zip(captions[:20], found, strict=False)):
        return "a caption alone is read differently"
    graphs = scene_graphs(gold()["caption"].to_list())
    alike = [_overlap(set(g.objects), set(nouns)) for g, nouns in zip(graphs, gold()["objects"], strict=True)]
    return "" if np.mean(alike) > 0.9 else f"nouns overlap with the gold list's by {np.mean(alike):.2f} only"


def _overlap(first: set[str], second: set[str]) -> float:
    return len(first & second) / max(1, len(first | second))


def timed_on(captions: list[str]) -> int:
    """Return how many captions sng_parser is timed on."""
    return min(THEIRS, len(captions))


def give(captions: list[str], folder: Path) -> None:
    (folder / "captions.json").write_text(json.dumps(captions[: timed_on(captions)]))


def equal(captions: list[str], found: list[Any], theirs: dict[str, np.ndarray]) -> str:
    """Say how alike the nouns are: two sets of rules do not agree on every caption, but must speak of the same things."""
    pairs = zip(found, theirs["heads"], strict=False)
    alike = np.mean([
        _overlap({name.split()[-1] for name in graph.objects}, {name.split()[-1] for name in heads.lower().split("|")})
        for graph, heads in pairs
    ])  # fmt: skip
    return "" if alike > ALIKE else f"nouns overlap by {alike:.2f} only"


def limit(captions: list[str]) -> dict[str, float]:
    """Return the multiplications of spaCy's small pipeline: about 1.2 million weights a word."""
    words = sum(len(text.split()) + 1 for text in captions)
    return {"arithmetic": 2 * 1.2e6 * words}


BENCHMARK = Benchmark(
    name="scene graphs",
    work="scene graphs of 20,000 distinct captions, two processes",
    size=20_000,
    unit="captions",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "sng_parser",
            3,
            "sng_parser",
            script="sng_graphs",
            environment="bench_scenes",
            give=give,
            equal=equal,
            scale=lambda captions: len(captions) / timed_on(captions),
            scaled=f"timed on {THEIRS} captions, scaled",
        ),
    ),
    check=check,
    limit=limit,
    fresh=fresh,
    smallest=200,
)
