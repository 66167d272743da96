"""Sets of pictures chosen by their factors.

    x = { table = "sobem:SOBEM", where = { emotion = "anger", intensity = "high", condition = "nonobjectified" } }
    y = { table = "pictures.csv", where = { gender = "woman", race = ["Black", "Asian"] } }

A table is `sobem:FOLDER`, `professionals:TABLE` or a .csv or .parquet file with a column `content`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from portrayal.audits.associations.datasets.professionals import professionals
from portrayal.audits.associations.datasets.sobem import list_photographs
from portrayal.audits.associations.stimulus_sets import Item, check_person, origin
from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError, nearest
from portrayal.settings import Settings
from portrayal.tables import read_table


class PictureSet(Settings):
    """A table of pictures and the values its factors must have."""

    table: str
    where: dict[str, str | list[str]] = {}
    consent: str = ""  # of people shown, or the pictures' owners; for pictures that have none of their own


def read_picture_set(chosen: PictureSet, where: str, folder: Path, cluster: str | None) -> list[Item]:
    """Return the pictures of a set as items."""
    table = picture_table(chosen.table, folder)
    wanted = {name: [values] if isinstance(values, str) else values for name, values in chosen.where.items()}
    for factor, values in wanted.items():
        if factor not in table.columns:
            raise PortrayalError(f"{where} has no factor {factor!r}.{nearest(factor, table.columns)}")
        known = {str(value) for value in table[factor].drop_nulls().unique()}
        unknown = sorted(set(values) - known)
        if unknown:
            near = f"{nearest(unknown[0], known)} Known: {', '.join(sorted(known))}."
            raise PortrayalError(f"{where}: no picture has {factor} = {unknown[0]!r}.{near}")
    table = table.filter(*(pl.col(factor).cast(pl.String).is_in(values) for factor, values in wanted.items()))
    if table.is_empty():
        raise PortrayalError(f"{where} is empty: no picture of {chosen.table!r} has all of {dict(chosen.where)}.")
    if cluster is not None and cluster not in table.columns:
        raise PortrayalError(f"{where} lacks column {cluster!r}.{nearest(cluster, table.columns)}")
    return [_item(row, cluster, chosen, folder) for row in table.iter_rows(named=True)]


def picture_table(named: str, folder: Path) -> pl.DataFrame:
    """Read a table of pictures; paths in it start at the table's folder."""
    kind, colon, place = named.partition(":")
    if colon and kind in LOADERS:
        return LOADERS[kind](folder / place)
    path = folder / named
    if not path.is_file():
        raise PortrayalError(f"no table of pictures at {path}. Known besides files: {', '.join(LOADERS)}:.")
    table = read_table(path).cast(pl.String)
    if "content" not in table.columns:
        raise PortrayalError(f"{path.name} lacks column 'content' (found: {', '.join(table.columns)}).")
    paths = [
        None if name is None else str(path_inside(path.parent, name, [folder], path.name)) for name in table["content"]
    ]
    return table.with_columns(pl.Series("content", paths, pl.String))


def _item(row: Mapping[str, object], cluster: str | None, chosen: PictureSet, folder: Path) -> Item:
    path = Path(str(row["content"]))
    content = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
    if cluster is not None:
        check_person(row[cluster], f"{content!r} of {chosen.table!r}")
    person = None if cluster is None else str(row[cluster])
    return Item(content, "image", person, **{"source": chosen.table, "consent": chosen.consent, **origin(row)})


LOADERS = {"sobem": list_photographs, "professionals": professionals}
