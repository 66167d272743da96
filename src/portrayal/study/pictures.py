"""Pictures a study shows: each lies in a folder that the study names, or that is ours."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import portrayal
from portrayal.edges.paths import is_inside
from portrayal.errors import PortrayalError
from portrayal.pictures.images import cache_folder
from portrayal.study.leaves import leaves
from portrayal.study.study import Study


def refuse_pictures_outside(study: Study, stimuli: pl.DataFrame) -> None:
    """Refuse a picture that is there and lies in no folder the study names: a table must not make us send any file.

    What is not there cannot be sent: recorded answers are often of pictures that are elsewhere.
    """
    folders = list(_folders(study))
    paths = (
        stimuli.filter(pl.col("kind") == "image").select("stimulus", "content").unique("content", maintain_order=True)
    )
    for stimulus, content in paths.iter_rows():
        if _is_there(content) and not is_inside(Path(content), folders):
            raise PortrayalError(
                f"stimulus {stimulus!r} is the file {content}, which lies in no folder of this study. Name its folder in the study:"
                " folders = [...]."
            )


def _is_there(content: str) -> bool:
    """Whether there is such a file; a link that leads nowhere is none. Without an exception for each that is not there."""
    try:
        return os.access(content, os.F_OK)
    except ValueError:  # a null byte, half of a surrogate pair
        return False


def _folders(study: Study) -> Iterator[Path]:
    """Yield the study's folders, those its settings name or name a file in, and where made and shipped pictures lie."""
    yield from study.picture_folders()
    settings = study.settings.model_dump() if study.settings is not None else {}
    for _, value in leaves([settings, [system.parameters for system in study.systems]]):
        for name in (value, value.partition(":")[2]) if isinstance(value, str) and len(value) < 1000 else ():
            path = study.folder / name
            if name and os.path.lexists(path):
                yield path if path.is_dir() else path.parent
    yield Path(portrayal.__file__).parent
    yield cache_folder("")
    yield from (Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib"))
