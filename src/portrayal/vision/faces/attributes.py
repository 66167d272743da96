"""What can be varied and by which values: gender and race, and nothing else; age never.

Gender runs from -2 (feminine) to 2 (masculine), race between two named groups. All labels are other people's perceptions, none is a
person's own word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.errors import PortrayalError, check_name, nearest

RACES = ("White", "Black", "East Asian", "Southeast Asian", "Indian", "Latino_Hispanic", "Middle Eastern")
ADULT_AGES = ("20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
STEPS = {"gender": 7, "race": 5}
REACH = 2.0
UNEVEN = 0.05  # of a step: values written with two decimals are as far from evenly spaced


def steps(attribute: str, count: int | None = None, reach: float = REACH) -> np.ndarray:
    """Return the values of a series: evenly spaced, symmetric, the centre exactly 0.

    Examples
    --------
    >>> steps("race").tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
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


def even_steps(values: np.ndarray, title: str) -> np.ndarray:
    """Return the values of a series, rising, or refuse those that nothing can be read from.

    The reversal test reads a series backwards and the conditional logistic slope counts on sums of either sign, so the
    values must lie alike on both sides of 0; both count steps, so the steps must be alike.

    Parameters
    ----------
    values
        All there are, each once, in any order.
    title
        What is varied, for the message.

    Raises
    ------
    PortrayalError
        When there are fewer than three, none is 0, one is no number, or they are not alike on both sides and evenly spaced.
    """
    values = np.sort(values)
    if len(values) < 3 or 0.0 not in values:
        raise PortrayalError(
            f"the {title} series has the values {values.tolist()}. Expected three or more steps with a centre at 0."
        )
    step = np.diff(values).mean()
    alike = np.abs(values + values[::-1]).max() <= 1e-6 * step  # never, where one is no number
    if not alike or np.abs(np.diff(values) - step).max() > UNEVEN * step:
        raise PortrayalError(
            f"the {title} series has the values {values.tolist()}. Expected steps symmetric around 0 and evenly "
            f"spaced, such as -2, -1, 0, 1, 2. Leave out the steps without a counterpart, or make the missing ones."
        )
    return values


def two_poles(poles: Sequence[str]) -> Sequence[str]:
    """Return the two poles of race, or say what is wrong with them."""
    for name in poles:
        check_name(name, RACES, "race pole")
    if len(poles) != 2 or poles[0] == poles[1]:
        raise PortrayalError(f"race needs two different poles; got {list(poles)}. Example: White, Black.")
    return poles
