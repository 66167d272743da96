"""Pool of candidates: styles drawn by a seed and taken evenly over gender and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from portrayal_faces.generator.chances import CELLS, Cell, is_seen_well, likeliest
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.generator import draw_noise, map_noise, truncated
from portrayal_faces.generator.people import BANDS, LEAST, adult, choose
from portrayal_faces.generator.readings import COLUMNS, GROUPS
from portrayal_faces.generator.studio import SmallStudio

DRAWN = 48  # styles drawn for each that is looked at: few are read as adults who are Black or East Asian
FEWEST, EACH, MOST = 36, 12, 480  # looked at: at least, for each who is missing, at most at once
NOISE = 1_000_003  # keeps the pools of one seed apart from those of the next


class Seen(NamedTuple):
    """A face after inspection: readings, years by the judge, and whether it is eligible."""

    readings: np.ndarray
    years: float
    plain: bool


Look = Callable[[np.ndarray], Sequence[Seen]]  # at styles, n x 512


def look_at(studio: SmallStudio, style: np.ndarray) -> Seen:
    """Draw a face and read it; only adults are tested by the slow rules."""
    picture = studio.render(style[None])
    readings, years = studio.read(picture), studio.years(picture)
    plain = bool(adult(readings, years)[0]) and bool(studio.plain(picture)[0])
    return Seen(readings[0], float(years[0]), plain)


def look_at_pool(
    look: Look, compass: Compass, seed: int, turn: int, missing: int, cells: Sequence[Cell] = CELLS
) -> dict[str, Any]:
    """Draw and inspect styles; return how many, how many young, and the candidates."""
    count = min(MOST, max(FEWEST, EACH * missing))
    drawn = truncated(map_noise(draw_noise(DRAWN * count, seed * NOISE + turn)), compass.mean)
    middle = look(compass.mean[None])[0].readings
    styles = drawn[likeliest(compass, middle, drawn, count, cells)]
    seen = look(styles)
    readings, ages = np.array([one.readings for one in seen]), np.array([one.years for one in seen])
    able = np.array([one.plain for one in seen]) & is_seen_well(readings, middle, compass.scale)
    people = [
        {"name": f"{seed}-{turn}-{one}", **_described(readings[one], ages[one]), "style": styles[one].tolist()}
        for one in choose(readings, ages, len(seen), able).tolist()
    ]
    return {"looked at": len(styles), "read as young": int((ages < LEAST).sum()), "people": people}


def room(members: Sequence[dict[str, Any]], people: int) -> list[Cell]:
    """Return the genders and groups with room left, if all are to be even."""
    each, over = divmod(people, len(CELLS))
    full = Counter(map(cell_of, members))
    most = each + (sum(count > each for count in full.values()) < over)
    return [cell for cell in CELLS if full[cell] < most]


def cell_of(person: dict[str, Any]) -> Cell:
    """Return somebody's perceived gender and group."""
    return person["gender"], person["race"]


def next_of(
    people: Sequence[dict[str, Any]], members: Sequence[dict[str, Any]], cells: Sequence[Cell] = CELLS
) -> int | None:
    """Return the next candidate: the first of the rarest cell and age band."""
    able = [place for place, one in enumerate(people) if cell_of(one) in cells]
    whole, banded = Counter(map(cell_of, members)), Counter(map(_banded, members))
    genders, races = Counter(one["gender"] for one in members), Counter(one["race"] for one in members)

    def often(place: int) -> tuple[int, int, int, int]:
        one = people[place]
        return whole[cell_of(one)], races[one["race"]] + genders[one["gender"]], banded[_banded(one)], place

    return min(able, key=often, default=None)


def _banded(person: dict[str, Any]) -> tuple[Cell, int]:
    """Return somebody's cell and age band, by the years that the manifest tells."""
    return cell_of(person), sum(int(person["age"]) >= low for low, _ in BANDS[1:])


def _described(read: np.ndarray, years: float) -> dict[str, str]:
    race = GROUPS[int(np.argmax([read[COLUMNS.index(name)] for name in GROUPS]))]
    gender = "male" if read[COLUMNS.index("gender")] > 0 else "female"
    return {"age": str(round(float(years))), "gender": gender, "race": race}
