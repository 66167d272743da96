"""Stimuli of the search audit: queries, and the pole each leans to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.search.measures.clusters import read_wordings, tie
from portrayal.audits.search.measures.genderedness import query_scores, usable
from portrayal.audits.search.measures.quality import measure_named
from portrayal.audits.search.measures.scored_runs import check_system_names
from portrayal.audits.search.settings import SearchSettings
from portrayal.errors import PortrayalError
from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.text.collections import Collection, is_path, read_collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.direction import find_direction, score_words
from portrayal.text.vectors.space import WordSpace

STILL = 1e-12  # a lean that is only rounding


def open_collection(settings: SearchSettings, folder: Path, in_memory: bool = True) -> Collection:
    """Open the study's collection: by name, else a path that starts at the study's folder."""
    name = settings.collection
    return read_collection(folder / name if is_path(name) else name, in_memory=in_memory)


def check_queries(collection: Collection, queries: int) -> None:
    """Refuse a collection without queries."""
    if not queries:
        raise PortrayalError(
            f"collection {collection.name!r} has no queries. Expected a queries.tsv (id, tab, text) beside its documents."
        )


def check_quality(settings: SearchSettings) -> None:
    """Refuse an unknown measure of quality before any system is asked."""
    for name in settings.quality:
        measure_named(name)


def stimuli(study: Study) -> pl.DataFrame:
    """Return the collection's queries as stimuli."""
    check_system_names(system.name for system in study.systems)
    check_quality(study.settings)
    collection = open_collection(study.settings, study.folder)
    check_queries(collection, len(collection.queries))
    about = {"source": f"collection {collection.name}", "license": "as the collection", "consent": "none shown"}
    rows = [
        {
            "stimulus": query,
            "kind": "query",
            "content": text,
            # With the id: two queries of the same words may be judged, and answered by a run file, differently.
            "hash": hashlib.sha256(f"{query}\t{text}".encode()).hexdigest(),
            **about,
            "judged": bool(collection.relevant(query)),
        }
        for query, text in collection.queries.items()
    ]
    return pl.DataFrame(rows)


def pole_pairs(settings: SearchSettings) -> list[tuple[str, str]]:
    """Return the pairs that define the direction, the ten of gender by default."""
    return settings.pairs or list(read_lexicon("gender_pairs").iter_rows())


def groups(evidence: Evidence, settings: SearchSettings) -> pl.DataFrame:
    """Return the pole each query leans to by the study's first ruler."""
    queries, pairs = evidence.inputs["queries"], pole_pairs(settings)
    scored = sorted({word for words in queries["words"] for word in words if usable(word)})
    needed = {*scored, *(word for pair in pairs for word in pair)}  # of the vectors only these are opened
    needed |= {word.lower() for word in needed}
    _, name = evidence.inputs["vectors"][0]
    table = evidence.inputs["vectors_0"].filter(pl.col("word").is_in(list(needed)))
    space = WordSpace.build(name, table["word"], table["vector"].to_numpy())
    scores = score_words(space, find_direction(space, pairs, settings.direction), scored)
    known = {word: g for word, g in zip(scored, scores, strict=True) if not np.isnan(g)}
    leaning = query_scores(queries["words"], known)
    clusters = queries["cluster"] if "cluster" in queries.columns else [None] * queries.height
    unit = tie(read_wordings(zip(queries["words"], clusters, strict=True)))["unit"]
    high, low = settings.poles
    axis = pl.lit("gender" if settings.about_gender else f"{low} to {high}")
    table = pl.DataFrame({"stimulus": queries["query"], "unit": unit, "score": leaning}).filter(
        pl.col("score").is_not_nan()
    )
    # A whole cluster leans one way, and against the others: all queries of a collection may lie on one side of 0.
    table = table.with_columns(pl.col("score").mean().over("unit") - pl.col("score").mean())
    group = pl.when(pl.col("score") > 0).then(pl.lit(high)).otherwise(pl.lit(low))
    centred = table.filter(pl.col("score").abs() > STILL)
    return centred.select("stimulus", "score", axis=axis, group=group, unit=pl.col("unit").cast(pl.String).str.zfill(6))
