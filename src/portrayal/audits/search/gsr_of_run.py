"""The GSR of one run file, measured as the audit measures it: what `portrayal gsr` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.search.inputs import inputs_of_listed, open_inputs, stimuli
from portrayal.audits.search.measures.coverage import coverage, faults, known_words
from portrayal.audits.search.measures.quality import mean_quality
from portrayal.audits.search.measures.reinforcement import reinforcement
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, ScoredRuns, score_runs
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import read_responses
from portrayal.run.recording import ask, write_questions
from portrayal.study.audit import Evidence
from portrayal.study.questions import plan_work
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import finite
from portrayal.text.collections import check_run, read_run

RUN = "run"  # what the run file is called as a system


def gsr_of_run(
    collection: Path | str, run: Path | str, vectors: str = "glove", seed: int = 0, **settings: Any
) -> dict[str, Any]:
    """Return the gender stereotype reinforcement (GSR) of a run, with the numbers the search audit gives.

    Of the collection only the documents that the run lists or the judgments call relevant are held.

    Parameters
    ----------
    collection
        A folder or file of documents, queries and judgments, or a generated collection by name ("toy").
    run
        A TREC run made on it.
    vectors
        The measuring vectors, by name or path.
    seed
        Of the test's sign flips.
    **settings
        Further settings of the search audit: `cutoff` (K for queries without a relevant document), `discount`, `stop`, `direction`,
        `inflected`, and `quality`, measures of the ranking's quality to add.

    Returns
    -------
    dict
        `gsr`, `low`, `high`, `p`, `queries` (how many could be used), `perfect` (GSR of the perfect system), `difference`
        and `ratio` (against the perfect system, over the queries both can be measured on), `relative` (the ratio less
        1), `vectors`, `coverage` (the share of the defining pairs and of the words of queries and documents that they have),
        `notes`, and `unused` (queries that could not be used, with the reason); with `quality` the mean over judged
        queries of each measure. None where there is no number.

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
    chosen = {"collection": str(collection), "vectors": [vectors], **settings}
    study = ranked_study(chosen, seed, [{"name": RUN, "use": f"run:{run}"}])
    results, shown = read_run(run), stimuli(study)
    kept = inputs_of_listed(study, results["doc"])
    check_run(results, set(kept["documents"]["doc"]), set(shown["stimulus"]), str(run))
    inputs = open_inputs(kept, study.settings)
    scored = score_runs(Evidence(shown, responses_of(study, shown), inputs, seed=seed), study.settings)
    numbers = _numbers(reinforcement(scored))
    return {
        **numbers,
        "notes": [*inputs["gaps"], *_ruler_notes(scored), *numbers["notes"]],
        "coverage": {part: some / whole for part, (some, whole) in known_words(scored.first, scored).items() if whole},
        "vectors": scored.first.space.name,
        **_quality(scored, settings.get("quality", ())),
    }


def _ruler_notes(scored: ScoredRuns) -> list[str]:
    """Say what the vectors lack, and first that they cannot measure this collection where they lack too much."""
    unfit = [f"not measurable: {reason}" for reason in faults(scored).values()]
    lacking = coverage(scored)
    return [*unfit, *lacking.warnings, *lacking.remarks]


def _quality(scored: ScoredRuns, names: Sequence[str]) -> dict[str, Any]:
    """Return the means of the quality measures that were asked for."""
    if not names:
        return {}
    means = mean_quality(scored.runs[RUN], scored.history.qrels, measures=tuple(names))
    return {"quality": {name: finite(value) for name, value in means.items()}}


def ranked_study(settings: dict[str, Any], seed: int, systems: Sequence[dict[str, str]] = ()) -> Study:
    """Return a study of rankings that are there already, as run files or as a table; paths start in the working directory."""
    return make_study(
        {
            "name": RUN,
            "audit": "search",
            "seed": seed,
            "systems": list(systems) or [{"name": RUN, "use": "bm25"}],  # a study must name one
            "search": {**settings, "validate_direction": False},
        }
    )


def responses_of(study: Study, shown: pl.DataFrame) -> pl.DataFrame:
    """Ask a study's run files every query, and read their answers; nothing is written to disk."""
    with Ledger(Path(":memory:")) as ledger:
        work = plan_work(study, shown)
        write_questions(ledger, work)
        ask(ledger, work)
        return read_responses(ledger.entries(), shown, "ranker")


def _numbers(measured: PartialResult) -> dict[str, Any]:
    """Take the numbers from the audit's own rows; a row that the audit does not write has none."""
    rows = {(row["measure"], row["system"]): row for row in measured.rows}
    own, perfect = rows["gsr", RUN], rows.get(("gsr", PERFECT), {})
    difference, ratio = (rows.get((name, RUN), {}) for name in ("gsr_difference", "gsr_ratio"))
    times = ratio.get("value")
    left_out = measured.tables["queries"].filter(pl.col("system") == RUN, pl.col("reason") != "")
    return {
        "gsr": own["value"],
        **{name: own[name] for name in ("low", "high", "p")},
        "queries": own["n"],
        "perfect": perfect.get("value"),
        "relative": None if times is None else times - 1,
        "difference": difference.get("value"),
        "ratio": times,
        "notes": [row["note"] for row in (own, ratio) if row.get("note")],
        "unused": left_out.select("query", "reason").to_dicts(),
    }
