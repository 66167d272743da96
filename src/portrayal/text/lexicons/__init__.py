"""Word lists that ship with the package: one CSV each, its source named in `NAME.source.md` beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError, nearest

FOLDER = Path(__file__).parent

# Words misspelt in their source; the lists keep the spelling, readers may replace it.
READ_AS = {"corageous": "courageous"}  # Table A.4 of Fabris et al. (2020)


def lexicon_names() -> list[str]:
    """Return the names of the lists that ship."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def read_lexicon(name: str) -> pl.DataFrame:
    """Read one list, all columns as text.

    Examples
    --------
    >>> read_lexicon("gender_pairs").row(0)
    ('she', 'he')
    """
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        known = lexicon_names()
        raise PortrayalError(f"no lexicon {name!r}.{nearest(name, known)} Known: {', '.join(known)}.")
    return pl.read_csv(path, infer_schema=False)
