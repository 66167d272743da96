"""Slopes of a study; along an attribute whose manipulation check failed nothing is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.checks import check_rows, failed_checks, first_warnings
from portrayal.audits.counterfactuals.measures.axis import KEY, axes_of, fill_poles, with_poles
from portrayal.audits.counterfactuals.measures.measure import measure_counterfactuals
from portrayal.audits.counterfactuals.measures.occupations import world_rows
from portrayal.audits.counterfactuals.measures.presence import FACTORS, START
from portrayal.audits.counterfactuals.measures.rows import FACETS
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.tables import label_table
from portrayal.pictures.series.folder import LEFT_OUT_COLUMNS
from portrayal.study.audit import GROUPS, Basis, Evidence, Measured, basis_of, no_groups
from portrayal.tables import results
from portrayal.text.formatting import plural


def measure(evidence: Evidence, settings: CounterfactualsSettings) -> Measured:
    """Measure the slopes, with what was failed or not checked at the top."""
    inputs, checks = evidence.inputs, evidence.inputs.get("checks")
    stimuli = fill_poles(evidence.stimuli, *settings.pairs[0])
    measured = measure_counterfactuals(
        stimuli, evidence.responses, inputs.get("repeats", 1), settings.plain_concepts,
        failed_checks(checks), evidence.seed,
    )  # fmt: skip
    labels = label_table(measured.tables["labels"], settings.plain_concepts)
    left_out = inputs.get("left_out", pl.DataFrame(schema=LEFT_OUT_COLUMNS))
    axes = with_poles(stimuli).select(*KEY).unique(maintain_order=True)
    tables = {**measured.tables, "labels": labels, "left_out": left_out, "axes": axes}
    tables |= {} if checks is None else {"checks": checks}
    world = world_rows(labels, inputs["shares"], inputs["search"])
    extra = results([*world, *check_rows(checks)], FACETS, audit="counterfactuals")
    warnings, remarks = [*first_warnings(checks), *measured.warnings], [*measured.remarks, *_left_out(left_out)]
    pictures = {name: value for name, value in inputs.items() if name.startswith("strip")}
    whole = pl.concat([measured.results, extra])
    return replace(measured, results=whole, tables=tables, warnings=warnings, remarks=remarks, pictures=pictures)


def _left_out(left_out: pl.DataFrame) -> list[str]:
    """Count who was left out, by reason; the file's name stands behind a colon."""
    reason = pl.col("reason").str.split(": ").list.first()
    counted = left_out.filter(pl.col("left_out")).group_by(reason).len().sort("reason")
    return [
        f"{plural(number, 'picture')} {'was' if number == 1 else 'were'} left out: {reason}."
        for reason, number in counted.iter_rows()
    ]


def groups(evidence: Evidence, settings: CounterfactualsSettings, refused: bool = True) -> pl.DataFrame:
    """Return faces of either end of an axis, and people by starting group."""
    steps = fill_poles(evidence.stimuli, *settings.pairs[0]).filter(pl.col("attribute").is_in(settings.attributes))
    parts = [no_groups() if refused else no_groups().with_columns(without=pl.lit("refused"))]
    for axis in axes_of(steps):
        low, high = (f"made {end}" for end in axis.ends())
        edited = steps.filter(axis.where(), pl.col("value").is_not_null(), pl.col("value") != 0)
        side = pl.when(pl.col("value") < 0).then(pl.lit(low)).otherwise(pl.lit(high))
        ends = _part(edited, axis.title.replace(axis.attribute, f"the {axis.attribute} cue", 1), side)
        parts.append(ends if refused else ends.with_columns(without=pl.lit("refused")))
    for attribute in sorted(set(steps["attribute"])) if START in steps.columns else []:
        mine = steps.filter(attribute=attribute).drop_nulls(START)
        parts.append(_part(mine, f"starting {attribute}", pl.lit("that start as ") + pl.col(START)))
    return pl.concat(parts, how="diagonal")


def silence_groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return the groups compared for silence; ends without refusals, whose slope is tested."""
    return groups(evidence, settings, refused=False)


def basis(row: Mapping[str, Any], evidence: Evidence, settings: CounterfactualsSettings) -> Basis:
    """Return the faces that a row rests on: of its axis, step and label."""
    factors = {"attribute": "attribute", "pole_low": "pole_low", "pole_high": "pole_high", "step": "value"}
    starts = {"group": START} if START in evidence.stimuli.columns else {}
    return basis_of(row, {**factors, **starts}, label="label")


def _part(stimuli: pl.DataFrame, axis: str, group: pl.Expr) -> pl.DataFrame:
    unit = pl.col("person").cast(FACTORS["person"])
    return stimuli.select("stimulus", axis=pl.lit(axis), group=group, unit=unit).select(*GROUPS)
