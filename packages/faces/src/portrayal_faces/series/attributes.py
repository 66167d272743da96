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


def two_poles(poles: Sequence[str]) -> Sequence[str]:
    """Return the two poles of race, or say what is wrong with them."""
    for name in poles:
        check_name(name, RACES, "race pole")
    if len(poles) != 2 or poles[0] == poles[1]:
        raise PortrayalError(f"race needs two different poles; got {list(poles)}. Example: White, Black.")
    return poles
