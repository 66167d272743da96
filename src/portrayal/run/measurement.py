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
from portrayal.run.languages import readable
from portrayal.run.silence import TESTS, measure_silence, silent_systems, with_counts
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, decide
from portrayal.study.audit import Audit, Evidence, Measured
from portrayal.study.registry import get_audit
from portrayal.study.research_questions import ResearchQuestion, question_keys
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


def declared(
    study: Study, rows: pl.DataFrame, measures: Sequence[str], tested_as: Mapping[str, str]
) -> tuple[pl.DataFrame, list[str]]:
    """Return results with rows outside the hypotheses marked exploratory, and the family's measures."""
    if not study.hypotheses:
        return rows, [*measures, *TESTS]
    picked = pl.Series([False] * rows.height)
    for hypothesis in study.hypotheses:
        where = {name: [value] if isinstance(value, str) else value for name, value in hypothesis.where.items()}
        where |= {"measure": with_tested(where["measure"], tested_as)} if "measure" in where else {}
        mine = rows.select(pl.all_horizontal(wanted(rows, where)).alias("picked")).to_series()
        if not mine.any() and NOT_MEASURABLE not in rows["decision"]:
            raise PortrayalError(
                f"the hypothesis {hypothesis.name!r} names no row of the results. Name rows by their columns: where = {{ measure = ... }}."
            )
        picked |= mine
    # The tests of silence are in every family.
    family = sorted({*TESTS, *rows.filter(picked)["measure"]})
    inside = pl.lit(False) if study.hypotheses_late else picked | rows["measure"].is_in(TESTS)
    marked = pl.when(inside).then("family").otherwise(pl.lit(EXPLORATORY))
    return rows.with_columns(family=marked), family


def with_tested(measures: Sequence[str], tested_as: Mapping[str, str]) -> list[str]:
    """Return the measures named, and those that are tested for them."""
    return [*measures, *(tested_as[name] for name in measures if name in tested_as)]


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
    every = replace(evidence, stimuli=stimuli, responses=responses, reviews=reviews)
    gate = readable(stem, every, study.settings)
    checked = replace(every, responses=gate.responses)
    measured = stem.measure(checked, study.settings)
    answers = as_answered(stem, with_content(checked.responses, stimuli))
    groups = (stem.silence_groups or stem.groups)(checked, study.settings)
    silence = measure_silence(answers, groups, stem.stem, stem.units, study.seed, study.unanswered_tolerance)
    parts = [check_results(measured.results), silence, gate.rows(stem.stem, with_content(responses, stimuli))]
    rows = pl.concat(parts, how="diagonal")
    rows, family = declared(study, rows, _family(study, stem, rows), stem.tested_as)
    silent = silent_systems(answers)
    families = families_of(study, rows, answers["system"].unique(), stem.research_questions)
    decided = decide(rows, family, study.family.method, measured.differences, silent, study.seed, families)
    warnings = [LATE, *measured.warnings] if study.hypotheses_late else measured.warnings
    results = check_results(with_counts(stem.settle(decided), answers))
    faults = {"faults": pl.concat([measured.tables["faults"], gate.faults])} if "faults" in measured.tables else {}
    remarks = [*measured.remarks, *(f"{system}: {count:,} {fault}." for system, fault, count, _ in gate.faults.rows())]
    return replace(measured, results=results, warnings=warnings, tables={**measured.tables, **faults}, remarks=remarks)


def families_of(
    study: Study, rows: pl.DataFrame, systems: pl.Series, questions: Sequence[ResearchQuestion] = ()
) -> pl.Series:
    """Return each row's family: its research question and its system, or two compared systems."""
    if study.family.of == "study":
        return pl.Series(["study"]).new_from_index(0, rows.height)
    others = [pl.col(name) for name in ("versus", "against") if name in rows.columns]
    compared = [pl.when(other.is_in(systems.implode())).then(other) for other in others]
    asked = question_keys(questions if study.family.of == "question" else (), rows)
    return rows.select(pl.concat_str("system", pl.coalesce(*compared, pl.lit("")), asked, separator="\n")).to_series()


def with_content(responses: pl.DataFrame, stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return responses with the hash of what was shown, one for each question."""
    shown = stimuli.select("stimulus", content=pl.coalesce(pl.col("hash").replace("", None), "stimulus"))
    return responses.join(shown, on="stimulus", how="left", maintain_order="left")


def as_answered(stem: Audit, responses: pl.DataFrame) -> pl.DataFrame:
    """Return responses; an answer without a label counts where the audit says so."""
    status = pl.col("status").replace("empty", "answered") if stem.empty_answers else pl.col("status")
    return responses.with_columns(status)


def _family(study: Study, stem: Audit, results: pl.DataFrame) -> Sequence[str]:
    """Return the measures corrected together; a misspelt one must not go uncorrected."""
    if study.family.measures is None:
        return stem.family
    # Where something cannot be measured a name may be absent for that: it is not known to be misspelt.
    if NOT_MEASURABLE in results["decision"]:
        return with_tested(study.family.measures, stem.tested_as)
    known = sorted({*results["measure"].drop_nulls(), *stem.family})
    for name in study.family.measures:
        if name not in known:
            raise PortrayalError(
                f"family.measures names {name!r}, which is not measured here.{nearest(name, known)}"
                f" Known: {', '.join(known)}."
            )
    return with_tested(study.family.measures, stem.tested_as)
