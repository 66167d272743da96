"""Made-up series and ranked lists in folders of Parquet files, for `out_of_core.py`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

TAGS = ("person", "nurse", "engineer", "beard", "smile", "hair", "doctor", "tree")
STEPS = (-2.0, -1.0, 0.0, 1.0, 2.0)
GIVEN = 6  # tags of a picture, out of those
SYSTEMS = 2
DOCUMENTS, DEPTH = 500, 200
QUERIES, MORE_DOCUMENTS = 50_000, 2_500  # of lists that grow longer: the collection stays the same
TOPICS = ("nurse", "engineer", "garage", "kitchen", "doctor", "music", "war", "school")


def make_series(folder: Path, rows: int, shard: int = 200_000, seed: int = 0) -> None:
    """Write parts of series: one picture a person, five steps, six tags a step for each of two systems; one step in 50 is refused."""
    random = np.random.default_rng(seed)
    for name in ("stimuli", "responses"):
        (folder / name).mkdir(parents=True)
    each = len(STEPS) * GIVEN * SYSTEMS
    for number, start in enumerate(range(0, rows, shard)):
        people = np.arange(start // each, min(start + shard, rows) // each)
        for name, table in _part(people, random).items():
            _write(table, folder / name / f"{number:05}.parquet")


def _part(people: np.ndarray, random: np.random.Generator) -> dict[str, pl.DataFrame]:
    person = pl.Series("person", np.repeat(people, len(STEPS))).cast(pl.String)
    stimuli = pl.DataFrame({"person": person, "value": np.tile(STEPS, len(people))}).select(
        pl.format("{}@{}", "person", "value").alias("stimulus"), pl.col("person").alias("picture"), "person",
        pl.lit("gender").alias("attribute"), pl.lit("edited").alias("condition"), "value",
    )  # fmt: skip
    parts = []
    for system in range(SYSTEMS):
        order = random.random((stimuli.height, len(TAGS))).argsort(axis=1)[:, :GIVEN]
        refused = random.random(stimuli.height) < 0.02
        kept = np.repeat(np.where(refused, 1, GIVEN), 1)
        place = np.concatenate([np.arange(count) for count in kept]) if len(kept) else np.zeros(0, int)
        row = np.repeat(np.arange(stimuli.height), kept)
        tags = pl.Series(TAGS).gather(order[row, place])
        parts.append(
            pl.DataFrame(
                {"system": f"s{system}", "stimulus": stimuli["stimulus"].gather(row), "repeat": 0, "tag": tags,
                 "refused": refused[row]}, schema_overrides={"repeat": pl.Int64}
            ).select(
                "system", "stimulus", "repeat",
                pl.when("refused").then(pl.lit("refused")).otherwise(pl.lit("answered")).alias("status"),
                pl.when("refused").then(None).otherwise("tag").alias("tag"), pl.lit(0.5).alias("confidence"),
            )
        )  # fmt: skip
    return {"stimuli": stimuli, "responses": pl.concat(parts)}


def make_lists(folder: Path, rows: int, shard: int = 500_000, seed: int = 0) -> None:
    """Write a collection of at most 50,000 queries, and lists as long as the rows ask for."""
    queries = min(max(rows // DEPTH, 3), QUERIES)
    _make_lists(folder, queries, rows // queries, MORE_DOCUMENTS, shard, seed)


def make_queries(folder: Path, rows: int, shard: int = 500_000, seed: int = 0) -> None:
    """Write a collection with as many queries as the rows ask for, and lists of 200 documents."""
    _make_lists(folder, max(rows // DEPTH, 3), DEPTH, DOCUMENTS, shard, seed)


def _make_lists(folder: Path, queries: int, depth: int, count: int, shard: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    (folder / "lists").mkdir(parents=True)
    _make_collection(folder / "collection", queries, count, random)
    for number, start in enumerate(range(0, queries, max(shard // depth, 1))):
        mine = np.arange(start, min(start + max(shard // depth, 1), queries))
        _write(_lists_of(mine, depth, count, random), folder / "lists" / f"{number:05}.parquet")


def _make_collection(held: Path, queries: int, count: int, random: np.random.Generator) -> None:
    held.mkdir()
    people = ("woman", "man", "person")
    texts = [f"{people[i % 3]} {' '.join(random.choice(TOPICS, 3))}" for i in range(count)]
    documents = "\n".join(json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts))
    (held / "documents.jsonl").write_text(documents)
    asked = (f"q{i}\t{' '.join(random.choice(TOPICS, 2, replace=False))}" for i in range(queries))
    (held / "queries.tsv").write_text("\n".join(asked))
    (held / "qrels.tsv").write_text("\n".join(f"q{i}\t0\td{i % count}\t1" for i in range(queries)))


def _lists_of(queries: np.ndarray, depth: int, count: int, random: np.random.Generator) -> pl.DataFrame:
    order = random.random((len(queries), count)).argsort(axis=1)[:, :depth]
    rank = np.tile(np.arange(1, depth + 1), len(queries))
    query, doc = (pl.Series(part).cast(pl.String) for part in (np.repeat(queries, depth), order.ravel()))
    return pl.DataFrame({"q": query, "d": doc, "rank": rank}).select(
        pl.lit("s").alias("system"), ("q" + pl.col("q")).alias("stimulus"), pl.lit(0, pl.Int64).alias("repeat"),
        pl.lit("answered").alias("status"), ("d" + pl.col("d")).alias("doc"), "rank", (-pl.col("rank")).cast(pl.Float64).alias("score"),
    )  # fmt: skip


def _write(table: pl.DataFrame, file: Path) -> None:
    table.write_parquet(file, compression="zstd", compression_level=1)


def series(folder: Path) -> pl.DataFrame:
    """Measure the series."""
    from portrayal import label_shares

    return label_shares(folder)


def lists(folder: Path) -> pl.DataFrame:
    """Measure the lists; three groups are mentioned."""
    from portrayal import list_shares

    mentions = {"female": ["woman"], "male": ["man"], "unnamed": ["person"]}
    return list_shares(folder / "lists", folder / "collection", mentions=mentions)
