"""Files written whole, in place, without secrets and never through a link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from portrayal.edges.secrets import hidden
from portrayal.errors import PortrayalError

if TYPE_CHECKING:
    import polars as pl

# Folders we make inside a run or report.
INSIDE = ("charts", "tables", "rows", "inputs", "inputs.part", "runs", "shards")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to that takes the file's place at the end.

    What lies there as a link is replaced itself; its target stays as it is.
    """
    part = forget_part(path)
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
    yield part
    part.replace(path)


def forget_part(path: Path) -> Path:
    """Remove what a kill in the middle of writing left; return where it lay."""
    part = path.with_name(path.name + ".part")
    refuse_linked_folder(path.parent)
    part.unlink(missing_ok=True)
    return part


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file."""
    with replacing(path) as part:
        part.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write a whole text file; secrets this process knows are taken out of it."""
    write_bytes(path, hidden(text).encode("utf-8"))


def make_inside(folder: Path) -> Path:
    """Make a folder inside one of ours; a link there is refused."""
    refuse_linked_folder(folder)
    folder.mkdir(exist_ok=True)
    return folder


def refuse_linked_folder(folder: Path) -> None:
    """Refuse a folder inside one of ours that is a link."""
    if folder.is_symlink() and folder.name in INSIDE:
        raise PortrayalError(f"{folder} is a link. Expected a folder of its own: remove the link.")


def refuse_strange_file(path: Path) -> None:
    """Refuse a link, pipe or device where a plain file of ours is expected."""
    if path.is_symlink():
        raise PortrayalError(f"{path} is a link. Expected a plain file: remove the link.")
    if path.exists() and not path.is_file():
        raise PortrayalError(f"{path} is no plain file. Move it away.")


def fresh(path: Path) -> Path:
    """Return a path to write to; a link that lies there is removed."""
    if path.is_symlink():
        path.unlink()
    return path


def refuse_foreign_file(path: Path, begins: tuple[bytes, ...], what: str) -> None:
    """Refuse to overwrite a file that does not begin as ours do."""
    refuse_strange_file(path)
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(200)
    if start and not start.startswith(begins):
        raise PortrayalError(f"{path} is there already and is not {what}. Move it away or name another file.")


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a table without secrets; the file may be the one it was read from."""
    clean = without_secrets(table)  # before the file is touched: the table may be read from it
    with replacing(path) as part:
        clean.write_parquet(part)


def without_secrets(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose text columns hold no secret this process knows."""
    import polars as pl  # here: the command line starts without it

    columns = []
    for name, kind in table.schema.items():
        whole = "\x00".join(table[name].drop_nulls().unique()) if kind == pl.String else ""
        if hidden(whole) != whole:  # looked at in one piece, because most columns never hold one
            clean = [None if value is None else hidden(value) for value in table[name]]
            columns.append(pl.Series(name, clean, pl.String))
    return table.with_columns(columns)
