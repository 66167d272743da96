"""Word lists that ship: a file each, its source in `NAME.source.md`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import polars as pl

from portrayal.errors import check_name
from portrayal.tables import check, read_csv

FOLDER = Path(__file__).parent

# Words misspelt in their source; the lists keep the spelling, readers may replace it.
READ_AS = {"corageous": "courageous"}  # Table A.4 of Fabris et al. (2020)


@cache
def lexicon_names() -> tuple[str, ...]:
    """Return the names of the lists that ship as tables."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.csv")))


def read_lexicon(
    name: str, path: Path | str | None = None, columns: Iterable[str] = (), hint: str = ""
) -> pl.DataFrame:
    """Read one list, all columns as text."""
    check_name(name, lexicon_names(), "lexicon")
    source = Path(path or FOLDER / f"{name}.csv")
    table = _shipped(name) if path is None else _read(name, source)
    return check(table, dict.fromkeys(columns, pl.String), f"{name} {source.name}", hint)


@cache
def _shipped(name: str) -> pl.DataFrame:
    """Return a list that ships: it does not change while the program runs."""
    return _read(name, FOLDER / f"{name}.csv")


def _read(name: str, source: Path) -> pl.DataFrame:
    return read_csv(source, f"a list of the columns of {name}.csv")
