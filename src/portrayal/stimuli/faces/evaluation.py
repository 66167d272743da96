"""The model on held-out faces of its data set: checks by independent readers, the probe, a contact sheet.

Pictures are read in place; the only picture written is the contact sheet, where one is asked for, and it shows the data
set's people: it belongs into an ignored folder.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.stimuli.faces.align import turned_away
from portrayal.stimuli.faces.checks import Readings, checks_table, read_series
from portrayal.stimuli.faces.loaders import LOADERS
from portrayal.stimuli.faces.model import Manipulator, open_manipulator
from portrayal.stimuli.faces.series import Series, make_series
from portrayal.stimuli.faces.suitability import look

STRAIGHT = (
    0.2  # how far the nose may lie from the middle: held-out faces are judged where they look straight ahead
)


def evaluate(
    packed: Path,
    weights: Path,
    folder: Path,
    model: Path,
    layout: str,
    faces: int,
    masked: bool,
    sheet: Path | None,
) -> str:
    """Check the model on held-out faces; writes `checks` into the model's page and returns it as text."""
    from portrayal.stimuli.faces.probe import probe_gender

    manipulator = open_manipulator(str(model))
    series, left_out = held_out_series(packed, folder, layout, manipulator, faces, masked)
    readings = [read_series(each) for each in series]
    if sheet:
        _save_sheet([each for each in series if each.attribute == "gender"][:24], sheet)
    probe = probe_gender(packed, weights)
    table = checks_table(readings, {"checks": {"probe": probe}})
    found = {
        "date": datetime.now(UTC).date().isoformat(), "seed": 0, "masked": masked, "left_out": left_out, "probe": probe,
        "steps": {name: _steps(readings, name) for name in ("gender", "race")}, "rows": table.to_dicts(),
    }  # fmt: skip
    about = {**manipulator.about, ("checks" if masked else "checks_without_mask"): found}
    (model / "model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return json.dumps(found, indent=1)


def held_out_series(
    packed: Path, folder: Path, layout: str, manipulator: Manipulator, faces: int, masked: bool
) -> tuple[list[Series], dict[str, int]]:
    """Make gender and race series of held-out faces that look straight ahead."""
    with np.load(packed) as data:
        held = set(data["names"][data["parts"] == "held"].tolist())
    made: list[Series] = []
    counts: Counter[str] = Counter()
    for face in LOADERS[layout](folder):
        if face.name not in held or counts["used"] >= faces:
            continue
        picture = face.picture.convert("RGB")
        seen = look(picture, 0.2)
        straight = seen.face is not None and turned_away(seen.face.landmarks) <= STRAIGHT
        reason = seen.reason or ("" if straight else "turned away")
        counts[reason or "used"] += 1
        if not reason:
            made.append(make_series(picture, seen, manipulator, "gender", masked=masked))
            made.append(
                make_series(picture, seen, manipulator, "race", poles=("White", "Black"), masked=masked)
            )
    return made, dict(counts)


def _steps(readings: list[Readings], attribute: str) -> dict[str, list[float]]:
    """Mean of each reading at each step."""
    mine = [each for each in readings if each.attribute == attribute]
    if not mine:
        return {}
    return {
        name: np.mean([getattr(each, name) for each in mine], axis=0).round(4).tolist()
        for name in ("female", "age", "lightness")
    }


def _save_sheet(series: list[Series], path: Path) -> None:
    from PIL import Image

    rows = [
        np.hstack([np.asarray(p.resize((128, 128))) for p in (each.original, *each.pictures)])
        for each in series
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.vstack(rows)).save(path)


def model_page(model: Path) -> dict[str, Any]:
    """Return what a model says of itself."""
    return json.loads((model / "model.json").read_text(encoding="utf-8"))
