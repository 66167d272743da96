"""The slopes of a study, with failed manipulation checks at the top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.measure import measure_counterfactuals
from portrayal.audits.counterfactuals.measures.rows import Options
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.tables import check_rows, label_table, world_rows
from portrayal.runs.audit import Evidence, Measured
from portrayal.tables import results


def measure(evidence: Evidence, settings: CounterfactualsSettings) -> Measured:
    """Measure the slopes, and put failed manipulation checks at the top."""
    inputs = evidence.inputs
    method = inputs.get("method", "benjamini-hochberg")
    options = Options(
        settings.cluster, inputs.get("repeats", 1), settings.draws, evidence.seed, method=method
    )
    rows, tables, warnings = measure_counterfactuals(evidence.stimuli, evidence.responses, options)
    tables["labels"] = label_table(tables["labels"], settings.plain_concepts)
    checks = inputs.get("checks")
    tables |= {} if checks is None else {"checks": checks}
    tables |= {"left_out": inputs.get("left_out", _nothing())}
    world = world_rows(tables["labels"], inputs["shares"], inputs["search"], settings.poles)
    extra = results([*world, *check_rows(checks)], audit="counterfactuals")
    warnings = [*_top(inputs), *warnings, *_left_out(tables["left_out"])]
    pictures = {name: value for name, value in inputs.items() if name.startswith("strip_")}
    return Measured(pl.concat([rows, extra]), tables, warnings, pictures=pictures)


def _top(inputs: Mapping[str, Any]) -> list[str]:
    """Return what stands first in a report: checks that failed or were not done."""
    from portrayal.vision.faces.checks import failures

    if "checks" in inputs:
        return failures(inputs["checks"])
    return ["The series were made elsewhere: no manipulation check was done here."]


def _left_out(left_out: pl.DataFrame) -> list[str]:
    """Count who was left out, by reason."""
    counted = left_out.filter(pl.col("left_out")).group_by("reason").len().sort("reason")
    return [f"{number} picture(s) were left out: {reason}." for reason, number in counted.iter_rows()]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean})
