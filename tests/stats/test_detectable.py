"""The effect said to be found in 80 of 100 audits is found so often, by the decision that reports use."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.stats.decisions.decision import FOUND, decide
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, over_tolerance
from portrayal.stats.models import groups
from portrayal.stats.power.power import detectable, smallest_of_people
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.stats.tests.proportions import mean_share_difference, share_difference
from portrayal.tables import results

AUDITS = 400


def audits(estimates: list[Estimate], tests: int) -> list[dict]:
    """Decide as many audits, in each of which the other tests have nothing."""
    rows = [
        {**one.row("gap"), "system": str(place)}
        for place, estimate in enumerate(estimates)
        for one in (estimate, *[Estimate(0.0, -1.0, 1.0, 1.0, 9)] * (tests - 1))
    ]
    return decide(results(rows, facets=(), audit="captions"), ("gap",)).gather_every(tests).to_dicts()


def drawn(test: str, sizes: tuple[int, int], base: float, effect: float, runs: int = AUDITS) -> list[Estimate]:
    rng, (n, other) = np.random.default_rng(0), sizes
    if test == "tolerance":
        return [over_tolerance(hits, n, base) for hits in rng.binomial(n, effect, runs).tolist()]
    hits = zip(rng.binomial(n, base + effect, runs).tolist(), rng.binomial(other, base, runs).tolist(), strict=True)
    if test == "fisher":
        return [share_difference(one, n, two, other) for one, two in hits]
    return [mean_share_difference(*(np.arange(m) < k for m, k in ((n, one), (other, two)))) for one, two in hits]


@pytest.mark.parametrize(
    ("test", "sizes", "base", "tests"),
    [("tolerance", (5, 0), 0.005, 1), ("tolerance", (120, 0), 0.005, 14), ("tolerance", (200, 0), 0.005, 72),
     ("fisher", (20, 20), 0.05, 1), ("fisher", (200, 20), 0.1, 14), ("shares", (200, 200), 0.5, 72),
     ("shares", (60, 40), 0.005, 6)],
)  # fmt: skip
def test_the_effect_that_is_printed_is_found_in_80_of_100_audits(test, sizes, base, tests):
    effect = detectable(test, *sizes, base, 0.05 / tests)
    found = [row["decision"] == FOUND for row in audits(drawn(test, sizes, base, effect), tests)]
    assert 0.74 <= np.mean(found) <= 0.86
    # Without an effect the row prints that number, where the share of the smaller side is the same.
    (row,) = audits(drawn(test, sizes, base, base if test == "tolerance" else 0.0, 1), tests)
    if row["decision"] == "not found":
        assert row["detectable"] == pytest.approx(
            detectable(test, row["n_first"], row["n_second"], row["base_share"], 0.05 / tests)
        )


@pytest.mark.parametrize(("people", "tests"), [(7, 1), (9, 6), (12, 20), (48, 36)])
def test_the_effect_of_joint_flips_is_found_in_80_of_100_audits(people, tests):
    rng, hits = np.random.default_rng(1), 0
    effect = smallest_of_people(people, tests)
    for _ in range(AUDITS):
        differences = rng.normal(size=(people, tests))
        differences[:, 0] += effect
        mean = clustered_mean(differences[:, 0])
        hits += bool(flip_jointly(differences).adjusted[0] < 0.05 and mean.low > 0)
    assert 0.74 <= hits / AUDITS <= 0.86


@pytest.mark.parametrize(("sizes", "alpha"), [((24, 24), 0.05), ((24, 24), 0.05 / 14), ((16, 12, 14), 0.05)])
def test_the_share_of_variance_is_found_in_80_of_100_audits(sizes, alpha, monkeypatch):
    monkeypatch.setattr(groups, "DRAWS", 1999)
    group, rng = np.repeat(range(len(sizes)), sizes), np.random.default_rng(0)
    people, terms = len(group), len(sizes) - 1
    eta = detectable("variance", terms, people - terms - 1, 0.0, alpha, people)
    means = (group == 0) - (group == 0).mean()
    means = means / means.std() * np.sqrt(eta / (1 - eta))
    found = [groups.permute_terms(rng.normal(means), {"group": group}).p["group"] < alpha for _ in range(200)]
    assert 0.74 - 0.03 <= np.mean(found) <= 0.86  # 200 audits: an error of .03
    assert groups.has_known_power({"group": group})
    assert not groups.has_known_power({"group": np.repeat([0, 1, 2], [40, 20, 5])})  # found in 63 of 100


def test_what_nobody_could_find_is_not_printed():
    assert np.isnan(detectable("tolerance", 1, 0, 0.005, 0.001))
    assert np.isnan(detectable("fisher", 3, 3, 0.1, 0.001))
