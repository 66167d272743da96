"""The slopes of a study; along an attribute whose manipulation check failed nothing is found."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from portrayal.audits.counterfactuals.checks import check_rows, failed_checks, first_warnings
from portrayal.audits.counterfactuals.ends import study_axes
from portrayal.audits.counterfactuals.measures.axis import KEY, with_poles
from portrayal.audits.counterfactuals.measures.measure import measure_counterfactuals
from portrayal.audits.counterfactuals.measures.occupations import world_rows
from portrayal.audits.counterfactuals.measures.rows import FACETS
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.tables import label_table
from portrayal.study.audit import Evidence, Measured
from portrayal.tables import results
from portrayal.text.formatting import plural


def measure(evidence: Evidence, settings: CounterfactualsSettings) -> Measured:
    """Measure the slopes, with what was failed or not checked at the top."""
    inputs, checks = evidence.inputs, evidence.inputs.get("checks")
    stimuli = study_axes(evidence.stimuli, settings)
    found = measure_counterfactuals(
        stimuli, evidence.responses, inputs.get("repeats", 1), settings.plain_concepts,
        failed_checks(checks), evidence.seed,
    )  # fmt: skip
    labels = label_table(found.tables["labels"], settings.plain_concepts)
    left_out = inputs.get("left_out", _nothing())
    tables = {
        **found.tables,
        "labels": labels,
        "left_out": left_out,
        "axes": with_poles(stimuli).select(*KEY).unique(maintain_order=True),
        **({} if checks is None else {"checks": checks}),
    }
    world = world_rows(labels, inputs["shares"], inputs["search"])
    extra = results([*world, *check_rows(checks)], FACETS, audit="counterfactuals")
    return replace(
        found,
        results=pl.concat([found.results, extra]),
        tables=tables,
        warnings=[*first_warnings(checks), *found.warnings],
        remarks=[*found.remarks, *_left_out(left_out)],
        pictures={name: value for name, value in inputs.items() if name.startswith("strip")},
    )


def _left_out(left_out: pl.DataFrame) -> list[str]:
    """Count who was left out, by reason; the file's name stands behind a colon."""
    reason = pl.col("reason").str.split(": ").list.first()
    counted = left_out.filter(pl.col("left_out")).group_by(reason).len().sort("reason")
    return [
        f"{plural(number, 'picture')} {'was' if number == 1 else 'were'} left out: {reason}."
        for reason, number in counted.iter_rows()
    ]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean})
