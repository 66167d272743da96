"""The measure of the search audit: its parts put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.inputs import document_samples, open_inputs
from portrayal.audits.search.measures.comparison import agreement, comparison
from portrayal.audits.search.measures.coverage import coverage, faults, other_language
from portrayal.audits.search.measures.reinforcement import most_gendered, reinforcement
from portrayal.audits.search.measures.representation import ARAB, EXPOSURE, REPRESENTATION, representation_bars
from portrayal.audits.search.measures.scored_runs import REFERENCES, PartialResult, make_rulers, score_answers
from portrayal.audits.search.measures.specifications import specifications
from portrayal.audits.search.measures.validation import failed_checks, validation
from portrayal.audits.search.settings import SearchSettings
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.study.audit import Basis, Evidence, Measured
from portrayal.tables import results

FAMILY = ("gsr", "gsr_difference", "gsr_change")
RULED = (*FAMILY, "over_representation_trend")  # tests that are only as good as their ruler
QUERY_MEASURES = (EXPOSURE, ARAB, REPRESENTATION)
FACETS = ("ruler", "magnitude", "test", "collection", "word_list", "reference", "queries")


def measure(evidence: Evidence, settings: SearchSettings) -> Measured:
    """Measure every system; see docs/search.md for each measure."""
    known = open_inputs(evidence.inputs, settings)
    history, pairs = known["history"], known["pairs"]
    rulers = make_rulers(known["spaces"], pairs, settings.direction, history)
    further = {"seed": evidence.seed, "mentions": known["mentions"], "texts": known["texts"]}
    scored = score_answers(evidence.responses, history, rulers, settings, **further)
    by_query = [
        row
        for system in scored.runs
        for one in QUERY_MEASURES
        if one.applies(scored)
        for row in one.rows(scored, system, one.per_query(scored, system))
    ]
    parts = [
        reinforcement(scored),
        comparison(scored),
        PartialResult(by_query, representation_bars(scored)),
        agreement(scored),
        specifications(scored, pairs),
        validation(scored, known["checks"], pairs),
        coverage(scored),
        most_gendered(scored, known["example"]),
    ]
    rows = [row for part in parts for row in part.rows]
    lacking = {**failed_checks(rows), **faults(scored)}
    differences = [
        (place, f"{unit:06d}", part)  # each query's part in a row's slope
        for place, row in enumerate(rows)
        for unit, part in zip(*map(np.ndarray.tolist, row.pop("influence", ())), strict=True)
    ]
    schema = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
    for row in rows:  # a test whose ruler cannot measure this collection
        if row["measure"] in RULED and row.get("ruler") in lacking:
            row |= {"decision": NOT_MEASURABLE, "reason": lacking[row["ruler"]]}
    return Measured(
        results(rows, facets=FACETS, audit="search"),
        {name: table for part in parts for name, table in part.tables.items()},
        [*known["gaps"], *(warning for part in parts for warning in part.warnings)],
        differences=pl.DataFrame(differences, schema=schema, orient="row"),
        remarks=[remark for part in parts for remark in part.remarks],
    )


def unread(evidence: Evidence, settings: SearchSettings) -> dict[str, str]:
    """Return all systems where queries or documents are in other languages than the vectors."""
    documents = document_samples(evidence.inputs) if evidence.inputs else []
    reason = other_language(evidence.stimuli["content"].to_list(), documents, settings.languages)
    return dict.fromkeys(evidence.responses["system"].unique(maintain_order=True), reason) if reason else {}


def basis(row: Mapping[str, Any], evidence: Evidence, settings: SearchSettings) -> Basis:
    """Return the lists of a row's system and of the one it is compared with."""
    compared = row["versus"] if row["versus"] not in (None, *REFERENCES) else None
    return Basis(("versus",), systems=[compared]) if compared else Basis()
