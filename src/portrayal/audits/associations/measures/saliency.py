"""Shares of a saliency map on face, torso and background, compared between conditions within persons.

Beyond the paper's averaged maps: a number per picture. A map without any mass has no shares and counts as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.people import check_people, differences_table, paired
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.tables import check, results

FACETS = ("region",)
SHARES = {
    "system": pl.String,
    "person": pl.String,
    "condition": pl.String,
    "region": pl.String,
    "share": pl.Float64,  # null where the map has no mass or no face was found
}


def average_map(maps: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean of maps, each scaled to a mass of one first."""
    scaled = [heat / heat.sum() for heat in maps if heat.sum() > 0]
    if not scaled:
        raise PortrayalError("no map has any mass. There is nothing to average.")
    return np.mean(scaled, axis=0)


class Saliency(NamedTuple):
    """The Results, and the people's differences for joint flips."""

    results: pl.DataFrame
    differences: pl.DataFrame


def saliency(shares: Any, baseline: str, audit: str = "associations") -> Saliency:
    """Return each region's mean share by condition, and its difference from the baseline within persons."""
    frame = check(shares, SHARES, "shares", "See docs/associations_pictures.md, saliency.")
    if baseline not in frame["condition"].unique():
        raise PortrayalError(f"no picture has condition {baseline!r}. Set `baseline` to one of the conditions.")
    check_people(frame, "shares")
    frame = frame.sort("person", "condition", "share")  # so that sums do not depend on the order given
    parts = sorted(frame.group_by("system", "region", maintain_order=True), key=lambda item: item[0])
    rows = [
        {"system": system, "region": region, **row} for (system, region), part in parts for row in _rows(part, baseline)
    ]
    differences = differences_table(rows)
    return Saliency(results(rows, facets=FACETS, audit=audit), differences)


def _rows(part: pl.DataFrame, baseline: str) -> Iterator[dict[str, Any]]:
    conditions = sorted(part["condition"].unique().drop_nulls())
    for condition in conditions:
        chosen = part.filter(condition=condition)
        known = chosen.drop_nulls("share")
        mean = clustered_mean(known["share"].to_numpy(), known["person"].to_numpy())
        note, lost = f"interval over {known['person'].n_unique()} persons", chosen.height - known.height
        about = {"group": condition, "counted": "pictures", "n_missing": lost, "unit": "share"}
        yield mean.row("saliency_share", note=note, **about)
    for condition in conditions:
        if condition != baseline:
            yield _difference(part, condition, baseline)


def _difference(part: pl.DataFrame, condition: str, baseline: str) -> dict[str, Any]:
    pictures = part.filter(pl.col("condition").is_in([condition, baseline]))
    known = pictures.drop_nulls("share")
    x, y = (
        known.filter(condition=name).group_by("person").agg(pl.col("share").mean()) for name in (condition, baseline)
    )
    both = x.join(y, on="person", suffix="_base").sort("person")
    difference = (both["share"] - both["share_base"]).to_numpy()
    return paired(difference).row(
        "saliency_difference",
        group=condition,
        versus=baseline,
        differences=dict(zip(both["person"].to_list(), difference.tolist(), strict=True)),
        n_missing=pictures["person"].n_unique() - len(both),
        unit="points",
        note=f"mean of the persons' differences over {known.height} pictures; t interval over persons; p two-sided, "
        "sign flips of the persons",
    )
