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
    tables |= {"left_out": told.get("left_out", _nothing())}
    world = world_rows(tables["labels"], told["shares"], told["search"], settings.poles)
    extra = results([*world, *check_rows(checks)], audit="counterfactuals")
    warnings = [*_top(told), *warnings, *_left_out(tables["left_out"])]
    pictures = {name: value for name, value in told.items() if name.startswith("strip_")}
    return Measured(pl.concat([rows, extra]), tables, warnings, pictures=pictures)


def _top(told: Mapping[str, Any]) -> list[str]:
    """Return what stands first in a report: checks that failed or were not done."""
    from portrayal.vision.faces.checks import failures

    if "checks" in told:
        return failures(told["checks"])
    return ["The series were made elsewhere: no manipulation check was done here."]


def _left_out(left_out: pl.DataFrame) -> list[str]:
    """Count who was left out, by reason."""
    counted = left_out.filter(pl.col("left_out")).group_by("reason").len().sort("reason")
    return [f"{number} picture(s) were left out: {reason}." for reason, number in counted.iter_rows()]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean})
