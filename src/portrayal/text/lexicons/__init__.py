"""Word lists that ship with the package: one file each, its source named in `NAME.source.md` beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from portrayal.errors import check_name
from portrayal.tables import check, read_csv

FOLDER = Path(__file__).parent

# Words misspelt in their source; the lists keep the spelling, readers may replace it.
READ_AS = {"corageous": "courageous"}  # Table A.4 of Fabris et al. (2020)


def lexicon_names() -> list[str]:
    """Return the names of the lists that ship as tables."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def read_lexicon(
    name: str, path: Path | str | None = None, columns: Iterable[str] = (), hint: str = ""
) -> pl.DataFrame:
    """Read one list, all columns as text.

    Parameters
    ----------
    name
        A list that ships.
    path
        A user's own file of the same columns, read in its place.
    columns
        The columns the list must have; they come first.
    hint
        What to do about a file that lacks one, added to the message.

    Examples
    --------
    >>> read_lexicon("gender_pairs").row(0)
    ('she', 'he')
    """
    known = lexicon_names()
    check_name(name, known, "lexicon")
    source = Path(path or FOLDER / f"{name}.csv")
    table = read_csv(source, f"a list of the columns of {name}.csv")
    return check(table, dict.fromkeys(columns, pl.String), f"{name} {source.name}", hint)
