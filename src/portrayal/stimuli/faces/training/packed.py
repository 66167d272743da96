"""A packed file of aligned faces, opened with care: what is not one is named in one line."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from portrayal.errors import PortrayalError

COLUMNS = ("jpegs", "ends", "values", "parts", "about")


def open_packed(path: Path | str) -> dict[str, np.ndarray]:
    """Return the arrays of a packed file (see `prepare`).

    Raises
    ------
    PortrayalError
        When there is none, or it is something else.
    """
    if not Path(path).exists():
        raise PortrayalError(f"no packed faces at {path}. Make them with: portrayal faces prepare.")
    try:
        with Path(path).open("rb") as file, np.load(file) as packed:
            found = {name: packed[name] for name in packed.files}
    except (ValueError, BadZipFile, EOFError, AttributeError):
        found = {}
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise PortrayalError(f"{path} is no packed file of faces. Make one with: portrayal faces prepare.")
    return found
