"""Steering of styles to wanted readings, from a neutral point along a common direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy.special import expit, logit

from portrayal.pictures.series.manifest import FACE_ONLY, WHOLE
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.readings import AGES, BOTH, CONTRASTS, HELD, LOOKS, PAIR_LEVELS, PAIRS, places

ROUNDS, DAMPING = 12, 0.8
CUE_COUNTS, AGE_COUNTS = (
    3.0,
    2.0,
)  # the cue weighs more than what is held, or a face is best left where it was; so does age
FARTHEST = 5.0  # standard deviations of styles, from where a face was found
LONGEST = 1.5  # standard deviations a reading may be corrected by in one round
# The reading at value 2 (log odds), with a minus at -2: as far as two independent readers need, no farther, since identity pays for it.
REACH = {BOTH: 3.0, "White to Black": 3.6, "White to East Asian": 3.0, "Black to East Asian": 3.6}
# What the direction leaves alone on average and nobody is corrected for: to correct pose or mouth face by face costs identity. (The
# background of whole series is: see `between`.)
LEFT = LOOKS
BACKGROUND = "background"
LEAST_SHARE = 0.2  # of a way: who goes less far has no end whose background could be held
# Of what the compass says a move does to a reading: what is believed of a face. At its neutral point gender turns by more than that.
GAINS = {BACKGROUND: (0.4, 2.5), BOTH: (0.4, 5.0)}
# Of the way to an end, by the linear readings: where readings are taken to place the steps.
SHARES = (-1.75, -1.4, -1.05, -0.7, -0.35, 0.0, 0.35, 0.7, 1.05, 1.4, 1.75)
QUIET_ROUNDS = 6  # how often a placebo is corrected
STEADY = 0.05  # keeps what was learnt of a face's own slopes from calling for long moves
TRIES, SCALES = (
    6,
    (0.25, 0.5, 0.75, 1.0, 1.3, 1.7),
)  # placebo ways tried a face, and lengths looked at of the one taken


@dataclass(frozen=True)
class Span:
    """Extent of series along a cue, and the reading at their middle."""

    share: float  # of the reach, asked at value 2
    neutral: float = 0.0  # the cue's reading (log odds) at value 0, the same for everybody
    # Of the way from the centre to an end, as the linear readings have it: nobody goes farther.
    most: float = SHARES[-1]
    # What the steps of a side are even in. In log odds the last ones differ least in the chance of being perceived so: a reader sees
    # them as one, or as a step back.
    even_in: Literal["log odds", "chance"] = "log odds"

    def part(self, share: float, end: np.ndarray) -> np.ndarray:
        """Return the cue's distance (log odds) from the middle at a share of an end."""
        if self.even_in == "log odds":
            return share * end
        middle = expit(self.neutral)
        return logit(middle + share * (expit(self.neutral + end) - middle)) - self.neutral

    def within(self, shares: Sequence[float]) -> tuple[float, ...]:
        """Return the places to look at, none beyond the farthest allowed."""
        return tuple(dict.fromkeys(float(np.clip(share, -self.most, self.most)) for share in shares))


# Of each kind of series: as far as the checks need, since what is farther costs identity, and drifts and placebos grow with it. At a share
# of 0.9 gender moved by .939, where .9 is needed, in whole series of 130 people who are not judged any more. Race has one span for all
# pairs, since no check asked for more. Even in log odds, and as far as a face would go, whole series took steps back near the feminine end:
# 96.6% of 382 people were monotone by the embedding, where 97% have to be.
SPANS = {
    FACE_ONLY: {"gender": Span(0.75), "race": Span(0.75)},
    WHOLE: {"gender": Span(0.84, most=1.4, even_in="chance"), "race": Span(0.75)},
}


@dataclass(frozen=True)
class Effort:
    """Number of renderings for a face: more take longer and come closer."""

    rounds: int = ROUNDS  # of steering to the centre
    shares: tuple[float, ...] = SHARES  # places looked at on the way
    tries: int = TRIES  # ways tried for a placebo
    quiet_rounds: int = QUIET_ROUNDS  # of correcting each
    scales: tuple[float, ...] = SCALES  # lengths looked at of the way taken


