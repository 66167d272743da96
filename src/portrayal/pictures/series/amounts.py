"""Size of edits: a placebo must be as large as its axis at every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.pictures.images import open_or_none
from portrayal.pictures.series.manifest import CHECKS
from portrayal.stats.intervals.intervals import ratio_interval
from portrayal.tables import finite

NEARLY = 0.1  # how far the ratio of the two may lie from 1
SIDE = 256  # pixels at which they are compared
FEWEST = 3  # source images of a starting group that is looked at by itself
MOST = 60  # series of an axis that are looked at
KEY = ["attribute", "pole_low", "pole_high"]
Sizes = Mapping[str, Mapping[float, float]]  # of each source image, by value


def placebo_checks(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return a check for each axis: whether the placebo is as large at every step."""
    missing = [name for name in (*KEY[1:], "start") if name not in stimuli.columns]
    whole = stimuli.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)
    edited = whole.filter(pl.col("value").is_not_null())
    placebo = edited.filter(attribute="placebo")
    rows, known = [], {}
    for key, mine in edited.filter(pl.col("attribute") != "placebo").group_by(KEY, maintain_order=True):
        own = placebo.filter(pl.col("pole_low").eq_missing(key[1]), pl.col("pole_high").eq_missing(key[2]))
        beside = own if own.height else placebo.filter(pl.col("pole_low").is_null())
        files = tuple(beside["content"])  # several axes may share a placebo, whose pictures are opened once
        if files not in known:
            known[files] = edit_sizes(beside)
        rows.append(_row(key, mine, known[files]))
    return pl.DataFrame(rows if placebo.height else [], schema=CHECKS)


def edit_sizes(series: pl.DataFrame) -> dict[str, dict[float, float]]:
    """Return each source image's root mean square change from its centre, by value."""
    sizes: dict[str, dict[float, float]] = {}
    for (picture,), mine in series.group_by("picture", maintain_order=True):
        if len(sizes) < MOST and (mine["value"] == 0).any() and (changes := _of_one(mine)):
            sizes[str(picture)] = changes
    return sizes


def _of_one(series: pl.DataFrame) -> dict[float, float]:
    from PIL import ImageChops

    files = series.select("value", "content").iter_rows()
    images: dict[float, Any] = {value: open_or_none(Path(path), SIDE) for value, path in files}
    centre, sizes = images.get(0.0), {}
    if centre is None or any(one is None or one.size != centre.size for one in images.values()):
        return {}
    for value, one in images.items():
        counts = np.array(ImageChops.difference(one, centre).histogram()).reshape(-1, 256).sum(axis=0)
        sizes[value] = float(np.sqrt(counts @ np.arange(256) ** 2 / counts.sum()))
    return sizes


def _row(axis: tuple[Any, ...], series: pl.DataFrame, others: Sizes) -> dict[str, Any]:
    """Return the check of one axis: the ratio furthest from 1."""
    attribute, low, high = axis
    row = dict.fromkeys(CHECKS) | {
        "check": f"placebo is as large as {f'race from {low} to {high}' if low else attribute}",
        "attribute": "placebo", "unit": "times the axis, where it differs most", "n": 0,
        "needs": f"{1 - NEARLY:g} to {1 + NEARLY:g} at every step", "note": "",
    }  # fmt: skip
    sizes = edit_sizes(series)
    both = [picture for picture in sizes if picture in others]
    ratios = list(_ratios(sizes, others, both, dict(series.select("picture", "start").iter_rows())))
    if not ratios:
        return row | {"note": "not done: nobody has both series in pictures of one size"}
    value, low, high, where = max(ratios, key=lambda one: abs(np.log(max(one[0], 1e-9))))
    passed = all(abs(one[0] - 1) <= NEARLY for one in ratios)
    ends = {"low": finite(low), "high": finite(high)}
    return row | {"value": value, **ends, "n": len(both), "passed": passed, "note": where}


def _ratios(
    sizes: Sizes, others: Sizes, both: list[str], starts: Mapping[str, str | None]
) -> Iterator[tuple[float, float, float, str]]:
    """Yield placebo over axis with its interval, by step and starting group."""
    counts = Counter(starts[picture] for picture in both)
    groups = sorted(start for start, count in counts.items() if start and count >= FEWEST)
    for group in [None, *(groups if len(groups) > 1 else [])]:
        mine = [picture for picture in both if group in (None, starts[picture])]
        for value in sorted({value for picture in mine for value in sizes[picture] if value}):
            axis = np.array([sizes[picture].get(value, np.nan) for picture in mine])
            placebo = np.array([_at(others[picture], value) for picture in mine])
            known = np.isfinite(axis) & np.isfinite(placebo)
            if axis[known].sum() > 0:
                low, high = ratio_interval(placebo[known, None], axis[known, None], null=1.0)
                of_whom = f" of those who start as {group}" if group else ""
                yield (float(placebo[known].sum() / axis[known].sum()), low[0], high[0], f"at {value:+.2g}{of_whom}")


def _at(sizes: Mapping[float, float], value: float) -> float:
    """Return a placebo's size at a value, between its steps where it has other ones."""
    places = sorted(sizes)
    heights = [sizes[place] for place in places]
    return float(np.interp(value, places, heights, left=np.nan, right=np.nan))
