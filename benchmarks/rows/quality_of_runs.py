"""MAP, nDCG@100 and P@10 from a table of results, beside ranx."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.shape import Benchmark, Peer

DEPTH, JUDGED = 1000, 200
MEASURES = ("map", "ndcg_cut_100", "P_10")


@dataclass(frozen=True)
class Judged:
    """A run as a table, and judgments."""

    run: pl.DataFrame
    qrels: dict[str, dict[str, int]]


def prepare(size: int) -> Judged:
    """Draw results for so many queries; some judged documents are among them, some not."""
    rng = np.random.default_rng(0)
    names = np.array([f"d{number}" for number in range(20_000)], dtype=object)
    queries = [f"q{number}" for number in range(size)]
    listed = np.stack([rng.choice(len(names), DEPTH, replace=False) for _ in queries])
    run = pl.DataFrame(
        {
            "query": np.repeat(np.array(queries, dtype=object), DEPTH).tolist(),
            "doc": names[listed.ravel()].tolist(),
            "rank": np.tile(np.arange(1, DEPTH + 1), size),
            "score": np.tile(np.arange(DEPTH, 0, -1).astype(float), size),
        }
    )
    qrels = {
        query: {str(names[row]): int(rng.integers(0, 3)) for row in (*shown[:: DEPTH // JUDGED], *rng.choice(len(names), 50))}
        for query, shown in zip(queries, listed, strict=True)
    }  # fmt: skip
    return Judged(run, qrels)


def ours(data: Judged) -> np.ndarray:
    from portrayal.audits.search.measures.quality import mean_quality

    found = mean_quality(data.run, data.qrels, measures=MEASURES)
    return np.array([found[name] for name in MEASURES])


def check(data: Judged, found: np.ndarray) -> str:
    """Go over every list, document by document."""
    lists = {name: part["doc"].to_list() for (name,), part in data.run.sort("rank").group_by("query")}
    rows = np.array([_plain(lists[query], judged) for query, judged in data.qrels.items()])
    return "" if np.allclose(rows.mean(axis=0), found, atol=1e-12) else "differs from a plain loop"


def _plain(docs: list[str], judged: dict[str, int]) -> tuple[float, float, float]:
    hits, precisions = 0, 0.0
    for rank, doc in enumerate(docs, 1):
        if judged.get(doc, 0) > 0:
            hits += 1
            precisions += hits / rank
    relevant = sum(level > 0 for level in judged.values())
    gained = sum(judged.get(doc, 0) / log2(rank + 1) for rank, doc in enumerate(docs[:100], 1))
    best = sorted(judged.values(), reverse=True)[:100]
    ideal = sum(level / log2(rank + 1) for rank, level in enumerate(best, 1))
    return precisions / relevant, gained / ideal, sum(judged.get(doc, 0) > 0 for doc in docs[:10]) / 10


def give(data: Judged, folder: Path) -> None:
    data.run.write_parquet(folder / "run.parquet")
    (folder / "qrels.json").write_text(json.dumps(data.qrels))


def equal(data: Judged, found: np.ndarray, theirs: dict[str, np.ndarray]) -> str:
    apart = np.abs(found - theirs["means"]).max()
    return "" if apart < 1e-9 else f"means differ by {apart:.1e}"


def limit(data: Judged) -> dict[str, float]:
    """Names and ranks are read once."""
    return {"memory": data.run.estimated_size()}


BENCHMARK = Benchmark(
    name="quality",
    work="MAP, nDCG@100 and P@10 of 250 lists of 1,000, from the table of results",
    size=250,
    unit="lists",
    prepare=prepare,
    ours=ours,
    peers=(Peer("ranx", 5, "ranx", script="ranx_quality", environment="bench", give=give, equal=equal),),
    check=check,
    limit=limit,
    growth=(125, 500, 2000),
    smallest=3,
)
