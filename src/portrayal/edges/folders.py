"""Folders that are ours: claimed while empty, and marked, so that nothing else is touched.

A file `.portrayal` says what a folder holds, and which files in its folders we wrote: only those are ever replaced or removed.
"""

import json
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from portrayal.edges.writing import INSIDE, refuse_linked_folder, refuse_strange_file, write_bytes
from portrayal.errors import PortrayalError

MARK = ".portrayal"
LARGEST_MARK = 4 * 1024 * 1024
# What a folder may hold, in words.
HOLDS = {
    "run": "a run",
    "report": "a report over several runs",
    "pictures": "pictures made for studies",
    "index": "an index of a collection",
}
NO_FOLDER = "{} is a file or lies in one. Expected a folder."
LISTED_IN = ("charts", "tables", "rows")


def claim(folder: Path, what: str) -> None:
    """Make a folder ours: new, empty, or claimed before for the same thing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PortrayalError(NO_FOLDER.format(folder)) from None
    except OSError as error:
        raise PortrayalError(f"cannot write to {folder}: {error.strerror}. Name another folder.") from None
    mark = read_mark(folder)
    if mark is None:
        if entry_name := first_entry(folder):
            raise PortrayalError(
                f"{folder} holds {entry_name!r} and was not made by Portrayal. Name an empty or a new folder, so that nothing"
                " there is overwritten."
            )
        write_mark(folder, {"holds": what, "files": {}})
    elif mark["holds"] != what:
        raise PortrayalError(
            f"{folder} holds {HOLDS.get(mark['holds'], 'something else')}. Expected an empty folder or {HOLDS[what]}."
        )


def refuse_file(folder: Path) -> None:
    """Refuse a path that is a file or lies in one; nothing is made."""
    there = next((path for path in (folder, *folder.absolute().parents) if path.exists()), Path("/"))
    if not there.is_dir():
        raise PortrayalError(NO_FOLDER.format(folder))


def adopt(folder: Path, what: str) -> None:
    """Mark a folder of an earlier version that holds nothing but folders of ours."""
    if not folder.is_dir() or read_mark(folder) is not None:
        return
    inside = list(folder.iterdir())
    marks = [read_mark(one) for one in inside if one.is_dir() and not one.is_symlink()]
    if inside and len(marks) == len(inside) and all(mark and mark["holds"] == what for mark in marks):
        write_mark(folder, {"holds": what, "files": {}})


def first_entry(folder: Path) -> str:
    """Return the name of something in a folder; nothing where it is empty."""
    return next((name for name in sorted(path.name for path in folder.iterdir()) if name != f"{MARK}.part"), "")


def read_mark(folder: Path) -> dict[str, Any] | None:
    """Return what a folder's mark says, or None where it has none."""
    path = folder / MARK
    refuse_strange_file(path)
    if not path.exists():
        return None
    try:
        if path.stat().st_size > LARGEST_MARK:
            raise ValueError("it is too large")
        mark = json.loads(path.read_bytes())
        return {"holds": str(mark["holds"]), "files": dict(mark["files"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        reason = f"{path} is damaged: nobody can tell whose files lie there. Name another folder."
        raise PortrayalError(reason) from None


def write_mark(folder: Path, mark: dict[str, Any]) -> None:
    """Write a folder's mark."""
    write_bytes(folder / MARK, json.dumps(mark, indent=1).encode())


def belongings(folder: Path, group: str) -> list[str] | None:
    """Return the files of a group that we wrote; None where nothing was noted."""
    names = (read_mark(folder) or {"files": {}})["files"].get(group)
    if names is None:
        return None
    places = {str(name): PurePosixPath(str(name)).parts for name in names}
    inside = {name for name, place in places.items() if len(place) == 2 and place[0] in LISTED_IN and place[1] != ".."}
    return [name for name in places if name in inside and "\x00" not in name]


def replace_belongings(folder: Path, group: str, names: Iterable[str]) -> None:
    """Remove the files a group wrote last time and note the new ones."""
    wanted = sorted(names)
    mark = read_mark(folder) or {"holds": "report", "files": {}}
    for name in belongings(folder, group) or []:
        refuse_linked_folder(folder / PurePosixPath(name).parent)
        (folder / name).unlink(missing_ok=True)
    others = {name for listed in mark["files"].values() for name in listed}
    for name in wanted:
        if (folder / name).exists() and name not in others:
            raise PortrayalError(f"{folder / name} was not made by Portrayal. Move it away: its name is needed.")
    write_mark(folder, {**mark, "files": {**mark["files"], group: wanted}})


def refuse_strange_entries(folder: Path, names: Iterable[str]) -> None:
    """Refuse links, pipes and devices among these files and in the folders we make."""
    for name in names:
        path = folder / name
        if not os.path.lexists(path):
            continue
        inside = list(path.iterdir()) if name in INSIDE and path.is_dir() else []
        for entry in (path, *inside):
            kind = entry.lstat().st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise PortrayalError(f"{entry} is a link or no plain file. A run holds its own files: remove it.")


def path_inside(folder: Path, name: str, also: Sequence[Path], table: str) -> Path:
    """Return the path a table names, or refuse one that leads out of its folder."""
    path = folder / name
    if not is_inside(path, [folder, *also]):
        raise PortrayalError(
            f"{table} names {name!r}, which lies outside {folder}. Move the file there, or name its folder in the study: folders = [...]."
        )
    return path


def is_inside(path: Path, folders: Sequence[Path]) -> bool:
    """Return True where a path, with its links followed, lies in one of these folders."""
    try:
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # a name too long, a null byte, links in a circle
        return False
