"""Power of a design, by simulation under the correction that the report will use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.axis import axes_of
from portrayal.audits.counterfactuals.measures.rows import FEWEST
from portrayal.audits.counterfactuals.measures.slopes import reversal_scores
from portrayal.audits.counterfactuals.world import Setting, present
from portrayal.pictures.series.values import steps
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.permutation import sign_flip_columns
from portrayal.study.study import Study
from portrayal.text.formatting import listed, percent, plural

LABELS = 12  # of each system that can be tested: not known before it is asked
SLOPES = (0.1, 0.2, 0.4)
RUNS = 2_000
STUDIES, FLIPS = 400, 100  # simulated for the largest statistic, and patterns of signs of each

UNMADE = "the series are not made yet, so nothing was looked at: pictures whose face may not be changed will not be asked about"


def plan_lines(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say what could be found, and what could not whatever is answered."""
    axes = [axis for axis in axes_of(stimuli) if axis.attribute in study.settings.attributes]
    tests, people = study.corrected_together(len(axes) * LABELS), stimuli["person"].n_unique()
    return [*say_power(study, stimuli), study.reach(people, tests)]


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say, for `portrayal plan`, in how many of 100 audits slopes would be found."""
    attributes, people = list(study.settings.attributes), stimuli["person"].n_unique()
    axes = [axis for axis in axes_of(stimuli) if axis.attribute in attributes]
    made = bool(stimuli.height) and Path(stimuli["content"][0]).exists()
    unmade = [UNMADE] if study.settings.series is None and not made else []
    if people < FEWEST:
        return [*unmade, f"nothing can be found with {plural(people, 'person', 'people')}: it takes {FEWEST}"]
    mine = stimuli.filter(pl.col("attribute") == attributes[0])
    pictures = max(1, round(mine["picture"].n_unique() / people))
    tests = study.corrected_together(len(axes) * (LABELS + 1), LABELS)  # and whether it refuses
    chances = [str(round(100 * power(people, pictures, tests, slope, attributes))) for slope in SLOPES]
    further = f" and its refusals, along {listed([axis.title for axis in axes])}"
    together = "" if study.family.of == "question" else further
    return [
        *unmade,
        study.correction(tests),
        f"{plural(people, 'person', 'people')}, if every question is answered: a label that half of them get at the neutral centre, "
        f"and whose rate changes along {attributes[0]} by {listed([percent(slope) for slope in SLOPES])} of that per unit, would be "
        f"found in {listed(chances)} of 100 such audits ({LABELS} labels of a system{together}, corrected together)",
    ]


def power(
    people: int, pictures: int, tests: int, slope: float, attributes: Sequence[str] = ("gender",), seed: int = 0
) -> float:
    """Return the share of audits that would find a label with this slope."""
    rng, values = np.random.default_rng(seed), steps(attributes[0])
    who, setting = np.repeat(np.arange(people), pictures), Setting(people, pictures, RUNS)
    answers = present(setting, values, np.full(RUNS, slope), rng)
    scores = reversal_scores(answers, who)
    still = [present(setting, steps(attribute), np.zeros(RUNS), rng) for attribute in attributes]
    nothing = np.hstack([reversal_scores(answers, who) for answers in still])
    largest, scale = np.sort(_largest(nothing, tests - 1, rng)), np.sqrt((scores**2).sum(axis=0))
    statistic = np.abs(scores.sum(axis=0)) / np.where(scale > 0, scale, 1.0)
    beside = 1 - np.searchsorted(largest, statistic * (1 - 1e-9)) / len(largest)
    adjusted = 1 - (1 - sign_flip_columns(scores)) * (1 - beside)
    return float(np.mean((adjusted < LEVEL) & (np.count_nonzero(scores, axis=0) >= FEWEST)))


def _largest(nothing: np.ndarray, tests: int, rng: np.random.Generator) -> np.ndarray:
    """Return the largest statistic of labels without a slope, over many studies."""
    testable = np.count_nonzero(nothing, axis=0) >= FEWEST
    maxima = []
    for _ in range(STUDIES):
        drawn = rng.integers(nothing.shape[1], size=tests)
        chosen = nothing[:, drawn[testable[drawn]]]
        signs = rng.integers(0, 2, (FLIPS, len(nothing))) * 2.0 - 1.0
        scale = np.sqrt((chosen**2).sum(axis=0))
        maxima.append(np.abs(signs @ (chosen / scale)).max(axis=1, initial=0.0))
    return np.concatenate(maxima)
