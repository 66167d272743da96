"""What the group's coefficient is on average when a phantom leaves out the dog with men: by simulation.

The regressions are penalised (L2, C = 1), so their coefficient is not the log odds of the population but is pulled
towards zero, the more the fewer images there are; here the log odds would even be infinite, as the dog is never left out
with women. What the bootstrap's interval can hold is the mean of the coefficient over studies of the same size. It is
printed by

    python -m portrayal.audits.captions.calibration.expected_coefficient

from studies whose seeds no calibration uses, and a test draws it again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portrayal.audits.captions.calibration.planted import OPTIONS, RATE, SCENES, planted
from portrayal.audits.captions.measures.objects_mentioned import effects_of
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean

NAME = "objects correctly mentioned"
STREAM = 5  # beside the stream of a calibration's own seeds
STUDIES = 4000
EXPECTED = {RATE: 2.6549}  # rate -> coefficient of the group for the dog, at SCENES scenes


def coefficient(seed: int) -> float:
    """Return the dog's coefficient of female over male in one study."""
    few = replace(OPTIONS, bootstraps=2)
    stages = planted(NAME, SCENES, RATE, seed)
    effects = effects_of(stages, SYSTEM_CAPTIONS, "gender", ("female", "male"), few)
    return next(effect.coefficient for effect in effects if effect.synset == "dog.n.01")


def expected(studies: int = STUDIES) -> Estimate:
    """Return the mean coefficient over studies, with the interval of the simulation."""
    seeds = np.random.SeedSequence([0, STREAM]).generate_state(studies).tolist()
    return clustered_mean(np.array([coefficient(seed) for seed in seeds]))


if __name__ == "__main__":
    found = expected()
    print(f"{found.value:.4f} ({found.low:.4f} to {found.high:.4f}), {STUDIES:,} studies of {SCENES} scenes")
