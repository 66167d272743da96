"""Series of one generated person, each step drawn at full size over its centre."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from portrayal.pictures.series.manifest import FACE_ONLY
from portrayal.pictures.series.values import steps
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.placebo import placebo
from portrayal_faces.generator.readings import BOTH, CONTRASTS, places
from portrayal_faces.generator.steering import Centre, Effort, Line, between, find_centre, lines, reach, span_of
from portrayal_faces.generator.stored import as_stored
from portrayal_faces.generator.studio import SmallStudio

CALM = (
    1.0  # standard deviations: a placebo that changes a cue or age by more is none, and some such are no longer a face
)
READERS = {BOTH: ("gender", "wild gender")}  # of a cue that is steered by several


@dataclass(frozen=True)
class Made:
    """One series: for each value the style, picture, readings and the judge's years."""

    attribute: str
    poles: tuple[str, ...]
    values: list[float]
    styles: np.ndarray  # steps x 512
    pictures: np.ndarray  # steps x side x side x 3
    readings: np.ndarray
    years: np.ndarray
    reached: float = 1.0  # of what was asked of the cue at the ends, at the end where it is less
    calm: bool = True  # whether a placebo leaves every cue and age about where they were
    straight: bool = True  # whether every reader that steers sees the cue go one way at every step

    @property
    def title(self) -> str:
        """The name of its folder."""
        return series_title(self.attribute, self.poles)


def series_title(attribute: str, poles: Sequence[str]) -> str:
    """Return the name of a series' folder: 'gender', 'race-White-East_Asian'."""
    return "-".join((attribute, *poles)).replace(" ", "_")


def wanted_lines(attributes: Sequence[str]) -> list[Line]:
    """Return the cues of these attributes."""
    return [line for line in lines() if line.attribute in attributes]


def person_series(
    studio: SmallStudio,
    compass: Compass,
    style: np.ndarray,
    attributes: Sequence[str],
    side: int,
    random: np.random.Generator,
    effort: Effort,
    kind: str = FACE_ONLY,
) -> Iterator[Made]:
    """Yield a person's series: each cue, then a placebo as large at every step."""
    for line in wanted_lines(attributes):
        values = [round(value, 4) for value in steps(line.attribute).tolist()]
        centre = find_centre(studio, compass, style[None], line, span_of(line, kind).neutral, effort)
        below = studio.drawn(centre.styles, side)
        styles = between(studio, compass, centre, line, values, kind, effort)
        made = _made(studio, centre, below, line.attribute, line.poles, values, styles, kind)
        made = replace(made, reached=_reached(made, line, kind), straight=_straight(made, line))
        yield made
        beside = _placebo_styles(studio, compass, centre, line, made, random, effort, kind)
        made = _made(studio, centre, below, "placebo", line.poles, values, beside, kind)
        yield replace(made, calm=is_calm(made, compass))


def _reached(made: Made, line: Line, kind: str) -> float:
    read = made.readings[:, places([line.varied])[0]] - span_of(line, kind).neutral
    return float(min(-read[0], read[-1]) / reach(line, kind))


def _straight(made: Made, line: Line) -> bool:
    """Return whether every reader that steers sees the cue rise at every step."""
    read = made.readings[:, places(list(READERS.get(line.varied, (line.varied,))))]
    return bool((np.diff(read, axis=0) >= 0).all())


def is_calm(made: Made, compass: Compass) -> bool:
    """Return whether a placebo leaves every cue and age about where they were."""
    at = places([BOTH, *CONTRASTS, "years"])
    moved = np.abs(made.readings - made.readings[len(made.values) // 2])[:, at] / compass.scale[at]
    return bool((moved <= CALM).all())


def _placebo_styles(
    studio: SmallStudio,
    compass: Compass,
    centre: Centre,
    line: Line,
    made: Made,
    random: np.random.Generator,
    effort: Effort,
    kind: str,
) -> list[np.ndarray]:
    """Return a placebo's styles, as large as the series; each side goes its own way."""
    sizes = [studio.distance(picture[None], centre.pictures) for picture in made.pictures]
    middle = len(sizes) // 2
    down = placebo(studio, compass, centre, sizes[:middle][::-1], kind, random, effort, line)[::-1]
    up = placebo(studio, compass, centre, sizes[middle + 1 :], kind, random, effort, line)
    return [*down, centre.styles, *up]


def _made(
    studio: SmallStudio,
    centre: Centre,
    below: np.ndarray,
    attribute: str,
    poles: tuple[str, ...],
    values: list[float],
    styles_of_steps: list[np.ndarray],
    kind: str,
) -> Made:
    side = below.shape[1]
    drawn = [
        below if value == 0 else studio.drawn(styles, side)
        for value, styles in zip(values, styles_of_steps, strict=True)
    ]
    laid = [one if one is below or kind != FACE_ONLY else studio.over(one, centre, below) for one in drawn]
    pictures = np.concatenate(laid)
    read, years = studio.read(pictures), studio.years(as_stored(pictures))
    return Made(attribute, poles, values, np.concatenate(styles_of_steps), pictures, read, years)
