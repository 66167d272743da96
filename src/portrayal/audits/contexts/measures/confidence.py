"""Confidence of a service in its tags: an addition to Barlas et al. (2020), who took the tags as they came."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import polars as pl

from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.text.formatting import percent

VARIANT = "with_confidence"
KEYS = ["system", "measure", "group", "versus", "place", "background", "inferred", "attribute", "factor", "vector"]
Places = Mapping[str, Collection[str | None]]  # of each measure, those it is wanted of


def confident(responses: pl.DataFrame, least: float) -> pl.DataFrame:
    """Return the responses without tags of less confidence; none left is an answer still."""
    if least <= 0 or responses["confidence"].null_count() == responses.height:
        return responses
    scale = pl.when(pl.col("confidence").max().over("system") > 1).then(100.0).otherwise(1.0)
    sure = (pl.col("confidence") / scale >= least).fill_null(True)
    return responses.with_columns(tag=pl.when(sure).then("tag"))


def at_thresholds(
    found: pl.DataFrame,
    responses: pl.DataFrame,
    thresholds: Sequence[float],
    family: Sequence[str],
    measure: Callable[[pl.DataFrame, Places], pl.DataFrame],
) -> pl.DataFrame:
    """Return `with_confidence` rows: tests with p at most .05 on the surer tags."""
    unsure = responses.filter(pl.col("confidence").is_not_null())["system"].unique()
    tested = pl.col("measure").is_in(family) & (pl.col("p") <= LEVEL)
    wanted = found.filter(tested, pl.col("system").is_in(unsure.implode()))
    mine = responses.filter(pl.col("system").is_in(wanted["system"].unique().implode()))
    places = {measure: frozenset(rows["place"]) for (measure,), rows in wanted.group_by("measure", maintain_order=True)}
    empty = {name: pl.lit(None, found.schema[name]) for name in ("p", "p_floor", "decision", "reason")}
    again = [found.clear()]
    for least in thresholds if wanted.height else ():
        surer = confident(mine, least)
        same = surer["tag"].null_count() == mine["tag"].null_count()  # no tag is dropped: nothing to measure anew
        rows = found if same else measure(surer, places)
        rows = rows.join(wanted.select(KEYS), on=KEYS, how="semi", nulls_equal=True, maintain_order="left")
        named = pl.lit(f"at least {percent(least)}")
        variant = rows.with_columns(
            **empty, of="measure", measure=pl.lit(VARIANT), confidence=named, family=pl.lit(EXPLORATORY)
        )
        again.append(variant.select(found.columns))
    return pl.concat(again)
