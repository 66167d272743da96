"""The attribute vector every decoder layer is given: gender, age, expression and race, as continuous values.

Gender runs from -1 (feminine) to 1 (masculine) in training and from -2 to 2 in a series. Age is a control: an adult
value, clamped, never varied; so is smiling, where a data set labels it. Race is one weight per named group; a series
moves the weights from the first named pole to the second. All labels are other people's perceptions, none is a
person's own word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.errors import PortrayalError, check_name, nearest

RACES = ("White", "Black", "East Asian", "Southeast Asian", "Indian", "Latino_Hispanic", "Middle Eastern")
ADULT_AGES = ("20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
COLUMNS = ("gender", "age", "smiling", *RACES)  # a value that is not labelled is NaN in data, 0 in a network
FIRST_RACE = COLUMNS.index(RACES[0])
WIDTH = len(COLUMNS)
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


def age_value(group: str) -> float:
    """Return the control value of an adult age group, from -1 (20-29) to 1 (more than 70)."""
    if group not in ADULT_AGES:
        raise PortrayalError(f"age group {group!r} is not adult. Expected one of {', '.join(ADULT_AGES)}.")
    return 2 * ADULT_AGES.index(group) / (len(ADULT_AGES) - 1) - 1


def vary(start: np.ndarray, attribute: str, values: Sequence[float], poles: Sequence[str] = ()) -> np.ndarray:
    """Return one attribute vector per value: the attribute moved, everything else as in `start`.

    Parameters
    ----------
    start
        The face's own vector, in the order of COLUMNS.
    attribute
        'gender' or 'race'.
    values
        Where to go; -1 and 1 are the poles seen in training.
    poles
        For race, the names of the groups at -1 and at 1.
    """
    moved = np.repeat(clamp_age(start)[None], len(values), axis=0)
    if attribute == "gender":
        moved[:, 0] = values
    elif attribute == "race":
        first, second = (one_race(name) for name in two_poles(poles))
        moved[:, FIRST_RACE:] = (first + second) / 2 + np.asarray(values)[:, None] / 2 * (second - first)
    else:
        steps(attribute)  # raises: nothing else can be varied
    return moved


def clamp_age(vector: np.ndarray) -> np.ndarray:
    """Return a copy whose age lies in the adult range, whatever was asked."""
    held = np.array(vector, dtype=float)
    held[..., 1] = np.clip(held[..., 1], -1.0, 1.0)
    return held


def one_race(name: str) -> np.ndarray:
    """Return the weights of a single named group."""
    check_name(name, RACES, "race pole")
    return np.eye(len(RACES))[RACES.index(name)]


def two_poles(poles: Sequence[str]) -> Sequence[str]:
    """Return the two poles of race, or say what is wrong with them."""
    for name in poles:
        one_race(name)
    if len(poles) != 2 or poles[0] == poles[1]:
        raise PortrayalError(f"race needs two different poles; got {list(poles)}. Example: White, Black.")
    return poles
