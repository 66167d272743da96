"""Checks of a Fader network alone: what a fresh probe reads from its code, and a reader of race fitted when it is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal_faces.series.checks import check_row, monotone


def race_rows(perceived: np.ndarray, right: int, n: int, poles: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a reader fitted on face embeddings (`race_reader`) sees along the race axis."""
    share = wilson(float(right), n)
    unit = f"P({poles[1]} rather than {poles[0]}), highest less lowest"
    shift = clustered_mean(perceived[:, -1] - perceived[:, 0])
    still = wilson(float(monotone(perceived, falling=False).sum()), len(perceived))
    about = f"a reader fitted on face embeddings, right about {share.value:.0%} of {n} unedited held-out faces"
    return [
        check_row("perceived race moves", "race", shift, len(perceived), unit, "above 0", shift.low > 0, about),
        check_row("perceived race is monotone", "race", still, len(perceived), "share of faces", "at least 0.8",
             still.value >= 0.8, about),
    ]  # fmt: skip


def probe_row(probe: dict[str, Any]) -> dict[str, Any]:
    """What a fresh probe read from the latent code on held-out faces when the model was made."""
    spread = wilson(probe["right"], probe["n"]).map(lambda end: 100 * (end - probe["chance"]))
    return check_row("latent code says little of gender", "gender", spread, probe["n"], "points above chance", "at most 10",
                spread.value <= 10, "a fresh probe on held-out faces, when the model was made")  # fmt: skip
