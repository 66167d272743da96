"""The attribute vector every layer of the Fader network's decoder is given: gender, age, expression and race, as continuous values.

Gender runs from -1 (feminine) to 1 (masculine) in training and from -2 to 2 in a series. Age is a control: an adult
value, clamped, never varied; so is smiling, where a data set labels it. Race is one weight per named group; a series
moves the weights from the first named pole to the second. All labels are other people's perceptions, none is a
person's own word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.errors import PortrayalError, check_name
from portrayal.pictures.series.values import steps
from portrayal_faces.series.attributes import ADULT_AGES, RACES, two_poles

COLUMNS = ("gender", "age", "smiling", *RACES)  # a value that is not labelled is NaN in data, 0 in a network
FIRST_RACE = COLUMNS.index(RACES[0])
WIDTH = len(COLUMNS)


def age_value(group: str) -> float:
    """Return the control value of an adult age group, from -1 (20-29) to 1 (more than 70)."""
    if group not in ADULT_AGES:
        raise PortrayalError(f"age group {group!r} is not adult. Expected one of {', '.join(ADULT_AGES)}.")
    return 2 * ADULT_AGES.index(group) / (len(ADULT_AGES) - 1) - 1


def vary(start: np.ndarray, attribute: str, values: Sequence[float], poles: Sequence[str] = ()) -> np.ndarray:
    """Return one attribute vector per value: the attribute moved, everything else as in `start`."""
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
