"""The two ends of an attribute in words: what was done to a face, and towards whom."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.audits.counterfactuals.measures.presence import FACTORS, START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.runs.audit import GROUPS, Evidence, no_groups


def ends(attribute: str, poles: Sequence[str]) -> tuple[str, str]:
    """Return what a face below and above the centre of an attribute was made to be.

    Examples
    --------
    >>> ends("gender", [])
    ('more feminine', 'more masculine')
    >>> ends("race", ["White", "Black"])[1]
    'closer to the pole Black'
    """
    if attribute == "gender":
        return "more feminine", "more masculine"
    first, second = poles
    return f"closer to the pole {first}", f"closer to the pole {second}"


def groups(evidence: Evidence, settings: CounterfactualsSettings) -> pl.DataFrame:
    """Return whose questions may go unanswered: faces of either end of an attribute, and of people who start in one group."""
    steps = evidence.stimuli.filter(pl.col("attribute").is_in(settings.attributes)).sort("attribute")
    parts = [no_groups()]
    for (attribute,), mine in steps.group_by("attribute", maintain_order=True):
        low, high = (f"made {end}" for end in ends(str(attribute), settings.poles))
        edited = mine.filter(pl.col("value").is_not_null(), pl.col("value") != 0)
        side = pl.when(pl.col("value") < 0).then(pl.lit(low)).otherwise(pl.lit(high))
        parts.append(_part(edited, f"the {attribute} cue", side))
        if START in mine.columns:
            started = pl.lit("that start as ") + pl.col(START)
            parts.append(_part(mine.drop_nulls(START), f"starting {attribute}", started))
    return pl.concat(parts)


def _part(stimuli: pl.DataFrame, axis: str, group: pl.Expr) -> pl.DataFrame:
    unit = pl.col("person").cast(FACTORS["person"])
    return stimuli.select("stimulus", axis=pl.lit(axis), group=group, unit=unit).select(*GROUPS)
