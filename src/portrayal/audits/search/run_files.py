"""Run files made by any ranker (`portrayal rank`) and measured without a study (`portrayal gsr`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.search.inputs import open_spaces, read_history, wanted_words
from portrayal.audits.search.measures import scored_runs
from portrayal.audits.search.measures.coverage import coverage, faults, known_words
from portrayal.audits.search.measures.history import History
from portrayal.audits.search.measures.quality import mean_quality
from portrayal.audits.search.measures.reinforcement import short_lists, slope_rows
from portrayal.audits.search.measures.scored_runs import PERFECT, ScoredRuns, check_system_names, make_rulers
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.stimuli import check_quality, check_queries, open_collection, pole_pairs
from portrayal.edges.console import track
from portrayal.errors import PortrayalError, check_name
from portrayal.settings import validate
from portrayal.systems.core.registry import SYSTEMS, open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.tables import check, finite
from portrayal.text.collections import Collection, RollCall, check_run, read_run, without_result, write_run

RUN = "run"  # the run file's name as a system
HERE = Path()
COLUMNS = {"query": pl.String, "doc": pl.String, "rank": pl.Int64}


def rank_collection(
    collection: Path | str,
    ranker: str = "bm25",
    depth: int = 1000,
    out: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = True,
    kept: Path | str | None = None,
) -> tuple[Path, list[str]]:
    """Run a ranker over a collection and write a TREC run.

    Parameters
    ----------
    collection, ranker, settings
        Anything `read_collection` reads, a ranker of portrayal-rankers such as "bm25", and the ranker's settings.
    depth, out
        The most results of a query; the run file, by default `NAME.RANKER.run` in the working directory.
    quiet, kept
        Whether to show no progress; a folder to keep the index in for the next time.

    Returns
    -------
    tuple
        The path of the run, and lines: what the collection lacks, and each query without a result.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import rank_collection
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, without_result = rank_collection("toy", "bm25", depth=2, out=Path(folder) / "toy.run")
    ...     print(path.read_text().splitlines()[0].split()[:4], without_result)
    ['stonemason', 'Q0', 'stonemason_male', '1'] []
    """
    if not isinstance(collection, str | PathLike):
        raise PortrayalError(f"{type(collection).__name__} given for a collection. Expected a path or a name.")
    parameters = {"collection": str(collection), "depth": depth, **(settings or {})}
    check_name(ranker, [name for name, entry in SYSTEMS.items() if entry.package and entry.kind == "ranker"], "ranker")
    system: Any = open_system(SystemSettings(name=ranker, use=ranker, parameters=parameters), Path(), "ranker")
    opened = system.searchable.collection
    path = Path(out) if out is not None else Path(f"{opened.name}.{ranker}.run")
    if not opened.queries:
        raise PortrayalError(f"collection {opened.name!r} has no queries. Put queries.tsv (id, tab, text) beside it.")
    if not path.parent.is_dir():
        raise PortrayalError(f"no folder {path.parent} to write {path.name} into. Make it first.")
    roll = RollCall(opened)
    tracked = replace(
        system,
        track=lambda documents: track(roll.watch(documents), "documents", quiet=quiet),
        index_folder=Path(kept) if kept is not None else None,
    )
    run = tracked.run(opened.queries)
    write_run(run, path, ranker)
    missing = without_result(run, opened.queries)
    unanswered = [f"query {query!r} has no result: no usable word of it is in the collection" for query in missing]
    return path, [*roll.says(), *unanswered]


def score_runs(
    history: History | Collection | Path | str,
    runs: Mapping[str, pl.DataFrame | Path | str],
    vectors: str = "glove",
    **settings: Any,
) -> dict[str, pl.DataFrame]:
    """Return the genderedness of every query and list of run files.

    Parameters
    ----------
    history
        The collection the runs were made on: a path, a generated one by name ("toy") or a `Collection`, of which only documents
        that are listed or relevant are held; or a `History` (`portrayal.audits.search.inputs.make_history`).
    runs
        Each run by its name: a TREC run file, or a table of `query`, `doc` and `rank`.
    vectors, **settings
        The measuring vectors, by name or path; `cutoff`, `discount`, `stop`, `direction` and `inflected` of the search audit.

    Returns
    -------
    dict
        A table for each run, and one for the perfect system under "perfect", one row a query: `query`, `query_score`,
        `list_score`, `documents` (in the list, after the cut), `unscored` (those without a scored word), `reason` (why the
        query cannot be used), `unit` (its cluster) and `shared` (what it shares across clusters). `gsr` gives a table's slope.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import gsr, rank_collection, score_runs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run, _ = rank_collection("toy", "stereotypical", out=Path(folder) / "toy.run")
    ...     tables = score_runs("toy", {"mine": run})
    >>> gsr(tables["mine"]).value > 0.5, abs(round(gsr(tables["perfect"]).value, 6))
    (True, 0.0)
    """
    tables = {name: run_of_any(run, name) for name, run in runs.items()}
    check_system_names(tables)
    chosen = own_settings("in memory" if isinstance(history, History) else history, vectors, settings)
    scored, _ = _scored(history, tables, chosen)
    for name, fault in scored.unusable.items():
        raise PortrayalError(f"the run {name!r} is no ranking: {fault}.")
    return dict(scored.tables[vectors])


def gsr_of_run(
    collection: Collection | Path | str,
    run: pl.DataFrame | Path | str,
    vectors: str = "glove",
    seed: int = 0,
    **settings: Any,
) -> dict[str, Any]:
    """Return the gender stereotype reinforcement (GSR) of a run, as the search audit does.

    Parameters
    ----------
    collection, run
        A path, a generated collection by name ("toy") or a `Collection`, of which only documents that are listed or relevant are
        held; and a run made on it: a TREC run file, or a table of `query`, `doc` and `rank`.
    vectors, seed, **settings
        The measuring vectors, by name or path; the seed of sign flips; `cutoff`, `discount`, `stop`, `direction`, `inflected` of
        the search audit, and `quality`, measures of the ranking's quality to add.

    Returns
    -------
    dict
        `gsr`, `low`, `high`, `p`, `queries` (how many could be used), `clusters` (of them), `perfect` (GSR of the perfect
        system); over the queries both have `difference` with `difference_low`, `difference_high`, `difference_p` and
        `difference_queries`, `ratio` and `relative` (the ratio less 1); `vectors`, `coverage` (what they know of the defining
        pairs and words), `notes`, `unused` (queries with the reason), and `quality`. None where there is no number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import gsr_of_run, rank_collection
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run, _ = rank_collection("toy", "stereotypical", out=Path(folder) / "toy.run")
    ...     found = gsr_of_run("toy", run)
    >>> found["gsr"] > 0.5, found["queries"], found["unused"]
    (True, 20, [])
    """
    chosen, table = own_settings(collection, vectors, settings), run_of_any(run)
    scored, gaps = _scored(collection, {RUN: table}, chosen, seed, str(run) if isinstance(run, str | PathLike) else RUN)
    for fault in scored.unusable.values():
        raise PortrayalError(f"{run if isinstance(run, str | PathLike) else 'the run'} is no ranking: {fault}.")
    numbers, lacking, known = _numbers(scored), coverage(scored), known_words(scored.first, scored)
    unfit = [f"not measurable: {reason}" for reason in faults(scored).values()]
    wanted = tuple(settings.get("quality", ()))
    means = mean_quality(scored.runs[RUN], scored.history.qrels, measures=wanted) if wanted else {}
    return {
        **numbers,
        "notes": [*gaps, *unfit, *lacking.warnings, *lacking.remarks, *numbers["notes"], *short_lists(scored)],
        "coverage": {part: some / whole for part, (some, whole) in known.items() if whole},
        "vectors": scored.first.space.name,
        **({"quality": {name: finite(value) for name, value in means.items()}} if wanted else {}),
    }


def run_of_any(run: Any, name: str = RUN) -> pl.DataFrame:
    """Return a run from a TREC run file or a table."""
    if isinstance(run, str | PathLike):
        return read_run(Path(run))
    return check(run, COLUMNS, f"the run {name!r}", "Expected a TREC run file, or a table of query, doc and rank.")


def own_settings(collection: Collection | Path | str, vectors: str, settings: Mapping[str, Any]) -> SearchSettings:
    """Return the audit's settings of runs that are measured without a study."""
    if not isinstance(collection, str | PathLike | Collection):
        raise PortrayalError(
            f"{type(collection).__name__} given for a collection. Expected a path, a name or a Collection."
        )
    name = collection.name if isinstance(collection, Collection) else str(collection)
    own = {"collection": name, "vectors": [vectors], **settings, "validate_direction": False}
    chosen: SearchSettings = validate(SearchSettings, own, "[search]")
    check_quality(chosen)
    return chosen


