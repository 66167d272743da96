"""Places with nobody in them: whether the place alone brings out gendered tags, and is recognised at all.

Few pictures, so this is described and not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.pictures import NEUTRAL, by_system, how_many, usable
from portrayal.stats.intervals.intervals import wilson

GENDERED, STEREOTYPED, RECOGNISED = (
    "gendered_without_people",
    "stereotype_without_people",
    "recognised_without_people",
)


def nobody(pictures: pl.DataFrame, genders: Sequence[str], stereotypes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the shares of pictures of a place alone in which a gender is named, and in which the place is recognised.

    `gendered_without_people` is the share with any gender, over all places and by place and gender; of these,
    `stereotype_without_people` is the share with the gender of the place's stereotype.
    """
    for system, part in by_system(pictures.filter(pl.col("role") == "background")).items():
        said = usable(part)
        about = {"system": system, "n_missing": how_many(part) - how_many(said)}
        named = said.filter(pl.col("inferred") != NEUTRAL)
        yield _share(GENDERED, how_many(named), how_many(said), about)
        expected = pl.col("context").replace_strict(stereotypes, default=None)
        fits = named.filter(pl.col("inferred") == expected)
        yield _share(STEREOTYPED, how_many(fits), how_many(named), about)
        for (place,), here in said.drop_nulls("context").sort("context").group_by("context", maintain_order=True):
            where = {**about, "place": place, "n_missing": how_many(part.filter(context=place)) - how_many(here)}
            yield _share(
                RECOGNISED, how_many(here.filter(pl.col("recognised").fill_null(False))), how_many(here), where
            )
            for gender in genders:
                count = how_many(here.filter(inferred=gender))
                yield _share(GENDERED, count, how_many(here), {**where, "inferred": gender})


def _share(measure: str, count: int, total: int, about: Mapping[str, Any]) -> dict[str, Any]:
    return wilson(count, total).row(measure, unit="share", counted="pictures", **about)
