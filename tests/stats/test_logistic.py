"""Batched logistic regressions against scikit-learn, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.errors import MissingExtra
from portrayal.stats.models import logistic
from portrayal.stats.models.logistic import effective_parameters, fit

# Both converge to a gradient of 1e-6; scikit-learn's lbfgs is the looser of the two.
CLOSE = 1e-2


def data(seed: int, rows: int = 150, types: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features shaped like those of the audit (sizes, places, group), outcomes and training sets."""
    rng = np.random.default_rng(seed)
    present = rng.random((rows, types)) < rng.uniform(0.02, 0.5, types)
    features = np.hstack([present * rng.random((rows, types)) / 2, present * rng.random((rows, types))])
    group = rng.random(rows) < 0.5
    features = np.column_stack([features, group])
    outcome = rng.random(rows) < 1 / (1 + np.exp(-(2 * features[:, 0] + group - 0.8)))
    train = rng.random((rows, 8)).argsort(axis=0) < round(0.7 * rows)
    return features, outcome, train


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_coefficients_equal_scikit_learns(seed) -> None:
    from sklearn.linear_model import LogisticRegression

    features, outcome, train = data(seed)
    ours = fit(features, outcome, train)
    assert ours.gradient.max() <= 1e-6
    for number in range(3):
        rows = train[:, number]
        theirs = LogisticRegression(C=1.0, tol=1e-6, max_iter=10_000).fit(features[rows], outcome[rows])
        assert np.abs(ours.coefficients[:, number] - theirs.coef_[0]).max() < CLOSE
        assert abs(ours.intercepts[number] - theirs.intercept_[0]) < CLOSE


def test_an_intercept_alone_is_the_log_odds() -> None:
    found = fit(np.zeros((10, 2)), np.arange(10) < 3, np.ones((10, 1)))
    assert found.intercepts[0] == pytest.approx(np.log(3 / 7), abs=1e-6)
    assert not found.coefficients.any()


def test_weights_count_rows_as_often_as_they_say() -> None:
    features, outcome, _ = data(3, rows=40, types=5)
    weights = np.random.default_rng(0).integers(0, 3, (40, 1))
    twice = np.repeat(np.arange(40), weights[:, 0])
    one = fit(features, outcome, weights).coefficients[:, 0]
    other = fit(features[twice], outcome[twice], np.ones((len(twice), 1))).coefficients[:, 0]
    assert np.abs(one - other).max() < 1e-5


def test_separable_outcomes_converge_because_of_the_penalty() -> None:
    group = np.repeat([0.0, 1.0], 20)[:, None]
    found = fit(group, group[:, 0] > 0.5, np.ones((40, 1)))
    assert found.gradient.max() <= 1e-6
    assert found.coefficients[0, 0] > 0


def test_a_device_without_torch_names_the_extra(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="torch"):
        fit(np.ones((4, 1)), np.array([0, 1, 0, 1]), np.ones((4, 1)), device="cpu")


def test_torch_gives_the_same_coefficients() -> None:
    pytest.importorskip("torch", reason="the extra [torch] is not installed")
    features, outcome, train = data(4, rows=60, types=20)
    ours = fit(features, outcome, train)
    other = fit(features, outcome, train, device="cpu")
    assert np.abs(ours.coefficients - other.coefficients).max() < 1e-6


def test_effective_parameters_run_from_the_intercept_to_all_of_them() -> None:
    features, outcome, _ = data(0, types=5)
    margins = fit(features, outcome, np.ones((len(outcome), 1))).margins[:, 0]
    assert effective_parameters(features, margins, C=1e-9) == pytest.approx(1, abs=1e-3)
    assert effective_parameters(features, margins, C=1e9) == pytest.approx(12, abs=1e-3)
    assert 1 < effective_parameters(features, margins) < 12


def test_a_step_that_would_raise_the_loss_is_halved_and_a_good_one_kept() -> None:
    # One row with the outcome, no penalty: the loss at 0 is log 2 and falls to the right. Going left by .5 raises it by
    # .28, however often it is halved; going right by .5 is fine as it is. Both fits are judged apart.
    one = np.ones((1, 1))
    at = (one, one, np.ones((1, 2)), 0 * one, np.zeros((1, 2)))
    step, loss = logistic._damped(*at, np.array([[0.5, -0.5]]), None, np)
    assert step[0, 1] == -0.5
    assert 0 < step[0, 0] < 1e-6
    assert loss is None  # of the last halving it was not worked out


def test_the_loss_after_a_step_serves_the_next() -> None:
    one = np.ones((1, 1))
    at = (one, one, np.ones((1, 2)), 0 * one, np.zeros((1, 2)))
    step, loss = logistic._damped(*at, np.array([[-0.25, -0.5]]), None, np)
    assert np.array_equal(loss, logistic._loss(*at[:4], -step, np))
    # Given a loss before, it is not worked out again: against this one a step to the left is fine.
    assert logistic._damped(*at, np.array([[0.5, -0.5]]), np.full(2, 9.0), np)[0].tolist() == [[0.5, -0.5]]


def test_the_loss_by_hand() -> None:
    # Margins 2 and -1 of weights 1 and 3, outcomes true and false: log(1 + e^-2) + 3 log(1 + e^-1), and half of 2^2.
    design, solution = np.array([[1.0], [-0.5]]), np.array([[2.0]])
    outcome, weights = np.array([[1.0], [0.0]]), np.array([[1.0], [3.0]])
    found = logistic._loss(design, outcome, weights, np.ones((1, 1)), solution, np)
    assert found == pytest.approx([np.log1p(np.exp(-2)) + 3 * np.log1p(np.exp(-1)) + 2])


def said(rows: int = 300, words: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a bag of words, outcomes that hang on one of them, and five training sets."""
    rng = np.random.default_rng(5)
    bag = (rng.random((rows, words)) < 1 / np.arange(2, words + 2)).astype(float)
    outcome = rng.random(rows) < np.where(bag[:, 3] > 0, 0.8, 0.4)
    return bag, outcome, rng.permutation(rows)[:, None] % 5 != np.arange(5)


def test_a_sparse_matrix_gives_the_same_fits() -> None:
    from scipy import sparse

    bag, outcome, train = said()
    outcomes = np.column_stack([outcome, ~outcome, outcome, ~outcome, outcome])
    for asked in (outcome, outcomes):
        dense, found = fit(bag, asked, train), fit(sparse.csr_array(bag), asked, train)
        assert found.gradient.max() <= 1e-6
        assert np.abs(found.margins - dense.margins).max() < 1e-5
        assert np.abs(found.coefficients - dense.coefficients).max() < 1e-5
        assert np.abs(found.intercepts - dense.intercepts).max() < 1e-5


@pytest.mark.parametrize("columns", [0, 1, 4])
def test_rows_that_are_alike_are_fitted_as_one_with_the_same_result(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bag, outcome, train = said()
    few = bag[:, :columns]
    together = fit(few, outcome, train * 2)
    monkeypatch.setattr(logistic, "MANY_ALIKE", len(bag) + 1)
    one_by_one = fit(few, outcome, train * 2)
    assert together.margins.shape == one_by_one.margins.shape
    assert np.abs(together.margins - one_by_one.margins).max() < 1e-6
    assert np.abs(together.coefficients - one_by_one.coefficients).max(initial=0) < 1e-6


def test_alike_rows_have_exactly_the_same_margin() -> None:
    bag, outcome, train = said()
    margins, kind = fit(bag[:, :4], outcome, train).margins, logistic.alike(bag[:, :4])[1]
    assert all((margins[kind == number] == margins[kind == number][0]).all() for number in range(kind.max() + 1))