def _scored(
    history: History | Collection | Path | str,
    runs: Mapping[str, pl.DataFrame],
    settings: SearchSettings,
    seed: int = 0,
    name: str | None = None,
) -> tuple[ScoredRuns, list[str]]:
    """Score runs and the perfect system; also return what the collection lacks."""
    gaps: list[str] = []
    if not isinstance(history, History):  # a big collection is not held: only listed and relevant documents are read
        collection = history if isinstance(history, Collection) else open_collection(settings, HERE)
        check_queries(collection, len(collection.queries))
        roll = RollCall(collection)
        relevant = (doc for query in collection.queries for doc in collection.relevant(query))
        listed = (doc for run in runs.values() for doc in run["doc"])
        history = read_history(collection, settings, HERE, roll, {*listed, *relevant})
        gaps = roll.says()
    for system, run in runs.items():
        check_run(run, history.bags.row_of.keys(), history.queries.keys(), name or system)
    spaces = open_spaces(settings, HERE, wanted_words(history, settings))
    rulers = make_rulers(spaces, pole_pairs(settings), settings.direction, history)
    first = {(system, 0): run for system, run in runs.items()}
    return scored_runs.score_runs(history, first, rulers, settings, seed, references=(PERFECT,)), gaps


def _numbers(scored: ScoredRuns) -> dict[str, Any]:
    """Take the numbers from the audit's own rows."""
    rows = {(row["measure"], row["system"]): row for row, _ in slope_rows(scored)}
    own, perfect = rows["gsr", RUN], rows.get(("gsr", PERFECT), {})
    difference, ratio = (rows.get((name, RUN), {}) for name in ("gsr_difference", "gsr_ratio"))
    times, table = ratio.get("value"), scored.tables[scored.first.name][RUN]
    return {
        "gsr": own["value"],
        **{name: own[name] for name in ("low", "high", "p")},
        "queries": own["n"],
        "clusters": table.drop_nulls(["query_score", "list_score"])["unit"].n_unique(),
        "perfect": perfect.get("value"),
        "relative": None if times is None else times - 1,
        "difference": difference.get("value"),
        **{f"difference_{name}": difference.get(name) for name in ("low", "high", "p")},
        "difference_queries": difference.get("n"),
        "ratio": times,
        "notes": [row["note"] for row in (own, ratio) if row.get("note")],
        "unused": table.filter(pl.col("reason") != "").select("query", "reason").to_dicts(),
    }
