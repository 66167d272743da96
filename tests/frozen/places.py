"""A folder for a study of ours: its TOML, the made-up systems beside it, tables and drawn pictures."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from frozen import made_up
from frozen.runs import audited, command
from frozen.tables import Tables


def toml(data: Mapping[str, Any]) -> str:
    """Return a study as TOML, each key on one line."""
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in data.items())


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def written(folder: Path, data: Mapping[str, Any]) -> Path:
    """Write a study and its systems into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(made_up.__file__, folder / "made_up.py")
    (folder / "study.toml").write_text(toml(data), encoding="utf-8")
    return folder / "study.toml"


def run(folder: Path, data: Mapping[str, Any], planned: bool = True) -> Tables:
    """Plan and audit a study, and return what is frozen of both."""
    study = written(folder, data)
    found = {"plan": command("plan", study, folder=folder / "run")["lines"]} if planned else {}
    return {**audited(study, folder / "run"), **found}


def made(function: str, name: str, **parameters: Any) -> dict[str, Any]:
    """Return a made-up system as a study names it."""
    system: dict[str, Any] = {"name": name, "use": f"python:made_up:{function}"}
    return {**system, "parameters": parameters} if parameters else system


def simulated(use: str, name: str, **parameters: Any) -> dict[str, Any]:
    """Return any other system as a study names it."""
    return {"name": name, "use": use, **({"parameters": parameters} if parameters else {})}


def table(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Path:
    """Write a CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *map(list, rows)])
    return path


def drawn(path: Path, number: int, alpha: bool = False) -> Path:
    """Draw a figure of two ovals, another one for each number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.new("RGBA" if alpha else "RGB", (120, 160), (0, 0, 0, 0) if alpha else "white")
    brush = ImageDraw.Draw(picture)
    shade = (40 + 7 * number % 200, 90, 200 - 11 * number % 150, 255)
    brush.ellipse((40, 10, 80, 60), fill=shade)
    brush.ellipse((20, 55, 100, 200), fill=(*shade[::-1][1:], 255))
    picture.save(path)
    return path
