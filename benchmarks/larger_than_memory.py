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
    """Write a collection of 500 documents with as many queries as the rows ask for, and lists of 200 documents."""
    random = np.random.default_rng(seed)
    (folder / "collection").mkdir(parents=True)
    (folder / "lists").mkdir()
    queries = max(rows // DEPTH, 3)
    people = ("woman", "man", "person")
    texts = [f"{people[i % 3]} {' '.join(random.choice(TOPICS, 3))}" for i in range(DOCUMENTS)]
    held = folder / "collection"
    documents = "\n".join(json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts))
    (held / "documents.jsonl").write_text(documents)
    asked = (f"q{i}\t{' '.join(random.choice(TOPICS, 2, replace=False))}" for i in range(queries))
    (held / "queries.tsv").write_text("\n".join(asked))
    (held / "qrels.tsv").write_text("\n".join(f"q{i}\t0\td{i % DOCUMENTS}\t1" for i in range(queries)))
    for number, start in enumerate(range(0, queries, shard // DEPTH)):
        mine = np.arange(start, min(start + shard // DEPTH, queries))
        order = random.random((len(mine), DOCUMENTS)).argsort(axis=1)[:, :DEPTH]
        rank = np.tile(np.arange(1, DEPTH + 1), len(mine))
        query, doc = (pl.Series(part).cast(pl.String) for part in (np.repeat(mine, DEPTH), order.ravel()))
        table = pl.DataFrame({"q": query, "d": doc, "rank": rank}).select(
            pl.lit("s").alias("system"), ("q" + pl.col("q")).alias("stimulus"), pl.lit(0, pl.Int64).alias("repeat"),
            pl.lit("answered").alias("status"), ("d" + pl.col("d")).alias("doc"), "rank", (-pl.col("rank")).cast(pl.Float64).alias("score"),
        )  # fmt: skip
        _write(table, folder / "lists" / f"{number:05}.parquet")


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
