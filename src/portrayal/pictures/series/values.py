"""Values of an axis: steps, names and their rules."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from portrayal.errors import PortrayalError, nearest

UNEVEN = 0.05  # of a step: values written with two decimals are as far from evenly spaced
# Of values much larger slopes are too small to be told from 0, and of squares of values much smaller or larger nothing is left.
SMALLEST, LARGEST = 1e-6, 1e6
STEPS = {"gender": 7, "race": 5}
REACH = 2.0


def steps(attribute: str, count: int | None = None, reach: float = REACH) -> np.ndarray:
    """Return the values of a series: evenly spaced, symmetric, the centre exactly 0."""
    if attribute not in STEPS:
        raise PortrayalError(
            f"no attribute {attribute!r} can be varied.{nearest(attribute, STEPS)} "
            f"Known: {', '.join(STEPS)}. Age is held fixed and never varied."
        )
    count = count or STEPS[attribute]
    if count < 3 or count % 2 == 0:
        raise PortrayalError(f"a series of {count} steps has no centre. Choose an odd number, 3 or more.")
    values = np.linspace(-reach, reach, count)
    values[count // 2] = 0.0
    return values


def axis_title(attribute: str, low: str | None = None, high: str | None = None) -> str:
    """Return an axis in words."""
    if not (low and high):
        return attribute
    return f"{'placebo beside race' if attribute == 'placebo' else attribute} from {low} to {high}"


def even_values(values: Iterable[float], title: str) -> np.ndarray:
    """Return the distinct rising values of an axis; refuse those without a slope."""
    steps = np.array(sorted(set(map(float, values))))
    listed = f"the values {steps.tolist()}" if len(steps) else "no values, only the unedited photograph"
    series = f"the {title} series has {listed}"
    if len(steps) < 3 or 0.0 not in steps:
        raise PortrayalError(f"{series}. Expected three or more steps with a centre at 0. Make the missing ones.")
    if not (np.abs(steps) <= LARGEST).all() or not (np.abs(steps[steps != 0]) >= SMALLEST).all():
        raise PortrayalError(f"{series}. Expected sizes from {SMALLEST:g} to {LARGEST:g}, such as -2, -1, 0, 1, 2.")
    step = np.diff(steps).mean()
    lopsided = np.abs(steps + steps[::-1]).max() > 1e-6 * step
    if lopsided or np.abs(np.diff(steps) - step).max() > UNEVEN * step:
        raise PortrayalError(
            f"{series}. Expected steps symmetric around 0 and evenly "
            f"spaced, such as -2, -1, 0, 1, 2. Leave out the steps without a counterpart, or make the missing ones."
        )
    return steps