FULL = Effort()
# Without a GPU: fewer places, close to each other where readings turn over.
FEWER = (-1.7, -1.1, -0.6, -0.2, 0.2, 0.6, 1.1, 1.7)
THRIFTY = Effort(rounds=5, shares=FEWER, tries=2, quiet_rounds=3, scales=(0.15, 0.4, 0.7, 1.0, 1.4))
# With a GPU: as many places as for the set that ships, and half of what its placebos take.
AMPLE = Effort(rounds=8, tries=4, quiet_rounds=4, scales=THRIFTY.scales)
PAIR_LEVEL = 1.0  # log odds of being read as one of a pair's two groups, the same for everybody


class Studio(Protocol):
    """Maker of pictures from styles, and reader of them."""

    def render(self, styles: np.ndarray) -> Any:
        """Return the pictures of styles."""

    def regions(self, pictures: Any) -> Any:
        """Return each pixel's probability of being face, ears or neck."""

    def over(self, pictures: Any, centre: Centre) -> Any:
        """Return the faces of pictures laid over their centre."""

    def read(self, pictures: Any) -> np.ndarray:
        """Return the readings of COLUMNS."""

    def distance(self, pictures: Any, others: Any) -> np.ndarray:
        """Return the root mean square difference of pictures in levels, one number each."""


@dataclass(frozen=True)
class Centre:
    """The neutral point of a series: styles, their pictures and what of them is face."""

    styles: np.ndarray
    pictures: Any
    regions: Any
    readings: np.ndarray
    neutral: float = 0.0  # the reading of its cue that everybody was brought to, which steps are counted from


@dataclass(frozen=True)
class Line:
    """A cue: its name, poles, the reading that varies and those that are held."""

    attribute: str
    poles: tuple[str, ...]
    varied: str
    held: tuple[str, ...]
    level: str | None = None


def lines() -> list[Line]:
    """Return gender and the three pairs of race."""
    pairs = zip(PAIRS, CONTRASTS, PAIR_LEVELS, strict=True)
    race = [Line("race", pair, contrast, HELD["race"], level) for pair, contrast, level in pairs]
    return [Line("gender", (), BOTH, HELD["gender"]), *race]


def find_centre(
    studio: Studio, compass: Compass, styles: np.ndarray, line: Line, neutral: float, effort: Effort = FULL
) -> Centre:
    """Move everybody to the cue's neutral point: steer near it, then along the cue."""
    start = studio.read(studio.render(styles))
    names, wanted = _wanted(line, start, neutral)
    near = steer(studio, compass, styles, names, wanted, effort.rounds)
    ways = Ways(_way(compass, line), _way(compass, line))
    looked = [studio.read(studio.render(ways.at(near, share))) for share in effort.shares]
    neutral_styles = _placed(near, ways, _seen(looked, line), neutral, effort.shares)
    pictures = studio.render(neutral_styles)
    return Centre(neutral_styles, pictures, studio.regions(pictures), studio.read(pictures), neutral)


def between(
    studio: Studio,
    compass: Compass,
    centre: Centre,
    line: Line,
    values: Sequence[float],
    kind: str,
    effort: Effort = FULL,
    span: Span | None = None,
) -> list[np.ndarray]:
    """Return the styles at each value (-2 to 2) along the cue's direction.

    The direction is everybody's: corrected face by face it was longer, cost identity and moved age. Where on it a step lies is what is read
    there, so steps are even in what is perceived. In whole series the background's brightness alone is held face by face: it is measured,
    and the places of some people brighten by as much as others' darken. The span is that of the kind, unless another is given.
    """
    span = span_of(line, kind) if span is None else span
    ways = Ways(_way(compass, line, kind), _way(compass, line, kind))
    if kind == WHOLE:
        ways = _lit(studio, compass, centre, line, ways, effort, span)
    return _stepped(studio, centre, line, ways, values, kind, effort, span)


