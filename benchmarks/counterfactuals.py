"""Ours and the peers on the same answers: normalised slopes against scipy, conditional logistic against statsmodels."""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy import stats

from portrayal.audits.counterfactuals.measures.slopes import conditional_logistic, line, normalised, reversal_scores
from portrayal.pictures.series.values import steps
from portrayal.stats.tests.permutation import sign_flip_columns

PICTURES, LABELS = 200, 200


def answers() -> tuple[np.ndarray, np.ndarray]:
    rng, values = np.random.default_rng(0), steps("gender")
    slope = rng.choice([0.0, 0.1, -0.2], LABELS)
    chance = rng.uniform(0.1, 0.5, LABELS) * (1 + slope * values[:, None])
    return (rng.random((PICTURES, len(values), LABELS)) < chance).astype(float), values


def clock(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def scipy_slopes(present: np.ndarray, values: np.ndarray) -> None:
    z = normalised(present.mean(axis=0), 3)
    for label in range(LABELS):
        stats.linregress(values, z[:, label])


def our_slopes(present: np.ndarray, values: np.ndarray) -> None:
    line(values, normalised(present.mean(axis=0), 3))


def statsmodels_logistic(present: np.ndarray, values: np.ndarray, labels: int) -> None:
    from statsmodels.discrete.conditional_models import ConditionalLogit

    groups = np.repeat(np.arange(PICTURES), len(values))
    for label in range(labels):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ConditionalLogit(present[:, :, label].ravel(), np.tile(values, PICTURES)[:, None], groups=groups)
            model.fit(disp=False)


def sampled_reversal(present: np.ndarray, draws: int = 9999) -> None:
    scores = reversal_scores(present, np.arange(PICTURES))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (draws, PICTURES))
    (np.abs(signs @ scores) >= np.abs(scores.sum(axis=0))).mean(axis=0)


def main() -> None:
    present, values = answers()
    few = 5
    pairs = {
        "slope and p of 200 labels: scipy.stats.linregress": (
            clock(lambda: our_slopes(present, values)), clock(lambda: scipy_slopes(present, values))),
        f"conditional logistic slope, per label: statsmodels ({few} labels)": (
            clock(lambda: conditional_logistic(present, values, np.arange(PICTURES))) / LABELS,
            clock(lambda: statsmodels_logistic(present, values, few)) / few),
        "reversal test of 200 labels: exact, against 9,999 sampled sign patterns": (
            clock(lambda: sign_flip_columns(reversal_scores(present, np.arange(PICTURES)))), clock(lambda: sampled_reversal(present))),
    }  # fmt: skip
    for name, (ours, theirs) in pairs.items():
        print(f"{name}: ours {1000 * ours:.2f} ms, peer {1000 * theirs:.2f} ms, ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
