"""Groups of faces that are compared for unanswered questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of, fill_poles
from portrayal.audits.counterfactuals.measures.presence import FACTORS, START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.study.audit import GROUPS, Basis, Evidence, basis_of, no_groups


def groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return faces of either end of an axis, and people by starting group."""
    steps = _steps(evidence, settings)
    return pl.concat([_ends(steps), _starts(steps)])


def silence_groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return the groups compared for silence; ends without refusals, whose slope is tested."""
    steps = _steps(evidence, settings)
    return pl.concat([_ends(steps).with_columns(without=pl.lit("refused")), _starts(steps)], how="diagonal")


def basis(row: Mapping[str, Any], evidence: Evidence, settings: CounterfactualsSettings) -> Basis:
    """Return the faces that a row rests on: of its axis, at its step, with its label."""
    factors = {"attribute": "attribute", "pole_low": "pole_low", "pole_high": "pole_high", "step": "value"}
    starts = {"group": START} if START in evidence.stimuli.columns else {}
    return basis_of(row, {**factors, **starts}, label="label")


def _steps(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    return study_axes(evidence.stimuli, settings).filter(pl.col("attribute").is_in(settings.attributes))


def _starts(steps: pl.DataFrame) -> pl.DataFrame:
    attributes = sorted(set(steps["attribute"])) if START in steps.columns else []
    return pl.concat([no_groups(), *(_starts_of(steps, attribute) for attribute in attributes)])


def _starts_of(steps: pl.DataFrame, attribute: str) -> pl.DataFrame:
    mine = steps.filter(pl.col("attribute") == attribute).drop_nulls(START)
    return _part(mine, f"starting {attribute}", pl.lit("that start as ") + pl.col(START))


def _ends(steps: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([no_groups(), *(_ends_of(steps, axis) for axis in axes_of(steps))])


def _ends_of(steps: pl.DataFrame, axis: Axis) -> pl.DataFrame:
    low, high = (f"made {end}" for end in axis.ends())
    edited = steps.filter(axis.where(), pl.col("value").is_not_null(), pl.col("value") != 0)
    side = pl.when(pl.col("value") < 0).then(pl.lit(low)).otherwise(pl.lit(high))
    return _part(edited, axis.title.replace(axis.attribute, f"the {axis.attribute} cue", 1), side)


def study_axes(stimuli: pl.DataFrame, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return the stimuli with the study's poles of race where they name none."""
    return fill_poles(stimuli, *settings.pairs[0])


def _part(stimuli: pl.DataFrame, axis: str, group: pl.Expr) -> pl.DataFrame:
    unit = pl.col("person").cast(FACTORS["person"])
    return stimuli.select("stimulus", axis=pl.lit(axis), group=group, unit=unit).select(*GROUPS)
