"""Word lists that ship: a file each, its source in `NAME.source.md`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import check_name
from portrayal.tables import check, read_csv, read_json

FOLDER = Path(__file__).parent
ASSOCIATIONS = ("weat", "associations_text")  # files that hold lists and tests for the associations audit

# Words misspelt in their source; the lists keep the spelling, readers may replace it.
READ_AS = {"corageous": "courageous"}  # Table A.4 of Fabris et al. (2020)

_shipped = cache(read_csv)  # a list that ships does not change while the program runs


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
    table = (_shipped if path is None else read_csv)(source, f"a list of the columns of {name}.csv")
    return check(table, dict.fromkeys(columns, pl.String), f"{name} {source.name}", hint)


@cache
def load(name: str) -> dict[str, Any]:
    """Return a lexicon that ships, by its file's name without ending."""
    return read_json(FOLDER / f"{name}.json", "word lists and tests")


def word_list(name: str) -> list[str]:
    """Return one list by 'FILE:LIST', such as 'weat:flowers'."""
    known = {f"{file}:{entry}": words for file in ASSOCIATIONS for entry, words in load(file)["lists"].items()}
    check_name(name, known, "word list")
    return list(known[name])


def association_test(name: str) -> dict[str, str]:
    """Return a test that ships, such as 'weat6', with its lists named 'FILE:LIST'."""
    known = {entry: (file, test) for file in ASSOCIATIONS for entry, test in load(file)["tests"].items()}
    check_name(name, known, "association test")
    file, test = known[name]
    return {key: f"{file}:{value}" if key in ("x", "y", "a", "b") else value for key, value in test.items()}
