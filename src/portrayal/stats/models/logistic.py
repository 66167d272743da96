"""Many logistic regressions on the same rows fitted together [1]; Rao's score test [2].

The objective is that of scikit-learn's LogisticRegression with an L2 penalty. Splits and bootstraps differ only in weights, so
all are solved at once by Newton's method with preconditioned conjugate gradients, on numpy or a device of torch.
[1] Lin, Weng, Keerthi (2008), Trust region Newton method for large-scale logistic regression, JMLR 9, 627-650.
[2] Rao (1948), Large sample tests of statistical hypotheses, Proc. of the Cambridge Philosophical Society 44, 50-57.
[3] Tarone (1990), A modified Bonferroni method for discrete data, Biometrics 46, 515-522.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portrayal.errors import MissingExtra
from portrayal.stats import scipy

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-6  # largest entry of the gradient
NEWTON_STEPS = 50
INNER_STEPS = 30
MANY_ALIKE = 2  # rows of each kind, in the mean, from which on adding them up is worth it


@dataclass(frozen=True)
class Fits:
    """Coefficients (features x fits), intercepts, and margins x b + a (rows x fits)."""

    coefficients: np.ndarray
    intercepts: np.ndarray
    margins: np.ndarray
    gradient: np.ndarray  # largest entry of each fit's gradient: at most the tolerance when converged


def fit(
    features: np.ndarray | csr_array,
    outcome: np.ndarray,
    weights: np.ndarray,
    C: float = 1.0,
    tolerance: float = TOLERANCE,
    device: str = "",
) -> Fits:
    """Fit one regression for each column of `weights`."""
    weighted = np.asarray(weights, dtype=float) * C
    outcomes = np.asarray(outcome, dtype=float).reshape(len(weighted), -1)
    if not isinstance(features, np.ndarray):
        return _fit_sparse(features, outcomes, weighted, tolerance)
    first, kind = alike(features)
    if len(first) * MANY_ALIKE <= len(features):
        fits = fit(features[first], *_added_up(outcomes, weighted, kind), 1.0, tolerance, device)
        return replace(fits, margins=fits.margins[kind])
    rotated, back = rotate(np.asarray(features, dtype=float))
    design = np.hstack([rotated, np.ones((len(rotated), 1))])
    arrays = (design, outcomes, weighted)
    solution, size = _on_torch(arrays, tolerance, device) if device else _solve(*arrays, tolerance, np)
    return Fits(back @ solution[:-1], solution[-1], design @ solution, size)


def alike(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each kind of equal rows, and every row's kind."""
    if not features.shape[1]:
        return np.zeros(min(1, len(features)), np.intp), np.zeros(len(features), np.intp)
    rows = np.ascontiguousarray(features + 0.0)  # so that -0 is 0
    seen = rows.view(f"V{rows.shape[1] * rows.itemsize}")[:, 0]
    numbers: dict[bytes, int] = {}
    kind = np.array([numbers.setdefault(row, len(numbers)) for row in seen.tolist()], np.intp)
    return np.unique(kind, return_index=True)[1], kind


