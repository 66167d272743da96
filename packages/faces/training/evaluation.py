"""The model on held-out faces of its data set: checks by independent readers, the probe, drawn people, its page and card.

Pictures are read in place; the only picture written is the contact sheet, where one is asked for, and it shows the data
set's people: it belongs into an ignored folder.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.pictures.faces.align import head_turn
from portrayal_faces.series.checks import Readings, checks_table, read_series
from portrayal_faces.series.identity import can_embed, embed
from portrayal_faces.series.series import Series
from portrayal_faces.series.suitability import inspect_face
from training.card import write_card
from training.drawn import drawn_psnr
from training.fader_checks import probe_row, race_rows
from training.fader_series import make_series
from training.loaders import LOADERS, LabelledFace
from training.manipulator import Manipulator, open_manipulator
from training.packed import open_packed
from training.race_reader import RaceReader, fit_race_reader

# How far the nose may lie from the middle: held-out faces are judged where they look straight ahead.
STRAIGHT = 0.2
POLES = ("White", "Black")


@dataclass(frozen=True)
class HeldOut:
    """Which faces are looked at, and how."""

    packed: Path
    folder: Path
    layout: str = "fairface"
    faces: int = 1000
    part: str = "held"
    attributes: Sequence[str] = ("gender", "race", "placebo")
    masked: bool = True
    sheet: Path | None = None
    counts: Counter[str] = field(default_factory=Counter)


def evaluate(held: HeldOut, weights: Path, model: Path) -> dict[str, Any]:
    """Check the model on held-out faces and drawn people; writes both into its page and card, and returns the checks."""
    found = check(held, weights, model)
    about = page(model)
    drawn = drawn_psnr(open_manipulator(str(model)))
    keep_page(model, {**about, "checks": found, "drawn": {**about.get("drawn", {}), "this model": drawn}})
    return found


def ablate(held: HeldOut, weights: Path, model: Path, name: str, shown_in: Path) -> dict[str, Any]:
    """Put another condition through the same checks and write it, by name, into the page and card of the model it is held against."""
    found = check(held, weights, model)
    about = page(shown_in)
    keep_page(shown_in, {**about, "ablations": {**about.get("ablations", {}), name: found}})
    return found


def check(held: HeldOut, weights: Path, model: Path) -> dict[str, Any]:
    """Return date, faces left out, the probe, mean readings by step, and the rows of the checks."""
    from training.probe import probe_gender

    reader = fit_race_reader(held.packed, POLES, held.part) if "race" in held.attributes and can_embed() else None
    readings, perceived = _readings(held, open_manipulator(str(model)), reader)
    probe = probe_gender(held.packed, weights, held.part)
    rows = [*checks_table(readings).to_dicts(), probe_row(probe)]
    rows += race_rows(np.array(perceived), reader.right, reader.n, POLES) if reader and perceived else []
    return {
        "date": datetime.now(UTC).date().isoformat(), "part": held.part, "masked": held.masked, "left_out": dict(held.counts),
        "probe": probe, "steps": {name: _steps(readings, name) for name in ("gender", "race")}, "rows": rows,
    }  # fmt: skip


def page(model: Path) -> dict[str, Any]:
    """Return what a model says of itself."""
    return json.loads((model / "model.json").read_text(encoding="utf-8"))


def keep_page(model: Path, about: dict[str, Any]) -> None:
    """Write what a model says of itself, and its card."""
    (model / "model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    write_card(model)


def _readings(
    held: HeldOut, manipulator: Manipulator, reader: RaceReader | None
) -> tuple[list[Readings], list[np.ndarray]]:
    """Read series by series, so that memory holds one person at a time; a few are kept for the sheet."""
    readings: list[Readings] = []
    perceived: list[np.ndarray] = []
    shown: list[Series] = []
    for series in held_out_series(held, manipulator):
        readings.append(read_series(series))
        if series.attribute == "race" and reader:
            perceived.append(reader.read(embed(series.pictures, series.landmarks)))
        if held.sheet and series.attribute == "gender" and len(shown) < 24:
            shown.append(series)
    if held.sheet and shown:
        _save_sheet(shown, held.sheet)
    return readings, perceived


def held_out_series(held: HeldOut, manipulator: Manipulator) -> Iterator[Series]:
    """Yield the series of held-out faces that look straight ahead, counting who is left out and why."""
    for face in _progress(list(_held_out(held))):
        if held.counts["used"] >= held.faces:
            return
        picture = face.picture.convert("RGB")
        seen = inspect_face(picture, 0.2)
        straight = seen.face is not None and head_turn(seen.face.landmarks) <= STRAIGHT
        reason = seen.reason or ("" if straight else "turned away")
        held.counts[reason or "used"] += 1
        for attribute in () if reason else held.attributes:
            poles = POLES if attribute == "race" else ()
            yield make_series(picture, seen, manipulator, attribute, poles=poles, masked=held.masked)


def _held_out(held: HeldOut) -> Iterator[LabelledFace]:
    packed = open_packed(held.packed)
    names = set(packed["names"][packed["parts"] == held.part].tolist())
    return (face for face in LOADERS[held.layout](held.folder) if face.name in names)


def _progress(faces: list[LabelledFace]) -> Any:
    import sys

    from rich.console import Console
    from rich.progress import track

    return track(faces, "held-out faces", console=Console(file=sys.stderr))


def _steps(readings: list[Readings], attribute: str) -> dict[str, list[float]]:
    """Mean of each reading at each step."""
    mine = [each for each in readings if each.attribute == attribute]
    if not mine:
        return {}
    return {
        name: np.mean([getattr(each, name) for each in mine], axis=0).round(4).tolist() for name in ("female", "age")
    }


def _save_sheet(series: list[Series], path: Path) -> None:
    from PIL import Image

    rows = [np.hstack([np.asarray(p.resize((128, 128))) for p in (each.original, *each.pictures)]) for each in series]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.vstack(rows)).save(path)
