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
    told = evidence.inputs
    method = told.get("method", "benjamini-hochberg")
    options = Options(settings.cluster, told.get("repeats", 1), settings.draws, evidence.seed, method=method)
    rows, tables, warnings = measure_counterfactuals(evidence.stimuli, evidence.responses, options)
    tables["labels"] = label_table(tables["labels"], settings.plain_concepts)
    checks = told.get("checks")
    tables |= {} if checks is None else {"checks": checks}
    tables |= {"left_out": told.get("left_out", _nothing()), "strips": _strips(evidence.stimuli)}
    tables["poles"] = pl.DataFrame({"pole": settings.poles}, schema={"pole": pl.String})
    tables["chosen"] = pl.DataFrame({"label": settings.labels}, schema={"label": pl.String})
    world = world_rows(tables["labels"], told["shares"], told["search"], settings.poles)
    extra = results([*world, *check_rows(checks)], audit="counterfactuals")
    return Measured(
        pl.concat([rows, extra]), tables, [*_top(told), *warnings, *_left_out(tables["left_out"])]
    )


def _top(told: Mapping[str, Any]) -> list[str]:
    """Return what stands first in a report: checks that failed or were not done."""
    from portrayal.vision.faces.checks import failures

    if "checks" in told:
        return failures(told["checks"])
    elsewhere = "The series were made elsewhere: no manipulation check was done here."
    gone = "The folder of series is not there: who was left out of it is not known."
    return [elsewhere] if "left_out" in told else [elsewhere, gone]


def _strips(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return what strips may be drawn from: generated people only, whatever else the study shows."""
    generated = stimuli.filter(pl.col("consent") == "generated")
    return generated.select("picture", "person", "attribute", "value", "condition", "content", "stimulus")


def _left_out(left_out: pl.DataFrame) -> list[str]:
    """Count who was left out, by reason."""
    counted = left_out.filter(pl.col("left_out")).group_by("reason").len().sort("reason")
    return [f"{number} picture(s) were left out: {reason}." for reason, number in counted.iter_rows()]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean})
