"""The squared distance of two means: its value, its variance, and intervals that hold it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from portrayal.stats.tests.squared_distance import Distance, squared_distance


def by_the_book(matrix: np.ndarray, flags: np.ndarray, signs: np.ndarray) -> tuple[float, float, float]:
    """Value, 4 d'Sd and tr(SS) with full matrices."""
    groups = [matrix[flags == 1], matrix[flags == 0]]
    gap, sign = groups[0].mean(0) - groups[1].mean(0), np.diag(signs)
    spreads = [np.cov(group.T) for group in groups]
    sizes = [len(group) for group in groups]
    of_mean = sum(spread / n for spread, n in zip(spreads, sizes, strict=True))
    own = [
        (n - 1) ** 2 / ((n + 1) * (n - 2)) * (np.trace(sign @ s @ sign @ s) - np.trace(sign @ s) ** 2 / (n - 1))
        for s, n in zip(spreads, sizes, strict=True)
    ]
    cross = np.trace(sign @ spreads[0] @ sign @ spreads[1])
    square = own[0] / sizes[0] ** 2 + own[1] / sizes[1] ** 2 + 2 * cross / (sizes[0] * sizes[1])
    return (signs @ gap**2 - np.trace(sign @ of_mean), 4 * (signs * gap) @ of_mean @ (signs * gap), max(square, 0.0))


@pytest.mark.parametrize("signs", [np.ones(5), np.array([1.0, 1, 1, -1, -1])])
def test_the_sparse_sums_are_those_of_full_matrices(signs) -> None:
    rng = np.random.default_rng(0)
    matrix, flags = rng.random((40, 5)) * (rng.random((40, 5)) < 0.5), np.repeat([1, 0, -1], [20, 15, 5])
    found = squared_distance(sparse.csr_matrix(matrix), flags, signs)
    expected = by_the_book(matrix, flags, signs)
    assert (found.value, found.linear, found.square) == pytest.approx(expected)


@pytest.mark.parametrize("gap", [0.0, 0.1, 0.2, 0.4])
def test_it_is_right_on_average_and_its_interval_holds_it(gap) -> None:
    rng = np.random.default_rng(1)
    chances = np.full((2, 10), 0.4)
    chances[:, 0] += [gap / 2, -gap / 2]
    flags = np.repeat([0, 1], 100)
    found = [
        squared_distance(sparse.csr_matrix((rng.random((200, 10)) < chances[flags]).astype(float)), flags)
        for _ in range(400)
    ]
    values = np.array([one.value for one in found])
    assert abs(values.mean() - gap**2) < 4 * values.std() / 20
    held = np.mean([one.score_interval().low <= gap**2 <= one.score_interval().high for one in found])
    assert 0.92 <= held <= 0.98
    assert all(one.score_interval().low <= one.value <= one.score_interval().high for one in found)


def test_the_score_interval_ends_where_the_distance_found_is_just_likely() -> None:
    # With variance 4 k t + 2 tr(SS) at a true distance t, the ends solve (found - t)^2 = z^2 (4 k t + 2 tr(SS)).
    found = Distance(value=0.3, raw=0.5, linear=0.08, square=0.001)
    k, z2 = 0.08 / (4 * 0.5), stats.norm.ppf(0.975) ** 2
    off = [z2 * (4 * k * t + 2 * 0.001) - (0.3 - t) ** 2 for t in list(found.score_interval())[1:]]
    assert off == pytest.approx([0, 0], abs=1e-12)
    assert found.score_interval(0.5).low > found.score_interval().low
    # Without any raw distance the variance is 2 tr(SS) alone.
    none = Distance(value=-0.01, raw=0.0, linear=0.0, square=0.001).score_interval()
    half = np.sqrt(2 * 0.001 * z2)
    assert tuple(none) == pytest.approx((-0.01, -0.01 - half, -0.01 + half))


def test_the_plain_interval_takes_off_what_the_sample_adds() -> None:
    # 4 d'Sd = .08 less 4 tr(SS) = .004, and 2 tr(SS) = .002: variance .078.
    found = Distance(value=0.3, raw=0.5, linear=0.08, square=0.001)
    assert found.error == pytest.approx(np.sqrt(0.078))
    half = 1.959964 * np.sqrt(0.078)
    assert tuple(found.interval()) == pytest.approx((0.3, 0.3 - half, 0.3 + half), abs=1e-6)
    assert Distance(0.0, 0.0, 0.001, 0.001).error == pytest.approx(np.sqrt(0.002))


def test_two_stages_that_say_the_same_cancel() -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.csr_matrix((rng.random((50, 4)) < 0.5).astype(float))
    twice = sparse.hstack([matrix, matrix], format="csr")
    found = squared_distance(twice, np.arange(50) % 2, np.repeat([1.0, -1.0], 4))
    assert (found.value, found.error) == pytest.approx((0, 0), abs=1e-9)
