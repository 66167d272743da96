"""Places with nobody in them: whether the place alone brings out gendered tags, and is recognised at all.

Few pictures, so this is described and not tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.pictures import NEUTRAL, by_system, usable
from portrayal.stats.intervals import wilson

GENDERED, STEREOTYPED, RECOGNISED = (
    "gendered_without_people",
    "stereotype_without_people",
    "recognised_without_people",
)


def nobody(
    pictures: pl.DataFrame, genders: Sequence[str], stereotypes: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the shares of pictures of a place alone in which a gender is named, and in which the place is recognised.

    `gendered_without_people` is the share with any gender, over all places and by place and gender; of these,
    `stereotype_without_people` is the share with the gender of the place's stereotype.
    """
    for system, part in by_system(pictures.filter(pl.col("role") == "background")).items():
        said = usable(part)
        about = {"system": system, "n_missing": part.height - said.height}
        named = said.filter(pl.col("inferred") != NEUTRAL)
        yield _share(GENDERED, named.height, said.height, about)
        expected = pl.col("context").replace_strict(stereotypes, default=None)
        fits = named.filter(pl.col("inferred") == expected).height
        yield _share(STEREOTYPED, fits, named.height, about)
        for (place,), here in (
            said.drop_nulls("context").sort("context").group_by("context", maintain_order=True)
        ):
            where = {**about, "place": place, "n_missing": part.filter(context=place).height - here.height}
            yield _share(RECOGNISED, int(here["recognised"].fill_null(False).sum()), here.height, where)
            for gender in genders:
                count = here.filter(inferred=gender).height
                yield _share(GENDERED, count, here.height, {**where, "inferred": gender})


def _share(measure: str, count: int, total: int, about: Mapping[str, Any]) -> dict[str, Any]:
    return wilson(count, total).row(measure, unit="share", counted="pictures", **about)
