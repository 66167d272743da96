"""The set of generated faces that ships: series of people who do not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.pictures.series.manifest import read_manifest, shipped_set

FOLDER = Path(str(files("portrayal_faces"))) / "faces_set"


def list_faces(as_json: bool = False) -> str:
    """List the pictures of the set of generated faces that ships.

    Parameters
    ----------
    as_json
        One JSON object a line: `file` (a path that opens), `person`, `attribute` (gender, race, placebo), `poles` (two groups
        for race, the first at the negative end; else empty), `value` (for gender the positive end is masculine), `kind`
        (whole or face only). Else one line for each series.

    Returns
    -------
    str
        The lines.

    Raises
    ------
    PortrayalError
        When no set is installed.

    Examples
    --------
    >>> from portrayal import PortrayalError, list_faces
    >>> try:
    ...     told = list_faces(as_json=True).startswith('{"file": ')
    ... except PortrayalError as error:
    ...     told = "no set of faces" in str(error)
    >>> told
    True
    """
    pictures = listed_pictures(shipped_set())
    if as_json:
        return "\n".join(json.dumps(picture, ensure_ascii=False) for picture in pictures)
    series: dict[tuple[str, ...], list[str]] = {}
    for one in pictures:
        series.setdefault((one["kind"] or "", one["attribute"], *one["poles"]), []).append(one["person"])
    return "\n".join(
        f"{' '.join(filter(None, name))}: {len(set(people))} people, {len(people)} pictures"
        for name, people in series.items()
    )


def listed_pictures(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield file, person, attribute, poles, value and kind of a folder's pictures."""
    manifest = read_manifest(folder)
    for picture in manifest.pictures:
        yield {
            "file": str(folder / picture.file),
            "person": picture.person,
            "attribute": picture.attribute,
            "poles": picture.poles,
            "value": picture.value,
            "kind": picture.kind or manifest.kind,
        }
