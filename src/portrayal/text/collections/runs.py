"""Runs of rankers as tables (query, doc, rank, score) and TREC run files."""

from __future__ import annotations

import math
from collections.abc import Collection as Container
from os import PathLike
from pathlib import Path

import polars as pl

from portrayal.edges.writing import refuse_strange_file, replacing
from portrayal.errors import PortrayalError
from portrayal.text.collections.lines import read_fields, read_lines, whole

RUN_FORM = "query Q0 document rank score tag"
MOST_UNKNOWN = 0.05  # share of results that may name unknown documents, which count as unjudged
RUN = {"query": pl.String, "doc": pl.String, "rank": pl.Int64, "score": pl.Float64}


def run_table(rows: list[tuple[str, str, int, float]]) -> pl.DataFrame:
    """Return a run table of (query, doc, rank, score)."""
    return pl.DataFrame(rows, schema=RUN, orient="row")


def read_run(path: Path | str) -> pl.DataFrame:
    """Read a TREC run file (query, Q0, document, rank, score, tag) as a run table.

    Scores decide, as in trec_eval: documents come by falling score, ids descending where scores are equal in the 32 bits that
    trec_eval holds. A run whose scores are all one number has none, and its ranks decide.
    """
    if not isinstance(path, str | PathLike):
        raise PortrayalError(f"{type(path).__name__} given. Expected the path of a TREC run file: {RUN_FORM}.")
    path, rows = Path(path), []
    for query, iteration, doc, place, points, *_ in read_fields(path, 5, RUN_FORM):
        try:
            score = float(points)
        except ValueError:
            score = math.nan
        if math.isnan(score):  # it has no place in an order
            number = next(
                at for at, line in read_lines(path) if line.split()[:5] == [query, iteration, doc, place, points]
            )
            raise PortrayalError(
                f"{path} line {number}: the score of {doc!r} for query {query!r} is {points!r}. Expected a number."
            )
        rows.append((query, doc, whole(place, path, f"the rank of {doc!r} for query {query!r}"), score))
    if not rows:
        raise PortrayalError(f"{path} has no results. Expected lines of: {RUN_FORM}.")
    run = run_table(rows)
    places = {name: place for place, name in enumerate(dict.fromkeys(run["query"]))}
    run = run.with_columns(place=pl.col("query").replace_strict(places, return_dtype=pl.Int64))
    if run.height > 1 and run["score"].n_unique() == 1:
        twice = run.filter(pl.struct("query", "rank").is_duplicated())
        if not twice.is_empty():
            raise PortrayalError(
                f"{path}: every score is {run['score'][0]:g}, and query {twice['query'][0]!r} has rank {twice['rank'][0]} "
                "twice, so its order is not known. Give scores, or a rank to each result."
            )
        ordered = run.sort("place", "rank", maintain_order=True)
    else:
        single = pl.col("score").cast(pl.Float32)
        ordered = run.sort("place", single, "doc", descending=[False, True, True], maintain_order=True)
    return ordered.drop("place").with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))


def write_run(run: pl.DataFrame, path: Path | str, tag: str = "portrayal") -> None:
    """Write a run table as a TREC run file, whole or not at all."""
    path = Path(path)
    spaced = run.filter(pl.concat_str("query", pl.lit("|"), "doc").str.contains(r"\s"))
    if not spaced.is_empty():
        raise PortrayalError(
            f"document {spaced['doc'][0]!r} or query {spaced['query'][0]!r} has white space in its id, "
            "which a TREC run cannot hold. Give it another id."
        )
    refuse_strange_file(path)
    first = b""
    if path.exists():
        with path.open("rb") as file:
            first = file.readline(10_000)
    fields = first.split()
    if fields and (len(fields) != 6 or fields[1] != b"Q0"):  # it is somebody's
        raise PortrayalError(f"{path} is there already and is no TREC run. Move it away or name another file.")
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        for query, doc, rank, score in run.select(*RUN).iter_rows():
            file.write(f"{query} Q0 {doc} {rank} {score!r} {tag}\n")


def check_run(run: pl.DataFrame, documents: Container[str], queries: Container[str], name: str = "run") -> None:
    """Refuse a run that names queries, or many documents, which the collection does not have."""
    for column, known, what, most in (
        ("doc", documents, "documents", MOST_UNKNOWN),
        ("query", queries, "queries", 0.0),
    ):
        strange = [value for value in run[column].unique(maintain_order=True) if value not in known]
        if strange and run[column].is_in(strange).sum() > most * run.height:
            raise PortrayalError(
                f"{name} names {len(strange)} {what} the collection does not have (first: {strange[0]!r}). "
                "Measure a run with the collection it was made on."
            )


def without_result(run: pl.DataFrame, queries: Container[str]) -> list[str]:
    """Return the queries that have no result in the run, in order: missing, never zero."""
    seen = set(run["query"].unique())
    return [query for query in queries if query not in seen]
