"""Places with nobody in them: whether they bring out gendered tags, and are recognised.

An addition to Barlas et al. (2020), whose composites always show somebody. Few pictures, so it is described, not tested.
"""

from __future__ import annotations

import polars as pl

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import NEUTRAL, Rows, View
from portrayal.stats.intervals.intervals import wilson

GENDERED, STEREOTYPED, RECOGNISED = (f"{what}_without_people" for what in ("gendered", "stereotype", "recognised"))


def nobody(alone: View, design: Design) -> Rows:
    """Yield the shares of places alone with a gender named, and with the place recognised."""
    answered = alone.answered
    named = answered.where(pl.col("inferred") != NEUTRAL)
    fitting = named.where(pl.col("inferred") == pl.col("context").replace_strict(design.stereotypes, default=None))
    about = {"system": alone.system, "n_missing": alone.missing[0], "unit": "share", "counted": "pictures"}
    yield wilson(named.count, answered.count).row(GENDERED, **about)
    yield wilson(fitting.count, named.count).row(STEREOTYPED, **about)
    for place in answered["context"].drop_nulls().unique().sort():
        shown = alone.where(pl.col("context") == place)
        here, where = shown.answered, {**about, "place": place, "n_missing": shown.missing[0]}
        yield wilson(int((here.recognised * here.alike).sum()), here.count).row(RECOGNISED, **where)
        for gender in design.named:
            count = int((here.inferred(gender) * here.alike).sum())
            yield wilson(count, here.count).row(GENDERED, inferred=gender, **where)
