"""Attributes that can be varied: gender and race, never age.

Gender runs from -2 (feminine) to 2 (masculine), race between two named groups. All labels are other people's perceptions, none is a
person's own word.
"""

from __future__ import annotations

from collections.abc import Sequence

from portrayal.errors import PortrayalError, check_name

RACES = ("White", "Black", "East Asian", "Southeast Asian", "Indian", "Latino_Hispanic", "Middle Eastern")
ADULT_AGES = ("20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")


def two_poles(poles: Sequence[str]) -> Sequence[str]:
    """Return the two poles of race, or say what is wrong with them."""
    for name in poles:
        check_name(name, RACES, "race pole")
    if len(poles) != 2 or poles[0] == poles[1]:
        raise PortrayalError(f"race needs two different poles; got {list(poles)}. Example: White, Black.")
    return poles
