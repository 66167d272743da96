"""The random-intercept model against statsmodels, and where statsmodels gives up."""

import numpy as np
import pytest

from portrayal.stats.models.random_intercept import fit_random_intercept


def data(seed, spread):
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(25), rng.integers(3, 9, 25))
    design = np.column_stack([np.ones(len(people)), (people % 2), rng.normal(size=len(people))])
    values = design @ [1.0, 0.5, -0.3] + rng.normal(0, spread, 25)[people] + rng.normal(0, 0.5, len(people))
    return values, design.astype(float), people


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_statsmodels(seed):
    from statsmodels.regression.mixed_linear_model import MixedLM

    values, design, people = data(seed, 0.8)
    ours = fit_random_intercept(values, design, people)
    theirs = MixedLM(values, design, groups=people).fit(reml=True)
    assert ours.coefficients == pytest.approx(theirs.fe_params, abs=1e-4)  # theirs stops searching earlier
    assert ours.errors == pytest.approx(theirs.bse_fe, abs=1e-3)
    assert ours.between == pytest.approx(float(theirs.cov_re[0, 0]), rel=5e-3)


def test_no_variance_between_people_is_least_squares():
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(10), 4)
    design = np.column_stack([np.ones(40), rng.normal(size=40)])
    noise = rng.normal(size=40)
    noise -= np.repeat(noise.reshape(10, 4).mean(axis=1), 4)  # people's means are all alike
    values = design @ [2.0, 1.0] + noise
    fitted = fit_random_intercept(values, design, people)
    assert fitted.between == 0
    assert fitted.coefficients == pytest.approx(np.linalg.lstsq(design, values, rcond=None)[0])
