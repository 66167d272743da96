"""From recorded answers to decided results: measure, unanswered questions, family, decisions."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, check_name, nearest
from portrayal.recorder.ledger import Ledger
from portrayal.run.silence import DIFFERENCE, measure_silence, silent_systems, with_counts
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, decide
from portrayal.study.audit import Audit, Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.tables import NOUNS, REVIEWS, check, check_responses, check_results, check_stimuli

FACT = "hypotheses"
LATE = (
    "The study's hypotheses were written or changed after the first answers had come: nothing here is confirmatory. Record into a"
    " new folder to test them."
)


def note_hypotheses(ledger: Ledger, study: Study) -> None:
    """Note hypotheses and time before anything is asked; later they stay as noted."""
    if not ledger.was_asked():
        plain = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        ledger.put_fact(FACT, {"sha256": _hash(study), "declared": plain})


def are_late(study: Study, noted: Any) -> bool:
    """Return True where the hypotheses are not those noted before the first answer."""
    return bool(study.hypotheses) and (not isinstance(noted, dict) or noted.get("sha256") != _hash(study))


def declared(study: Study, rows: pl.DataFrame, measures: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return results with rows outside the hypotheses marked exploratory, and the family's measures."""
    if not study.hypotheses:
        return rows, [*measures, DIFFERENCE]
    picked = pl.Series([False] * rows.height)
    for hypothesis in study.hypotheses:
        mine = rows.select(pl.all_horizontal(wanted(rows, hypothesis.where)).alias("picked")).to_series()
        if not mine.any() and NOT_MEASURABLE not in rows["decision"]:
            raise PortrayalError(
                f"the hypothesis {hypothesis.name!r} names no row of the results. Name rows by their columns: where = {{ measure = ... }}."
            )
        picked |= mine
    # The test of silence is in every family.
    family = sorted({DIFFERENCE, *rows.filter(picked)["measure"]})
    inside = pl.lit(False) if study.hypotheses_late else picked | (rows["measure"] == DIFFERENCE)
    marked = pl.when(inside).then("family").otherwise(pl.lit(EXPLORATORY))
    return rows.with_columns(family=marked), family


def wanted(rows: pl.DataFrame, where: Mapping[str, str | list[str]]) -> list[pl.Expr]:
    """Return conditions for the rows that `where` names by their columns."""
    for column in where:
        check_name(column, rows.columns, "column of the results")
    values = {column: [value] if isinstance(value, str) else value for column, value in where.items()}
    return [pl.col(column).cast(pl.String).is_in(listed).fill_null(False) for column, listed in values.items()]


def _hash(study: Study) -> str:
    plain = [hypothesis.model_dump() for hypothesis in study.hypotheses]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def measure_evidence(study: Study, evidence: Evidence) -> Measured:
    """Measure, test unanswered questions, correct over the family and decide."""
    stem = get_audit(study.audit)
    hint = f"A {stem.stem} audit needs one row per {NOUNS[stem.kind]}; see docs/{stem.stem}.md."
    reviews = evidence.reviews if evidence.reviews is None else check(evidence.reviews, REVIEWS, "reviews")
    stimuli, responses = check_stimuli(evidence.stimuli), check_responses(evidence.responses, stem.kind, hint)
    checked = replace(evidence, stimuli=stimuli, responses=responses, reviews=reviews)
    measured = stem.measure(checked, study.settings)
    # For some audits an answer without a label is an answer.
    status = pl.col("status").replace("empty", "answered") if stem.empty_answers else pl.col("status")
    answers = checked.responses.with_columns(status)
    groups = (stem.silence_groups or stem.groups)(checked, study.settings)
    silence = measure_silence(answers, groups, stem.stem, stem.units, study.seed)
    rows = pl.concat([check_results(measured.results), silence], how="diagonal")
    rows, family = declared(study, rows, _family(study, stem, rows))
    silent = silent_systems(answers)
    decided = decide(rows, family, study.family.method, measured.differences, silent, study.seed)
    warnings = [LATE, *measured.warnings] if study.hypotheses_late else measured.warnings
    results = check_results(with_counts(decided, answers))
    return replace(measured, results=results, warnings=warnings)


def _family(study: Study, stem: Audit, results: pl.DataFrame) -> Sequence[str]:
    """Return the measures corrected together; a misspelt one must not go uncorrected."""
    if study.family.measures is None:
        return stem.family
    # Where something cannot be measured a name may be absent for that: it is not known to be misspelt.
    if NOT_MEASURABLE in results["decision"]:
        return study.family.measures
    known = sorted({*results["measure"].drop_nulls(), *stem.family})
    for name in study.family.measures:
        if name not in known:
            raise PortrayalError(
                f"family.measures names {name!r}, which is not measured here.{nearest(name, known)}"
                f" Known: {', '.join(known)}."
            )
    return study.family.measures
