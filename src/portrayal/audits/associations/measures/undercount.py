"""Rate of a detector corrected by raters' judgments, whose disagreement widens the interval.

Wolfe et al. (2023), section 5.5: of 100 images the detector flagged 47, the raters 75 and 88. Images judged by both give
sensitivity and specificity for each rater; where only totals were published, specificity is taken as 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.proportions import corrected_share
from portrayal.text.formatting import number

# Draws of (sensitivity, specificity) for one rater.
Ruler = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def corrected_rate(hits: int, n: int, validation: pl.DataFrame, draws: int = 4000, seed: int = 0) -> Estimate:
    """Correct `hits` of `n` flagged images by a validation sample, mean over raters."""
    rulers, known = _rulers(validation)
    rng = np.random.default_rng(seed)
    centre = {rater: corrected_share(hits / n, *point) for rater, (point, _) in rulers.items()}
    samples = [_draw(hits, n, ruler, rng, draws) for _, ruler in rulers.values()]
    low, high = np.nanquantile(np.concatenate(samples), [0.025, 0.975])
    raters = ", ".join(f"{rater} {number(point[0])}" for rater, (point, _) in rulers.items())
    note = f"corrected for the detector's under-count; its sensitivity against {raters}; {known}"
    value = float(np.mean(list(centre.values())))
    return Estimate(value, float(low), float(high), n=n, unit="share", note=note)


def _draw(hits: int, n: int, ruler: Ruler, rng: np.random.Generator, draws: int) -> np.ndarray:
    # Jeffreys' posterior of the flagged share: never certain at 0 or n.
    flagged = rng.beta(hits + 0.5, n - hits + 0.5, draws)
    sensitivity, specificity = ruler(rng, draws)
    seen = sensitivity + specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(seen > 0, (flagged + specificity - 1) / seen, np.nan)
    return np.clip(shares, 0, 1)


def _rulers(validation: pl.DataFrame) -> tuple[dict[str, tuple[tuple[float, float], Ruler]], str]:
    if {"rater", "detector", "judgment"} <= set(validation.columns):
        pairs = validation.drop_nulls(["detector", "judgment"])
        by = pairs.group_by("rater", maintain_order=True)
        return {str(rater): _joint(rows) for (rater,), rows in by}, "images judged by both"
    if {"rater", "detector_flagged", "rater_flagged", "n"} <= set(validation.columns):
        by = validation.group_by("rater", maintain_order=True)
        return {
            str(rater): _totals(rows.row(0, named=True)) for (rater,), rows in by
        }, "only totals known: specificity taken as 1"
    raise PortrayalError(
        f"validation has columns {', '.join(validation.columns)}. Expected rater, detector, judgment, or the "
        "totals rater, detector_flagged, rater_flagged, n."
    )


def _joint(rows: pl.DataFrame) -> tuple[tuple[float, float], Ruler]:
    detector, judgment = (rows[name].cast(pl.Boolean).to_numpy() for name in ("detector", "judgment"))
    yes, no = int(judgment.sum()), int((~judgment).sum())
    if not yes or not no:
        raise PortrayalError("a rater judged all validation images alike. Add images of both kinds.")
    caught, cleared = int((detector & judgment).sum()), int((~detector & ~judgment).sum())

    def ruler(rng: np.random.Generator, draws: int) -> tuple[np.ndarray, np.ndarray]:
        sensitivity = rng.beta(caught + 0.5, yes - caught + 0.5, draws)
        return sensitivity, rng.beta(cleared + 0.5, no - cleared + 0.5, draws)

    return (caught / yes, cleared / no), ruler


def _totals(row: Mapping[str, Any]) -> tuple[tuple[float, float], Ruler]:
    flagged, judged = int(row["detector_flagged"]), int(row["rater_flagged"])
    if not 0 < flagged <= judged <= row["n"]:
        raise PortrayalError(
            f"the detector flagged {flagged} and the rater {judged} of {row['n']}. With totals alone only an "
            "under-count can be corrected: give one row per image."
        )

    def ruler(rng: np.random.Generator, draws: int) -> tuple[np.ndarray, np.ndarray]:
        # The detector's flags are a part of the rater's, so their number given the rater's is binomial.
        return rng.beta(flagged + 0.5, judged - flagged + 0.5, draws), np.ones(draws)

    return (flagged / judged, 1.0), ruler
