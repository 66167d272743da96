"""JSON and tab-separated files of data sets, read with errors in one line."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from portrayal.edges.sizes import open_unpacked
from portrayal.errors import PortrayalError


def need(data: Any, key: str, path: Path, what: str) -> Any:
    """Return data[key], or say what was expected."""
    if not isinstance(data, Mapping) or key not in data:
        found = ", ".join(map(str, list(data)[:8])) if isinstance(data, Mapping) else type(data).__name__
        raise PortrayalError(f"{path.name} lacks {key!r} (found: {found}). Expected {what}.")
    return data[key]


def read_lines(path: Path, what: str) -> Iterator[list[str]]:
    """Yield the fields of a tab-separated file, gzipped or not."""
    csv.field_size_limit(sys.maxsize)
    try:
        with open_unpacked(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
            yield from csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise PortrayalError(f"{path} cannot be read as {what}: {str(error).splitlines()[0]}.") from None
