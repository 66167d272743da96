"""How sure a service is of its tags: which are counted, and whether a finding hangs on those it is less sure of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import polars as pl

from portrayal.reporting.words.words import percent
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.decisions.multiplicity import LEVEL

VARIANT = "with_confidence"
Places = Mapping[str, Collection[str | None]]  # of each measure, those it is wanted of
Results = Callable[[pl.DataFrame, Places], pl.DataFrame]  # of responses


def confident(responses: pl.DataFrame, least: float) -> pl.DataFrame:
    """Return the responses without the tags whose confidence is under `least`; one without any tag left is an answer still."""
    if least <= 0 or responses["confidence"].null_count() == responses.height:
        return responses
    scale = pl.when(pl.col("confidence").max().over("system") > 1).then(100.0).otherwise(1.0)
    sure = (pl.col("confidence") / scale >= least).fill_null(True)
    return responses.with_columns(tag=pl.when(sure).then("tag"))


def at_thresholds(
    found: pl.DataFrame, responses: pl.DataFrame, thresholds: Sequence[float], family: Sequence[str], measured: Results
) -> pl.DataFrame:
    """Return `with_confidence` rows: each test with p at most .05 again, with the surer tags alone."""
    unsure = responses.filter(pl.col("confidence").is_not_null())["system"].unique()
    wanted = found.filter(
        pl.col("measure").is_in(family), pl.col("p") <= LEVEL, pl.col("system").is_in(unsure.implode())
    )
    mine = responses.filter(pl.col("system").is_in(wanted["system"].unique().implode()))
    places = {measure: frozenset(rows["place"]) for (measure,), rows in wanted.group_by("measure", maintain_order=True)}
    again = []
    for least in thresholds if wanted.height else ():
        surer = confident(mine, least)
        same = surer["tag"].null_count() == mine["tag"].null_count()  # no tag is dropped: nothing to measure anew
        again.append(_again(wanted, found if same else measured(surer, places), least))
    return pl.concat(again) if again else found.clear()


def _again(wanted: pl.DataFrame, found: pl.DataFrame, least: float) -> pl.DataFrame:
    """Return the rows of the same tests, told apart by their threshold."""
    keys = ["system", "measure", "group", "versus", "place", "background", "inferred", "attribute", "factor", "vector"]
    rows = found.join(wanted.select(keys), on=keys, how="semi", nulls_equal=True, maintain_order="left")
    empty = {name: pl.lit(None, found.schema[name]) for name in ("p", "p_floor", "decision", "reason")}
    return rows.with_columns(
        **empty, of="measure", measure=pl.lit(VARIANT), confidence=pl.lit(f"at least {percent(least)}"),
        family=pl.lit(EXPLORATORY),
    ).select(found.columns)  # fmt: skip