@dataclass(frozen=True)
class Ways:
    """Move towards either end of a cue, by the linear readings."""

    down: np.ndarray
    up: np.ndarray

    def at(self, styles: np.ndarray, share: float | np.ndarray) -> np.ndarray:
        """Return the styles at a share of the way; negative ones towards the lower end."""
        each = np.broadcast_to(share, (len(styles),))[:, None]
        return styles + each * np.where(each < 0, self.down, self.up)


def _stepped(
    studio: Studio,
    centre: Centre,
    line: Line,
    ways: Ways,
    values: Sequence[float],
    kind: str,
    effort: Effort,
    span: Span,
) -> list[np.ndarray]:
    """Return the styles where the cue reads as wanted, counted from the neutral point."""
    shares = span.within(effort.shares)
    looked = [pictures_of(studio, ways.at(centre.styles, share), centre, kind) for share in shares]
    seen = _seen([studio.read(one) for one in looked], line) - centre.neutral
    wanted = asked_of(line, span)
    return [
        centre.styles if value == 0 else _placed(centre.styles, ways, seen, _reached(seen, value, wanted, span), shares)
        for value in values
    ]


def _lit(studio: Studio, compass: Compass, centre: Centre, line: Line, ways: Ways, effort: Effort, span: Span) -> Ways:
    """Return both ways, each bent so that its background stays as bright."""
    names = [line.varied, *line.held]
    ends = _stepped(studio, centre, line, ways, (-2.0, 2.0), WHOLE, effort, span)
    down, up = (
        _bent(way, end - centre.styles, levelling(studio, compass, centre, end, BACKGROUND, names))
        for way, end in zip((ways.down, ways.up), ends, strict=True)
    )
    return Ways(down, up)


def levelling(
    studio: Studio, compass: Compass, centre: Centre, ends: np.ndarray, reading: str, names: Sequence[str]
) -> np.ndarray:
    """Return the move that brings a reading at both ends back to the centre's.

    By the compass the other readings named stay where they are.
    """
    at = places([reading])[0]
    move, most = compass.moves(names)[list(names).index(reading)], LONGEST * compass.scale[at]
    amount = _amount(studio, centre.readings[:, at], ends, move, reading)
    return np.clip(amount, -most, most)[:, None] * move


