"""From recorded answers to decided results: the audit's measure, what was left unanswered, the family and its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.run.hypotheses import LATE, declared
from portrayal.run.silence import measure_silence, silent_systems, with_counts
from portrayal.stats.decisions.decision import NOT_MEASURABLE, decide
from portrayal.study.audit import Audit, Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.tables import REVIEWS, check, check_responses, check_results, check_stimuli

ROW_OF = {"tagger": "tag", "captioner": "caption", "encoder": "embedding", "ranker": "result", "generator": "label"}


def measure_evidence(study: Study, evidence: Evidence) -> Measured:
    """Measure, add what was left unanswered, correct over the declared family and decide what is found."""
    stem = get_audit(study.audit)
    checked = _checked(evidence, stem)
    measured = stem.measure(checked, study.settings)
    heard = _heard(checked.responses, stem)
    groups = (stem.silence_groups or stem.groups)(checked, study.settings)
    silence = measure_silence(heard, groups, stem.stem, stem.units, study.seed)
    rows = pl.concat([check_results(measured.results), silence], how="diagonal")
    rows, family = declared(study, rows, _family(study, stem, rows))
    silent = silent_systems(heard)
    decided = decide(rows, family, study.family.method, measured.differences, silent, study.seed)
    warnings = [LATE, *measured.warnings] if study.hypotheses_late else measured.warnings
    results = check_results(with_counts(decided, heard))
    return replace(measured, results=results, warnings=warnings)


def _heard(responses: pl.DataFrame, stem: Audit) -> pl.DataFrame:
    """Return the answers as silence is told of them: for some audits one without a label is an answer."""
    said = pl.col("status").replace("empty", "answered") if stem.empty_answers else pl.col("status")
    return responses.with_columns(said)


def _checked(evidence: Evidence, stem: Audit) -> Evidence:
    """Check the tables a measure is handed; the message names the audit's page."""
    hint = f"A {stem.stem} audit needs one row per {ROW_OF[stem.kind]}; see docs/{stem.stem}.md."
    reviews = evidence.reviews if evidence.reviews is None else check(evidence.reviews, REVIEWS, "reviews")
    stimuli, responses = check_stimuli(evidence.stimuli), check_responses(evidence.responses, stem.kind, hint)
    return replace(evidence, stimuli=stimuli, responses=responses, reviews=reviews)


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
