"""The share that raters affirm: its interval holds how the raters differ."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.raters import rated_share, scaled


def test_one_rater_has_wilsons_interval() -> None:
    ratings = np.array([1.0] * 12 + [0.0] * 28)[:, None]
    assert tuple(rated_share(ratings)) == pytest.approx(tuple(wilson(12, 40)))
    assert rated_share(np.full((0, 2), np.nan)).n == 0
    assert tuple(rated_share(np.zeros((20, 2)))) == pytest.approx(tuple(wilson(0, 20)))


def test_of_one_who_says_always_and_one_who_says_never_nothing_is_known() -> None:
    share = rated_share(np.column_stack([np.ones(48), np.zeros(48)]))
    assert share.value == 0.5 and share.low < 0.01 and share.high > 0.99


@pytest.mark.parametrize(("raters", "shared"), [(2, 1.0), (3, 1.0), (3, 0.2), (6, 0.2)])
def test_intervals_cover_the_share_of_an_average_rater(raters: int, shared: float) -> None:
    """Raters have levels of their own; every fifth caption is judged by all, the others by one."""
    rng, held, runs = np.random.default_rng(0), 0, 300
    truth = np.mean(1 / (1 + np.exp(1 - rng.normal(0, 0.8, 100_000) - rng.normal(0, 0.5, 100_000))))
    for _ in range(runs):
        items, own = rng.normal(0, 0.5, 50), rng.normal(0, 0.8, raters)
        chance = 1 / (1 + np.exp(1 - own[None, :] - items[:, None]))
        ratings = (rng.random((50, raters)) < chance).astype(float)
        alone = rng.random(50) >= shared
        ratings[alone[:, None] & (rng.integers(raters, size=50)[:, None] != np.arange(raters))] = np.nan
        share = rated_share(ratings)
        held += share.low <= truth <= share.high
    assert held / runs >= 0.90


def test_a_product_of_shares_has_the_error_of_both() -> None:
    whole, part = wilson(80, 400), wilson(20, 50)
    product = scaled(whole, part)
    assert product.value == pytest.approx(whole.value * part.value)
    assert product.low < whole.value * part.low and product.high > whole.value * part.high
    certain = scaled(Estimate(0.5, 0.5, 0.5), part)
    assert tuple(certain) == pytest.approx((part.value / 2, part.low / 2, part.high / 2))
