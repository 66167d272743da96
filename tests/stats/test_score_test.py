"""The score test of a group: Pearson's with no covariates, and level where an outcome is rare."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.models.logistic import group_score_p


@pytest.mark.parametrize("table", [[[40, 20], [25, 35]], [[3, 57], [9, 51]]])
def test_without_covariates_it_is_pearsons_test_with_yates_half_where_counts_are_small(table) -> None:
    group = np.repeat([1.0, 0.0], [sum(row) for row in table])
    outcome = np.concatenate([np.repeat([True, False], row) for row in table])
    expected = stats.chi2_contingency(table, correction=np.min(table) < 10).pvalue
    assert group_score_p(np.zeros((len(group), 2)), group, outcome) == pytest.approx(expected, rel=1e-3)


def test_a_covariate_that_explains_the_difference_is_held_fixed() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 600).astype(float)
    size = group + rng.normal(0, 0.5, 600)
    outcome = rng.random(600) < 1 / (1 + np.exp(-2 * (size - 0.5)))
    assert group_score_p(np.zeros((600, 1)), group, outcome) < 1e-6
    assert group_score_p(size[:, None], group, outcome) > 0.05


@pytest.mark.parametrize("C", [1.0, 0.1])
def test_with_covariates_it_is_the_score_by_hand(C: float) -> None:
    # The model without the group from scikit-learn; the group less what the penalised covariates tell of it.
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    covariates, group = rng.normal(size=(150, 3)), rng.integers(0, 2, 150).astype(float)
    outcome = rng.random(150) < 1 / (1 + np.exp(-covariates[:, 0] - 0.6 * group + 0.3))
    chance = LogisticRegression(C=C, tol=1e-10).fit(covariates, outcome).predict_proba(covariates)[:, 1]
    design = np.column_stack([covariates, np.ones(150)])
    information = design.T @ np.diag(chance * (1 - chance)) @ design + np.diag([1 / C] * 3 + [0])
    rest = group - design @ np.linalg.solve(information, design.T @ (chance * (1 - chance) * group))
    z = rest @ (outcome - chance) / np.sqrt(rest @ (chance * (1 - chance) * rest))
    assert group_score_p(covariates, group, outcome, C) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-4)


@pytest.mark.parametrize("rate", [0.04, 0.4])
def test_level_where_the_outcome_is_rare_and_where_it_is_not(rate) -> None:
    rng = np.random.default_rng(1)
    group = np.repeat([1.0, 0.0], 50)
    found = []
    for _ in range(300):
        outcome = rng.random(100) < rate
        if 1 < outcome.sum() < 99:
            found.append(group_score_p(rng.random((100, 3)), group, outcome) < 0.05)
    assert np.mean(found) < 0.08


def test_an_outcome_too_rare_to_tell_anything_is_not_tested() -> None:
    group = np.repeat([1.0, 0.0], 50)
    for number, tested in ((4, False), (8, True)):
        outcome = np.isin(np.arange(100), np.arange(0, 100, 100 // number)[:number])
        assert np.isnan(group_score_p(np.zeros((100, 1)), group, outcome)) != tested
        assert np.isnan(group_score_p(np.zeros((100, 1)), group, ~outcome)) != tested
