"""Groups permuted: the p is that of all permutations, and uniform where there is nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from portrayal.stats.tests.max_t import column_moments, max_t_floor, max_t_p


def test_it_comes_to_the_share_of_all_deals() -> None:
    rng = np.random.default_rng(0)
    values, own = rng.random((10, 3)), (0, 1, 2, 3, 4)
    spread = values.std(axis=0)

    def largest(group: tuple[int, ...]) -> float:
        inside = np.isin(np.arange(10), group)
        return float((abs(values[inside].mean(0) - values[~inside].mean(0)) / spread).max())

    every = [largest(group) for group in combinations(range(10), 5)]
    exact = np.mean(np.array(every) >= largest(own) - 1e-9)
    flags = np.repeat([1, 0, -1], [5, 5, 2])
    padded = sparse.csr_matrix(np.vstack([values, np.ones((2, 3))]))  # rows of neither group do not count
    assert max_t_p([padded], flags, 9999, 0)[0] == pytest.approx(exact, abs=0.02)


def test_what_never_varies_has_no_p_and_does_not_disturb_the_others() -> None:
    rng = np.random.default_rng(0)
    flags = np.arange(30) % 2
    varies, still = sparse.csr_matrix(rng.random((30, 2))), sparse.csr_matrix(np.ones((30, 2)))
    alone = max_t_p([varies], flags, 199, 0)
    both = max_t_p([still, varies, sparse.csr_matrix((30, 0))], flags, 199, 0)
    assert np.isnan(both[0])
    assert np.isnan(both[2])
    assert both[1] == alone[0]


def test_moments_are_those_of_full_columns() -> None:
    rng = np.random.default_rng(0)
    full = rng.random((20, 4)) * (rng.random((20, 4)) < 0.3)
    mean, variance = column_moments(sparse.csr_matrix(full))
    np.testing.assert_allclose(mean, full.mean(axis=0))
    np.testing.assert_allclose(variance, full.var(axis=0))


def test_few_rows_have_few_arrangements() -> None:
    # 5 and 5: 252 arrangements, of which two give the same differences; 3 and 5: 56 that all differ.
    assert max_t_floor(np.repeat([1, 0, -1], [5, 5, 9]), 9999) == 2 / 252
    assert max_t_floor(np.repeat([1, 0], [3, 5]), 9999) == 1 / 56
    assert max_t_floor(np.repeat([1, 0], [50, 50]), 9999) == 1 / 10_000
