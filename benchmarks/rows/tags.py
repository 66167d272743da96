"""Cluster shares and inferred genders of millions of tags, beside plain polars and duckdb.

The peers get a table that says which clusters each distinct tag is in; ours reads and looks up the tags itself.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from benchmarks.shape import Benchmark, Peer

if TYPE_CHECKING:
    from portrayal.audits.contexts.measures.pictures import WordLists

TAGS = 30  # a picture
GENDERS = ("feminine", "masculine")
KEYS = ("system", "stimulus", "repeat")


@dataclass(frozen=True)
class Tagged:
    """Recorded tags, thirty a picture, and the lists they are read with."""

    stimuli: pl.DataFrame
    responses: pl.DataFrame
    lists: WordLists
    members: pl.DataFrame  # tag, and a column of 0 and 1 for each cluster
    clusters: tuple[str, ...]


@dataclass(frozen=True)
class Counted:
    """Return each picture's tags by cluster and its inferred gender (2: neither), by its name."""

    counts: np.ndarray
    inferred: np.ndarray


def prepare(size: int) -> Tagged:
    """Draw so many tags from the typology, common ones more often."""
    from portrayal.audits.contexts.measures.pictures import WordLists, membership

    lists = WordLists()
    known = pl.Series("tag", sorted({*lists.typology["tag"], *lists.context_tags["tag"], "zebra crossing", "qwxz"}))
    rng, pictures = np.random.default_rng(0), size // TAGS
    rows = (len(known) * rng.random(pictures * TAGS) ** 2).astype(np.uint32)
    tags = known.gather(rng.permutation(len(known)).astype(np.uint32)[rows])
    names = pl.Series("stimulus", [f"p{number:07d}" for number in range(pictures)])
    shown = names.gather(np.repeat(np.arange(pictures, dtype=np.uint32), TAGS))
    responses = pl.DataFrame({"stimulus": shown, "tag": tags}).with_columns(
        system=pl.lit("made up"), repeat=pl.lit(0, pl.Int64), status=pl.lit("answered")
    )
    stimuli = pl.DataFrame({"stimulus": names}).with_columns(
        role=pl.lit("baseline"), person=pl.col("stimulus"), context=pl.lit(None, pl.String)
    )
    member = membership(known, lists)[1]
    columns = {name: member[:, at].astype(np.uint8) for at, name in enumerate(lists.clusters)}
    members = pl.DataFrame({"tag": known, **columns})
    return Tagged(stimuli, responses, lists, members, lists.clusters)


def ours(data: Tagged) -> Counted:
    from portrayal.audits.contexts.measures.pictures import describe_pictures
    from portrayal.audits.contexts.measures.views import cluster_shares, column

    pictures = describe_pictures(data.stimuli, data.responses, data.lists, GENDERS)
    cluster_shares(pictures, data.clusters)
    counts = pictures.select(map(column, data.clusters))
    return Counted(counts, pictures["inferred"])


def with_polars(data: Tagged) -> pl.DataFrame:
    """Join, group and sum, as one would write it."""
    counted = (
        data.responses.lazy()
        .join(data.members.lazy(), on="tag")
        .group_by(KEYS)
        .agg(pl.len().alias("n"), *(pl.col(name).sum() for name in data.clusters))
    )
    first, second = map(pl.col, GENDERS)
    inferred = pl.when(first > second).then(0).when(second > first).then(1).otherwise(2)
    parts = ((pl.col(name) / pl.col("n")).alias(f"share {name}") for name in data.clusters)
    return counted.with_columns(inferred.cast(pl.UInt8).alias("inferred"), *parts).collect()


def _arrays(data: Tagged, found: Counted) -> tuple[np.ndarray, np.ndarray]:
    numbers = {name: number for number, name in enumerate((*GENDERS, "neutral"))}
    inferred = found.inferred.replace_strict(numbers, return_dtype=pl.UInt8).to_numpy()
    return found.counts.to_numpy().astype(np.uint8), inferred


def equal_polars(data: Tagged, found: Counted, theirs: pl.DataFrame) -> str:
    ordered = theirs.sort("stimulus")
    answer = {"counts": ordered.select(data.clusters).to_numpy(), "inferred": ordered["inferred"].to_numpy()}
    return equal(data, found, answer)


def equal(data: Tagged, found: Counted, theirs: dict[str, np.ndarray]) -> str:
    counts, inferred = _arrays(data, found)
    if (counts != theirs["counts"]).any():
        return "counts of clusters differ"
    return "inferred genders differ" if (inferred != theirs["inferred"]).any() else ""


def check(data: Tagged, found: Counted) -> str:
    """Count the tags of every hundredth picture in a loop."""
    counts, inferred = _arrays(data, found)
    of_tag = {tag: np.array(row) for tag, *row in data.members.iter_rows()}
    gender = [data.clusters.index(name) for name in GENDERS]
    for picture in range(0, len(counts), 100):
        tags = Counter(data.responses["tag"].slice(TAGS * picture, TAGS).to_list())
        total = sum((times * of_tag[tag] for tag, times in tags.items()), np.zeros(len(data.clusters), int))
        one, other = total[gender]
        if (total != counts[picture]).any() or inferred[picture] != (0 if one > other else 1 if other > one else 2):
            return f"picture {picture} differs from a loop"
    return ""


def give(data: Tagged, folder: Path) -> None:
    data.responses.drop("status").write_parquet(folder / "responses.parquet")
    data.members.write_parquet(folder / "members.parquet")
    (folder / "clusters.json").write_text(json.dumps({"clusters": data.clusters, "genders": GENDERS}))


def limit(data: Tagged) -> dict[str, float]:
    """Return the bytes moved: four 16-byte string views and the repeat are read, counts written."""
    rows = len(data.responses)
    return {"memory": rows * (4 * 16 + 8) + rows // TAGS * 8 * 2 * len(data.clusters)}


BENCHMARK = Benchmark(
    name="tags",
    work="cluster shares and inferred genders of 27 million tags, thirty a picture",
    size=27_000_000,
    unit="tags",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer("plain polars", 5, "polars", run=with_polars, equal=equal_polars),
        Peer("duckdb, two threads", 5, "duckdb", script="duckdb_tags", environment="bench", give=give, equal=equal),
    ),
    check=check,
    limit=limit,
    smallest=9_000,
    why=(
        "The largest part of the processor time of ours is hashing every tag and looking its number up, the next comparing every"
        " picture's name and system with the row before. Polars hashes the strings too, in compiled code on all cores; ours saves"
        " its join and its group by, not the reading. Counting is one product of a sparse matrix, and shares, statuses and counts"
        " are worked out on all cores; looking distinct tags up and taking the numbers down are not."
    ),
)
