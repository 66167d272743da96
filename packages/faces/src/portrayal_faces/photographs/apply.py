"""Series of a table of pictures, and who was left out (`portrayal faces apply`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.folders import adopt, claim
from portrayal.errors import PortrayalError
from portrayal.pictures.series.manifest import MADE, failures
from portrayal.pictures.series.values import steps
from portrayal_faces.photographs.model import open_model
from portrayal_faces.series.attributes import two_poles
from portrayal_faces.series.build import CHECKS, LEFT_OUT, Recipe, build
from portrayal_faces.series.sources import read_pictures


def make_face_series(
    table: Path | str,
    out: Path | str = "local/series",
    attributes: Sequence[str] = ("gender", "race"),
    poles: Sequence[str] = ("White", "Black"),
    model: Path | str | None = None,
    size: int = 512,
) -> str:
    """Make series of counterfactual faces: an adult's picture with one cue changed.

    Parameters
    ----------
    table
        A CSV with `file`, `source` and `consent` for each picture; `person`, `license` and `age` are welcome. Whoever is no
        adult is left out and named.
    out
        Where the series go: an empty folder, or one that earlier series went to.
    attributes
        'gender', 'race' or both.
    poles
        The two poles of race.
    model
        A file of another network than the one that ships.
    size
        Longer side of the pictures.

    Returns
    -------
    str
        Where the series are, who was left out and why, and each manipulation check that was missed or not judged.

    Raises
    ------
    PortrayalError
        When there is no picture, one has no recorded source or consent or is listed twice, or the folder holds something else:
        nothing is made then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import PortrayalError, make_face_series
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "pictures.csv"
    ...     _ = table.write_text("file,source,consent\\nanna.jpg,own photograph,\\n")
    ...     try:
    ...         make_face_series(table, Path(folder) / "series")
    ...     except PortrayalError as error:
    ...         print("consent" in str(error), (Path(folder) / "series").exists())
    True False
    """
    recipe = _recipe(tuple(dict.fromkeys(attributes)), poles, size)
    changer = open_model(str(model) if model else None)
    changer.require(recipe.axes())
    pictures = read_pictures(Path(table))
    adopt(Path(out).absolute(), "pictures")
    claim(Path(out).absolute(), "pictures")
    return _report(build(pictures, changer, recipe, Path(out).absolute()))


def _recipe(attributes: tuple[str, ...], poles: Sequence[str], size: int) -> Recipe:
    """Return what is made of each picture, or refuse what cannot be varied."""
    if not attributes:
        raise PortrayalError("no attribute was named. Expected gender, race or both.")
    for attribute in attributes:
        steps(attribute)  # refuses what cannot be varied
    first, second = two_poles(poles) if "race" in attributes else ("", "")
    return Recipe(attributes, ((first, second),), placebo=False, size=size)


def _report(folder: Path) -> str:
    """Report the folder, who was left out and why, and checks missed or not judged."""
    made, left = pl.read_parquet(folder / MADE), pl.read_parquet(folder / LEFT_OUT)
    reasons = left.group_by("reason").len().sort("reason").iter_rows()
    lines = [
        f"{made.height} pictures in {folder}",
        *(f"{number} picture(s): {reason}" for reason, number in reasons),
        *failures(pl.read_parquet(folder / CHECKS)),
    ]
    return "\n".join(lines)
