"""Places with nobody in them: whether they bring out gendered tags, and are recognised.

An addition to Barlas et al. (2020), whose composites always show somebody. Few pictures, so it is described, not tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import NEUTRAL, Rows, View
from portrayal.stats.intervals.intervals import wilson

GENDERED, STEREOTYPED, RECOGNISED = (f"{what}_without_people" for what in ("gendered", "stereotype", "recognised"))


def nobody(alone: View, design: Design) -> Rows:
    """Yield the shares of places alone with a gender named, and with the place recognised.

    `gendered_without_people` is the share with any gender, over all places and by place and gender; of these,
    `stereotype_without_people` is the share with the gender of the place's stereotype.
    """
    answered = alone.answered
    about = {"system": alone.system, "n_missing": alone.missing[0]}
    named = answered.where(pl.col("inferred") != NEUTRAL)
    yield _share(GENDERED, named.count, answered.count, about)
    expected = pl.col("context").replace_strict(design.stereotypes, default=None)
    yield _share(STEREOTYPED, named.where(pl.col("inferred") == expected).count, named.count, about)
    for place in answered["context"].drop_nulls().unique().sort():
        shown = alone.where(pl.col("context") == place)
        here, where = shown.answered, {**about, "place": place, "n_missing": shown.missing[0]}
        yield _share(RECOGNISED, here.where(pl.col("recognised").fill_null(False)).count, here.count, where)
        for gender in design.named:
            count = here.where(pl.col("inferred") == gender).count
            yield _share(GENDERED, count, here.count, {**where, "inferred": gender})


def _share(measure: str, count: int, total: int, about: Mapping[str, Any]) -> dict[str, Any]:
    return wilson(count, total).row(measure, unit="share", counted="pictures", **about)
