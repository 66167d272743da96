"""Whose questions may go unanswered: faces of either end of an axis, and of people who start in one group."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of, fill_poles
from portrayal.audits.counterfactuals.measures.presence import FACTORS, START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.runs.audit import GROUPS, Evidence, no_groups

NO_ANSWER = ("failed", "unparsable")  # and no refusal


def groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return whose questions may go unanswered: faces of either end of an axis, and of people who start in one group."""
    steps = _steps(evidence, settings)
    return pl.concat([no_groups(), *(_ends_of(steps, axis) for axis in axes_of(steps)), *_starts(steps)])


def silence_groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return those compared for silence: refusals along an axis have a slope, so its ends only where something else was lost."""
    if evidence.responses["status"].is_in(NO_ANSWER).any():
        return groups(evidence, settings)
    return pl.concat([no_groups(), *_starts(_steps(evidence, settings))])


def _steps(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    return study_axes(evidence.stimuli, settings).filter(pl.col("attribute").is_in(settings.attributes))


def _starts(steps: pl.DataFrame) -> Iterator[pl.DataFrame]:
    for attribute in sorted(set(steps["attribute"])) if START in steps.columns else []:
        mine = steps.filter(pl.col("attribute") == attribute).drop_nulls(START)
        yield _part(mine, f"starting {attribute}", pl.lit("that start as ") + pl.col(START))


def _ends_of(steps: pl.DataFrame, axis: Axis) -> pl.DataFrame:
    low, high = (f"made {end}" for end in axis.ends())
    edited = steps.filter(axis.where(), pl.col("value").is_not_null(), pl.col("value") != 0)
    side = pl.when(pl.col("value") < 0).then(pl.lit(low)).otherwise(pl.lit(high))
    return _part(edited, axis.title.replace(axis.attribute, f"the {axis.attribute} cue", 1), side)


def study_axes(stimuli: pl.DataFrame, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return the stimuli with the poles of race, taken from the study where the stimuli name none."""
    return fill_poles(stimuli, *settings.pairs[0])


def _part(stimuli: pl.DataFrame, axis: str, group: pl.Expr) -> pl.DataFrame:
    unit = pl.col("person").cast(FACTORS["person"])
    return stimuli.select("stimulus", axis=pl.lit(axis), group=group, unit=unit).select(*GROUPS)
