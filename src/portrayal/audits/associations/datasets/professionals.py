"""Pictures of people at work, with the exclusions of Wolfe et al. (2023), section 3.4.

A table (.csv, .parquet) has `content` (path, from the table's folder), `profession`, `group` (whom it shows; who said so in
`label_source`) and the exclusions. Every picture is judged yes or no on all five; one yes leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import read_table

EXCLUSIONS = ("several_people", "occluded", "suggestive", "famous", "watermark")
NEEDED = ("content", "profession", "group", *EXCLUSIONS)
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")


def professionals(path: Path) -> pl.DataFrame:
    """Return the pictures that none of the five exclusions leaves out."""
    table = read_judged(path)
    excluded = pl.any_horizontal(pl.col(name) == "yes" for name in EXCLUSIONS)
    return table.filter(~excluded).drop(EXCLUSIONS)


def exclusions(path: Path) -> dict[str, int]:
    """Return how many pictures each reason leaves out; a picture may have several."""
    table = read_judged(path)
    return {name: int((table[name] == "yes").sum()) for name in EXCLUSIONS}


def read_judged(path: Path) -> pl.DataFrame:
    """Read the whole table: paths from the table's folder, yes or no in lower case."""
    if not path.is_file():
        raise PortrayalError(f"no table of pictures at {path}. Check the path.")
    table = read_table(path).cast(pl.String)
    for name in NEEDED:
        if name not in table.columns:
            raise PortrayalError(f"{path.name} lacks column {name!r} (found: {', '.join(table.columns)}).")
    judged = table.with_columns(pl.col(name).str.to_lowercase().str.strip_chars() for name in EXCLUSIONS)
    for name in EXCLUSIONS:
        unjudged = judged.filter(~pl.col(name).is_in(["yes", "no"]).fill_null(False))
        if not unjudged.is_empty():
            raise PortrayalError(
                f"{unjudged['content'][0]!r} has {unjudged[name][0]!r} under {name}. Write yes or no for every picture."
            )
    return judged.with_columns((str(path.parent) + "/" + pl.col("content")).alias("content"))


def list_pictures(folder: Path) -> pl.DataFrame:
    """List a folder PROFESSION/GROUP/picture as a table whose five exclusions are still empty."""
    rows: list[Mapping[str, str]] = [
        {
            "content": str(path.relative_to(folder)),
            "profession": path.parts[-3],
            "group": path.parts[-2],
            "label_source": "",
            **dict.fromkeys(EXCLUSIONS, ""),
        }
        for path in sorted(folder.glob("*/*/*"))
        if path.suffix.lower() in PICTURES
    ]
    if not rows:
        raise PortrayalError(f"{folder} holds no picture in PROFESSION/GROUP/. Sort the pictures into such folders.")
    return pl.DataFrame(rows)