def _added_up(outcome: np.ndarray, weights: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each kind's share of weight whose outcome is true, and its weight."""
    of_kind = scipy.sparse.csr_array((np.ones(len(kind)), (kind, np.arange(len(kind)))))
    total, true = of_kind @ weights, of_kind @ (weights * outcome)
    return np.divide(true, total, out=np.zeros_like(total), where=total > 0), total


def _fit_sparse(features: csr_array, outcome: np.ndarray, weights: np.ndarray, tolerance: float) -> Fits:
    design = scipy.sparse.hstack([features, np.ones((features.shape[0], 1))], format="csr")
    penalty = np.ones((design.shape[1], 1))
    penalty[-1] = 0.0
    # At the start every chance is a half: a quarter of the weight is the curve.
    diagonal = design.power(2).T @ (weights.mean(1) / 4) + penalty[:, 0]
    inverse = scipy.sparse.diags_array(1 / np.maximum(diagonal, 1e-9))
    start = np.zeros((design.shape[1], weights.shape[1]))
    solution, size = _newton(design, outcome, weights, penalty, inverse, start, tolerance, np)
    return Fits(solution[:-1], solution[-1], design @ solution, size)


def rotate(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in the basis of their singular vectors, and the way back."""
    used = np.flatnonzero(features.any(axis=0))
    back = np.zeros((features.shape[1], 0))
    if not len(used):
        return np.zeros((len(features), 0)), back
    left, values, right = np.linalg.svd(features[:, used], full_matrices=False)
    rank = int((values > values[0] * 1e-12).sum()) if len(values) else 0
    back = np.zeros((features.shape[1], rank))
    back[used] = right[:rank].T
    return left[:, :rank] * values[:rank], back


def effective_parameters(features: np.ndarray, margins: np.ndarray, C: float = 1.0) -> float:
    """Return how many free parameters a penalised fit amounts to."""
    rotated = rotate(np.asarray(features, dtype=float))[0]
    design = np.hstack([rotated, np.ones((len(rotated), 1))])
    chance = _logistic(margins, np)
    data = design.T @ (design * (chance * (1 - chance))[:, None])
    penalty = np.append(np.full(rotated.shape[1], 1 / C), 0.0)
    return float(np.trace(np.linalg.solve(data + np.diag(penalty), data)))


def _solve(design: Any, outcome: Any, weights: Any, tolerance: float, xp: Any) -> tuple[Any, Any]:
    """Newton's method on all fits, by conjugate gradients with one preconditioner."""
    penalty = xp.ones((design.shape[1], 1), dtype=design.dtype, **_where(design, xp))
    penalty[-1] = 0.0
    start = _one_fit(design, outcome.mean(1), weights.mean(1), penalty, xp)
    chance = _logistic(design @ start, xp)
    inverse = xp.linalg.inv(_hessian(design, chance, weights.mean(1), penalty, xp))
    solution = start[:, None] * xp.ones((1, weights.shape[1]), dtype=design.dtype, **_where(design, xp))
    return _newton(design, outcome, weights, penalty, inverse, solution, tolerance, xp)


def _newton(
    design: Any, outcome: Any, weights: Any, penalty: Any, inverse: Any, solution: Any, tolerance: float, xp: Any
) -> tuple[Any, Any]:
    """Step until every gradient is small; return the solution and the gradients' sizes."""
    loss = None
    for _ in range(NEWTON_STEPS):
        chance = _logistic(design @ solution, xp)
        gradient = design.T @ (weights * (chance - outcome)) + penalty * solution
        size = abs(gradient).max(0)
        size = getattr(size, "values", size)
        if float(size.max()) <= tolerance:
            break
        curve = weights * chance * (1 - chance)
        step = _conjugate_gradients(design, curve, penalty, inverse, gradient, xp)
        step, loss = _damped(design, outcome, weights, penalty, solution, step, loss, xp)
        solution = solution - step
    return solution, size


def _conjugate_gradients(design: Any, curve: Any, penalty: Any, inverse: Any, gradient: Any, xp: Any) -> Any:
    """Solve Hessian x = gradient for every column, to a tenth of a percent."""
    step = xp.zeros_like(gradient)
    rest = gradient + 0.0
    scaled = inverse @ rest
    direction = scaled + 0.0
    product = (rest * scaled).sum(0)
    goal = 1e-3 * (gradient**2).sum(0) ** 0.5 + 1e-300
    for _ in range(INNER_STEPS):
        image = design.T @ (curve * (design @ direction)) + penalty * direction
        length = product / ((direction * image).sum(0) + 1e-300)
        step = step + length * direction
        rest = rest - length * image
        if bool(((rest**2).sum(0) ** 0.5 <= goal).all()):
            break
        scaled = inverse @ rest
        new = (rest * scaled).sum(0)
        direction = scaled + new / (product + 1e-300) * direction
        product = new
    return step


def _damped(
    design: Any, outcome: Any, weights: Any, penalty: Any, solution: Any, step: Any, loss: Any, xp: Any
) -> tuple[Any, Any]:
    """Halve the step of any fit whose loss would rise; return the loss if known."""
    before = _loss(design, outcome, weights, penalty, solution, xp) if loss is None else loss
    for _ in range(20):
        after = _loss(design, outcome, weights, penalty, solution - step, xp)
        worse = after > before + 1e-9 * (1 + abs(before))
        if not bool(worse.any()):
            return step, after
        step = xp.where(worse[None, :], step / 2, step)
    return step, None


def _loss(design: Any, outcome: Any, weights: Any, penalty: Any, solution: Any, xp: Any) -> Any:
    margins = design @ solution
    # log(1 + exp(z)) without overflow; an outcome may be a share, of rows that were added up
    each = xp.log1p(xp.exp(-abs(margins))) + (margins + abs(margins)) / 2 - outcome * margins
    return (weights * each).sum(0) + (penalty * solution**2).sum(0) / 2


def _one_fit(design: Any, outcome: Any, weights: Any, penalty: Any, xp: Any) -> Any:
    """Fit with the mean weights by plain Newton steps, to start all others."""
    solution = xp.zeros_like(design[0])
    for _ in range(NEWTON_STEPS):
        chance = _logistic(design @ solution, xp)
        gradient = design.T @ (weights * (chance - outcome)) + penalty[:, 0] * solution
        if float(abs(gradient).max()) < TOLERANCE:
            break
        solution = solution - xp.linalg.solve(_hessian(design, chance, weights, penalty, xp), gradient)
    return solution


def _hessian(design: Any, chance: Any, weights: Any, penalty: Any, xp: Any) -> Any:
    curve = (weights * chance * (1 - chance))[:, None]
    tiny = 1e-9  # keeps the intercept's entry above zero where all outcomes are certain
    return design.T @ (curve * design) + xp.diag(penalty[:, 0] + tiny)


def _logistic(margins: Any, xp: Any) -> Any:
    return 1.0 / (1.0 + xp.exp(-xp.clip(margins, -500, 500)))


def _where(array: Any, xp: Any) -> dict[str, Any]:
    return {} if xp is np else {"device": array.device}


def _on_torch(arrays: tuple[np.ndarray, ...], tolerance: float, device: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        import torch
    except ImportError:
        raise MissingExtra("fitting on a device", "torch") from None
    design, outcome, weights = (torch.as_tensor(array, device=device) for array in arrays)
    solution, size = _solve(design, outcome, weights, tolerance, torch)
    return solution.cpu().numpy(), size.cpu().numpy()


REACH = 0.05  # a test that could not come below this whatever the groups is none
SMALL = 10  # images of a group with an outcome below which half an image is taken off, as Yates does


def group_score_p(covariates: np.ndarray, group: np.ndarray, outcome: np.ndarray, C: float = 1.0) -> float:
    """Return the two-sided p of a group's effect; NaN where no division could alarm [3].

    A coefficient over its error goes wrong where an outcome is rare: four images of one group give a large one.
    """
    chance = scipy.special.expit(fit(covariates, outcome, np.ones((len(outcome), 1)), C).margins[:, 0])
    curve = chance * (1 - chance)
    rest = group - _explained(covariates, group, curve, C)
    error = np.sqrt(curve @ rest**2)
    smallest_cell = min(int(((group == g) & (outcome == y)).sum()) for g in (0, 1) for y in (False, True))
    taken_off = 0.5 if smallest_cell < SMALL else 0.0
    if error == 0 or _p(_largest_score(rest, chance, outcome) - taken_off, error) >= REACH:
        return float("nan")
    return _p(abs(rest @ (outcome - chance)) - taken_off, error)


def _p(score: float, error: float) -> float:
    return float(2 * scipy.special.ndtr(-max(score, 0.0) / error))


def _largest_score(rest: np.ndarray, chance: np.ndarray, outcome: np.ndarray) -> float:
    """Return the largest score that as many outcomes could give, on either side."""
    ordered, number = np.sort(rest), int(outcome.sum())
    ends = ordered[:number].sum(), ordered[len(ordered) - number :].sum()
    return float(max(abs(end - rest @ chance) for end in ends))


def _explained(covariates: np.ndarray, group: np.ndarray, curve: np.ndarray, C: float) -> np.ndarray:
    """Return the group as covariates and intercept explain it, weighed and penalised."""
    rotated = rotate(np.asarray(covariates, dtype=float))[0]
    design = np.hstack([rotated, np.ones((len(group), 1))])
    weighted = design * curve[:, None]
    penalty = np.append(np.full(rotated.shape[1], 1 / C), 1e-9)  # the intercept is free
    return design @ np.linalg.solve(weighted.T @ design + np.diag(penalty), weighted.T @ group)