def _bent(way: np.ndarray, gone: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """Return each face's way to its new end; who hardly moved keeps theirs."""
    share = gone @ way / (way @ way)
    far = np.abs(share) >= LEAST_SHARE
    return way + (far / np.where(far, share, 1.0))[:, None] * aside


def _amount(studio: Studio, wanted: np.ndarray, end: np.ndarray, move: np.ndarray, reading: str) -> np.ndarray:
    """Return each end's needed amount of a move: by the compass, then by secant."""
    at = places([reading])[0]
    now = studio.read(studio.render(end))[:, at]
    first = wanted - now
    then = studio.read(studio.render(end + first[:, None] * move))[:, at]
    felt = (then - now) / np.where(first == 0, 1.0, first)
    # A face whose reading does the opposite of what the compass says is left alone: more of it would be worse.
    return np.where(felt > 0, first + (wanted - then) / np.clip(felt, *GAINS[reading]), 0.0)


def span_of(line: Line, kind: str) -> Span:
    """Return how far series of a kind go along a cue."""
    return SPANS[kind][line.attribute]


def reach(line: Line, kind: str) -> float:
    """Return the distance (log odds) of a cue from neutral at value 2."""
    return asked_of(line, span_of(line, kind))


def asked_of(line: Line, span: Span) -> float:
    """Return the requested distance of a cue from neutral at a span's value 2."""
    return REACH[line.varied] * span.share


def _way(compass: Compass, line: Line, kind: str = FACE_ONLY) -> np.ndarray:
    """Return the move that takes a cue to its reach, by the linear readings."""
    return compass.way(line.varied, line.held, kind) * REACH[line.varied]


def _seen(looked: Sequence[np.ndarray], line: Line) -> np.ndarray:
    """Return the cue's readings (n x places), made monotone from first to last."""
    at = places([line.varied])[0]
    return np.maximum.accumulate(np.column_stack([one[:, at] for one in looked]), axis=1)


def _placed(
    styles: np.ndarray, ways: Ways, seen: np.ndarray, wanted: float | np.ndarray, shares: Sequence[float]
) -> np.ndarray:
    """Return the styles where the cue reads as wanted, within the places seen."""
    targets = np.broadcast_to(wanted, (len(seen),))
    share = np.array([np.interp(one, row, shares) for one, row in zip(targets, seen, strict=True)])
    return ways.at(styles, share)


def _reached(seen: np.ndarray, value: float, wanted: float, span: Span) -> np.ndarray:
    """Return everybody's wanted reading at a value, in even steps up to their reach."""
    farthest = seen[:, -1] if value > 0 else -seen[:, 0]
    return span.part(abs(value) / 2, np.sign(value) * np.clip(farthest, 0.0, wanted))


def pictures_of(studio: Studio, styles: np.ndarray, centre: Centre, kind: str) -> Any:
    """Return the pictures of styles, of the face only or whole."""
    pictures = studio.render(styles)
    return pictures if kind == WHOLE else studio.over(pictures, centre)


def steer(
    studio: Studio, compass: Compass, styles: np.ndarray, names: Sequence[str], wanted: np.ndarray, rounds: int = ROUNDS
) -> np.ndarray:
    """Correct styles until their readings are as wanted; return each face's best.

    What a move does to a face's readings is learnt while it is corrected (Broyden's update): the compass is right on average only.
    """
    at, moves = places(list(names)), compass.moves(names)
    scale, weights = compass.scale[at], np.array([CUE_COUNTS, *(_counts(name) for name in names[1:])])
    felt = np.array([name not in LEFT for name in names])
    # Of readings by moves, both in standard deviations.
    slopes = np.tile(np.eye(len(at)), (len(styles), 1, 1))
    now, best, least = styles.copy(), styles.copy(), np.full(len(styles), np.inf)
    taken = read = np.zeros((len(styles), len(at)))
    for turn in range(rounds + 1):
        before, read = read, studio.read(studio.render(now))[:, at] / scale
        if turn:
            slopes = _learnt(slopes, taken, read - before)
        off = wanted / scale - read
        error = ((off * felt * weights) ** 2).sum(axis=1)
        better = error < least
        best[better], least[better] = now[better], error[better]
        step = DAMPING * np.clip(_solved(slopes, off * felt), -LONGEST, LONGEST)
        ahead = styles + compass.shortened(now + (step * scale) @ moves - styles, FARTHEST)
        cut = np.abs(ahead - now - (step * scale) @ moves).max(axis=1, keepdims=True) > 1e-9
        now, taken = ahead, np.where(cut, 0, step)  # a move that was cut short teaches nothing
    return best


def _counts(name: str) -> float:
    return AGE_COUNTS if name in AGES else 1.0


def _learnt(slopes: np.ndarray, taken: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Correct slopes to explain the last move (Broyden, 1965); skip who did not move."""
    size = np.maximum((taken**2).sum(axis=1), 1e-6)  # who did not move has taken 0 and learns nothing
    missed = seen - np.einsum("nij,nj->ni", slopes, taken)
    return slopes + np.einsum("ni,nj->nij", missed, taken) / size[:, None, None]


def _solved(slopes: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Return moves to the wanted readings; short ones where slopes say little."""
    turned = slopes.transpose(0, 2, 1)
    return np.linalg.solve(turned @ slopes + STEADY * np.eye(off.shape[1]), turned @ off[:, :, None])[:, :, 0]


def _wanted(line: Line, start: np.ndarray, value: float) -> tuple[list[str], np.ndarray]:
    """Return readings to steer and their values: the cue, the pair's level, the held."""
    names = [line.varied, *((line.level,) if line.level else ()), *line.held]
    wanted = start[:, places(names)].copy()
    wanted[:, 0] = value
    if line.level:
        wanted[:, 1] = PAIR_LEVEL
    return names, wanted
