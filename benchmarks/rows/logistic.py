"""A thousand logistic regressions on splits of the same rows, beside scikit-learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from benchmarks.shape import Benchmark, Peer

ROWS, TYPES = 2000, 500
FEW = 4  # fits scikit-learn is timed on
TOLERANCE = 1e-6  # largest entry of the gradient, for both


class Splits(NamedTuple):
    """Sizes and places of 500 object types and the group, an outcome, and who is in each split."""

    features: np.ndarray
    outcome: np.ndarray
    train: np.ndarray


def simulated(seed: int, rows: int, splits: int) -> Splits:
    """Draw a few object types for each image, common and rare ones."""
    rng = np.random.default_rng(seed)
    chance = np.minimum(8 / np.arange(1, TYPES + 1), 0.9)
    present = rng.random((rows, TYPES)) < chance
    features = np.hstack([present * rng.random((rows, TYPES)) / 2, present * rng.random((rows, TYPES)) / 2])
    features = np.column_stack([features, rng.random(rows) < 0.5])
    outcome = rng.random(rows) < 1 / (1 + np.exp(-(3 * features[:, 0] + features[:, -1] - 1)))
    return Splits(features, outcome, rng.random((rows, splits)).argsort(axis=0) < round(0.7 * rows))


def prepare(size: int) -> Splits:
    return simulated(0, ROWS, size)


def ours(data: Splits) -> np.ndarray:
    from portrayal.stats.models.logistic import fit

    return fit(data.features, data.outcome, data.train, tolerance=TOLERANCE).coefficients


def with_scikit_learn(data: Splits) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    fits = []
    for split in data.train.T[:FEW]:
        model = LogisticRegression(C=1.0, solver="lbfgs", tol=TOLERANCE, max_iter=10_000)
        fits.append(model.fit(data.features[split], data.outcome[split]).coef_[0])
    return np.stack(fits, axis=1)


def equal(data: Splits, found: np.ndarray, theirs: np.ndarray) -> str:
    apart = np.abs(found[:, : theirs.shape[1]] - theirs).max()
    return "" if apart < 1e-3 else f"coefficients differ by {apart:.0e}"


def check(data: Splits, found: np.ndarray) -> str:
    """At the solution the penalty's pull equals the data's: b = X' w (y - chance), for some intercept."""
    from scipy.optimize import brentq

    split = data.train[:, 0]
    features, outcome, slopes = data.features[split], data.outcome[split].astype(float), found[:, 0]
    margins = features @ slopes

    def left(intercept: float) -> float:
        return float((outcome - 1 / (1 + np.exp(-(margins + intercept)))).sum())

    chances = 1 / (1 + np.exp(-(margins + brentq(left, -50, 50))))
    pull = np.abs(features.T @ (outcome - chances) - slopes).max()
    return "" if pull < 10 * TOLERANCE else f"the gradient is {pull:.0e}"


def limit(data: Splits) -> dict[str, float]:
    """Two products of the rows with all fits' coefficients in each of at least four Newton steps."""
    used = int(data.features.any(axis=0).sum())
    return {"arithmetic": 4 * 2 * 2 * ROWS * used * data.train.shape[1]}


BENCHMARK = Benchmark(
    name="logistic fits",
    work="1,000 logistic regressions on splits of 2,000 rows of 1,001 numbers",
    size=1000,
    unit="fits",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "scikit-learn, lbfgs",
            7,
            "sklearn",
            run=with_scikit_learn,
            equal=equal,
            scale=lambda data: data.train.shape[1] / min(FEW, data.train.shape[1]),
            scaled=f"timed on {FEW} fits, scaled to 1,000",
        ),
    ),
    check=check,
    limit=limit,
    smallest=FEW,
)
