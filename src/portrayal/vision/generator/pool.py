"""Whom series are made of: styles drawn by a seed, looked at, and taken evenly over perceived gender and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.vision.generator.directions import Compass
from portrayal.vision.generator.generator import draw_noise, map_noise, truncated
from portrayal.vision.generator.people import LEAST, choose, likely
from portrayal.vision.generator.readings import COLUMNS, GROUPS
from portrayal.vision.generator.studio import SmallStudio

DRAWN = 8  # styles drawn for each that is looked at: most are read as White, and groups are to be even
FEWEST, EACH, MOST = 36, 6, 240  # looked at: at least, for each who is missing, at most at once
NOISE = 1_000_003  # keeps the pools of one seed apart from those of the next


def look_at_pool(studio: SmallStudio, compass: Compass, seed: int, turn: int, missing: int) -> dict[str, Any]:
    """Draw and look at styles; return how many were looked at, how many were read as young, and who could be taken.

    Parameters
    ----------
    studio, compass
        Who renders and reads, and which readings styles promise.
    seed, turn
        Of the command, and how many pools were drawn before.
    missing
        How many people are still wanted.
    """
    count = min(MOST, max(FEWEST, EACH * missing))
    drawn = truncated(map_noise(draw_noise(DRAWN * count, seed * NOISE + turn)), compass.mean)
    styles = drawn[likely(drawn @ compass.slopes, count)]
    pictures = np.concatenate([studio.render(style[None]) for style in styles])
    readings, ages = studio.read(pictures), studio.years(pictures)
    taken = choose(readings, ages, each=1 + missing // (2 * len(GROUPS)), plain=studio.plain(pictures))
    people = [
        {
            "name": f"{seed}-{turn}-{one}",
            **_described(readings[one], ages[one]),
            "style": styles[one].tolist(),
        }
        for one in taken.tolist()
    ]
    return {"looked at": len(styles), "read as young": int((ages < LEAST).sum()), "people": people}


def next_of(people: Sequence[dict[str, Any]], kept: Sequence[dict[str, Any]]) -> int:
    """Return who comes next: of those there are, the first whose gender and group have been kept least often."""
    cells = Counter((one["gender"], one["race"]) for one in kept)
    genders, races = Counter(one["gender"] for one in kept), Counter(one["race"] for one in kept)

    def often(place: int) -> tuple[int, int, int]:
        gender, race = people[place]["gender"], people[place]["race"]
        return cells[gender, race], races[race] + genders[gender], place

    return min(range(len(people)), key=often)


def _described(read: np.ndarray, years: float) -> dict[str, str]:
    race = GROUPS[int(np.argmax([read[COLUMNS.index(name)] for name in GROUPS]))]
    gender = "male" if read[COLUMNS.index("gender")] > 0 else "female"
    return {"age": str(round(float(years))), "gender": gender, "race": race}
