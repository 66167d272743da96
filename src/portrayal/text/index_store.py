"""An index on disk: plain .npy arrays that are mapped into memory, so that opening a large one takes no time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.text.index import Index

ARRAYS = ("borders", "postings", "counts", "lengths")
FORM = 1  # raised when the files change


def save_index(index: Index, folder: Path | str, source: str = "") -> None:
    """Write the index into a folder of its own; `index.json` comes last, so a torn index is never opened.

    `source` is a mark of the collection; `load_index` refuses an index with another.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.json").unlink(missing_ok=True)
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(index, name))
    for name in ("documents", "words"):
        (folder / f"{name}.json").write_text(json.dumps(list(getattr(index, name))), encoding="utf-8")
    about = {"form": FORM, "documents": len(index.documents), "stop": sorted(index.stop), "source": source}
    (folder / "index.json").write_text(json.dumps(about), encoding="utf-8")


def load_index(folder: Path | str, source: str = "") -> Index:
    """Open a saved index; the arrays stay on disk and are read as they are needed."""
    folder = Path(folder)
    try:
        about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        texts = {
            name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("documents", "words")
        }
    except (OSError, ValueError):
        raise PortrayalError(f"{folder} holds no whole index. Save one with save_index.") from None
    if about.get("form") != FORM:
        raise PortrayalError(
            f"{folder} holds an index of form {about.get('form')}. Expected {FORM}: index again."
        )
    if source and about.get("source") != source:
        raise PortrayalError(
            f"{folder} holds the index of another collection or of its earlier state. Remove it."
        )
    return Index(**texts, **arrays, stop=frozenset(about["stop"]))
