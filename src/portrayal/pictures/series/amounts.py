"""Size of edits: a placebo must be as large as its axis at every step and for every starting group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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


def placebo_checks(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return a check for each axis: whether the placebo is as large at every step."""
    edited = _whole(stimuli).filter(pl.col("value").is_not_null())
    placebo = edited.filter(pl.col("attribute") == "placebo")
    rows, known = [], {}
    for key, mine in edited.filter(pl.col("attribute") != "placebo").group_by(KEY, maintain_order=True):
        beside = _beside(placebo, key)
        files = tuple(beside["content"])  # several axes may share a placebo, whose pictures are opened once
        if files not in known:
            known[files] = edit_sizes(beside)
        rows.append(_row(dict(zip(KEY, key, strict=True)), mine, known[files]))
    return pl.DataFrame(rows if placebo.height else [], schema=CHECKS)


def edit_sizes(series: pl.DataFrame) -> dict[str, dict[float, float]]:
    """Return each source image's root mean square change from its centre, by value."""
    sizes: dict[str, dict[float, float]] = {}
    for (picture,), mine in series.group_by("picture", maintain_order=True):
        if len(sizes) < MOST and (mine["value"] == 0).any() and (found := _of_one(mine)):
            sizes[str(picture)] = found
    return sizes


def _of_one(series: pl.DataFrame) -> dict[float, float]:
    shown = {value: open_or_none(Path(path), SIDE) for value, path in series.select("value", "content").iter_rows()}
    centre = shown.get(0.0)
    if centre is None or any(one is None or one.size != centre.size for one in shown.values()):
        return {}
    return {value: _apart(one, centre) for value, one in shown.items()}


def _apart(one: Any, other: Any) -> float:
    """Return the root mean square difference of two pictures of one size."""
    from PIL import ImageChops

    counts = np.reshape(ImageChops.difference(one, other).histogram(), (-1, 256)).sum(axis=0)
    return float(np.sqrt(counts @ np.arange(256) ** 2 / counts.sum()))


def _whole(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return the stimuli with poles and start, empty where they have none."""
    missing = [name for name in (*KEY[1:], "start") if name not in stimuli.columns]
    return stimuli.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)


def _beside(placebo: pl.DataFrame, key: tuple[Any, ...]) -> pl.DataFrame:
    own = placebo.filter(pl.col("pole_low").eq_missing(key[1]), pl.col("pole_high").eq_missing(key[2]))
    return own if own.height else placebo.filter(pl.col("pole_low").is_null())


def _row(axis: dict[str, Any], series: pl.DataFrame, others: dict[str, dict[float, float]]) -> dict[str, Any]:
    """Return the check of one axis: the ratio furthest from 1."""
    poles = [axis["pole_low"], axis["pole_high"]]
    name = " to ".join(poles) if poles[0] else axis["attribute"]
    row = dict.fromkeys(CHECKS) | {
        "check": f"placebo is as large as {axis['attribute'] if not poles[0] else f'race from {name}'}",
        "attribute": "placebo", "unit": "times the axis, where it differs most", "n": 0,
        "needs": f"{1 - NEARLY:g} to {1 + NEARLY:g} at every step", "note": "",
    }  # fmt: skip
    sizes = edit_sizes(series)
    both = [picture for picture in sizes if picture in others]
    starts = dict(series.select("picture", "start").iter_rows())
    found = list(_ratios(sizes, others, both, starts))
    if not found:
        return row | {"note": "not done: nobody has both series in pictures of one size"}
    value, low, high, where = max(found, key=lambda one: abs(np.log(max(one[0], 1e-9))))
    passed = all(abs(one[0] - 1) <= NEARLY for one in found)
    return row | {
        "value": value,
        "low": finite(low),
        "high": finite(high),
        "n": len(both),
        "passed": passed,
        "note": where,
    }


def _ratios(
    sizes: dict[str, dict[float, float]],
    others: dict[str, dict[float, float]],
    both: list[str],
    starts: dict[str, str | None],
) -> Iterator[tuple[float, float, float, str]]:
    """Yield placebo over axis with its interval, by step and starting group."""
    told = Counter(starts[picture] for picture in both)
    groups = sorted(start for start, count in told.items() if start and count >= FEWEST)
    for group in [None, *(groups if len(groups) > 1 else [])]:
        mine = [picture for picture in both if group in (None, starts[picture])]
        values = sorted({value for picture in mine for value in sizes[picture] if value})
        for value in values:
            axis = np.array([sizes[picture].get(value, np.nan) for picture in mine])
            placebo = np.array([_at(others[picture], value) for picture in mine])
            known = np.isfinite(axis) & np.isfinite(placebo)
            if axis[known].sum() > 0:
                low, high = ratio_interval(placebo[known, None], axis[known, None], null=1.0)
                of_whom = f" of those who start as {group}" if group else ""
                yield (float(placebo[known].sum() / axis[known].sum()), low[0], high[0], f"at {value:+.2g}{of_whom}")


def _at(sizes: dict[float, float], value: float) -> float:
    """Return a placebo's size at a value, between its steps where it has other ones."""
    places = np.array(sorted(sizes))
    if not places[0] <= value <= places[-1]:
        return float("nan")
    return float(np.interp(value, places, [sizes[place] for place in places]))
