"""Shares of groups by occupation in one's own pictures (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError
from portrayal.pictures.images import open_or_none
from portrayal.pictures.series.folder import UNREADABLE
from portrayal.tables import read_csv
from portrayal_faces.group_shares import refuse_other_labels, shares_by_occupation, shares_through_reader
from portrayal_faces.series.suitability import inspect_face

COLUMNS = ("occupation", "group", "share", "low", "high", "n", "n_missing", "how")
GENDERS = ("Female", "Male")  # the reader's
LABELLED, READ, CORRECTED = ("as labelled", "as read, not corrected", "as read, corrected for the reader's errors")
PICTURES = (".jpg", ".jpeg", ".png", ".webp")
SIZE = 512  # pixels of the longer side of what is read
# `group` is the label where one is known; `read` is null where nobody could be read, and `reason` says why.
READINGS = {
    "file": pl.String,
    "occupation": pl.String,
    "group": pl.String,
    "read": pl.String,
    "female": pl.Float64,
    "reason": pl.String,
}


def occupation_shares(where: Path | str, labelled: Path | str | None = None) -> pl.DataFrame:
    """Return the share of each group among an occupation's people in one's own pictures.

    Parameters
    ----------
    where
        A CSV with `occupation` and `group`, one row a picture, as somebody labelled them (any groups; an empty one is missing);
        or pictures to be read for perceived gender: a folder of pictures for each occupation, or a CSV with `file` and
        `occupation`.
    labelled
        For pictures that are read: a CSV with `file` and `group` (Female, Male) of pictures like them, which tells how often the
        reader errs. Without one the shares are what the reader saw.

    Returns
    -------
    polars.DataFrame
        `occupation`, `group`, `share` with `low` and `high` (95%), `n`, `n_missing` and `how` it is known; within a group the
        highest share first.

    Raises
    ------
    PortrayalError
        When there is nothing to count, or labels of other groups than the reader's.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import occupation_shares
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "labels.csv"
    ...     _ = table.write_text("occupation,group\\nnurse,woman\\nnurse,woman\\nnurse,man\\npilot,man\\n")
    ...     occupation_shares(table).select("occupation", "group", "share", "n").rows()[-1]
    ('pilot', 'woman', 0.0, 1)
    """
    path = Path(where)
    if path.is_file() and _has_labels(path):
        if labelled is not None:
            raise PortrayalError(f"{path.name} has labels already: nothing is read, so leave `labelled` out.")
        return _table(shares_by_occupation(_labels(path)), LABELLED)
    known = None if labelled is None else read_perceived_gender(Path(labelled))
    if known is not None:
        refuse_other_labels(known, GENDERS)  # before the many pictures are read
    read = read_perceived_gender(path)
    if read["occupation"].null_count():
        raise PortrayalError(
            f"{path.name} names no occupation for {read['occupation'].null_count()} picture(s). Add them."
        )
    if known is None:
        return _table(shares_by_occupation(read.with_columns(group="read"), GENDERS), READ)
    return _table(shares_through_reader(read, known, GENDERS), CORRECTED)


def _has_labels(path: Path) -> bool:
    """Return whether a table has labels of people, so that no face is read."""
    table = read_csv(path, "a table of pictures", "Expected a CSV with occupation and group, or file and occupation.")
    return {"occupation", "group"} <= set(table.columns)


def _labels(path: Path) -> pl.DataFrame:
    """Read labels of people; an empty one is missing."""
    labels = read_csv(path).with_columns(pl.col("group").str.strip_chars().replace("", None))
    if not labels["group"].count():
        contents = f"{labels.height} row(s), none with a group" if labels.height else "no rows below its header"
        raise PortrayalError(f"{path.name} has {contents}. Expected a row with occupation and group for each picture.")
    return labels


def _table(shares: pl.DataFrame, how: str) -> pl.DataFrame:
    return shares.with_columns(pl.lit(how).alias("how")).select(*COLUMNS)


def read_perceived_gender(where: Path) -> pl.DataFrame:
    """Read the perceived gender of the person closest to the centre of each picture.

    Returns
    -------
    polars.DataFrame
        Columns of `READINGS`. Whoever is read as under 20, is seen from the side or has no face is missing.
    """
    entries = list(_from_folder(where)) if where.is_dir() else list(_from_table(where))
    if not entries:
        raise PortrayalError(f"no picture in {where}. Expected a folder of pictures for each occupation, or a CSV.")
    rows = [(str(path), occupation, group, *_reading(path)) for path, occupation, group in entries]
    return pl.DataFrame(rows, schema=READINGS, orient="row")


def _from_folder(folder: Path) -> Iterator[tuple[Path, str | None, str | None]]:
    for path in sorted(folder.glob("*/*")):
        if path.suffix.lower() in PICTURES:
            yield path, path.parent.name, None


def _from_table(table: Path) -> Iterator[tuple[Path, str | None, str | None]]:
    rows = read_csv(table, "a table of pictures", "Expected a CSV with file, and occupation or group.")
    if "file" not in rows.columns or not {"occupation", "group"} & set(rows.columns):
        raise PortrayalError(
            f"{table.name} has the columns {', '.join(rows.columns)}. Expected file, and occupation, group or both."
        )
    for row in rows.iter_rows(named=True):
        path = path_inside(table.parent, str(row["file"]), (), table.name)
        if not path.is_file():
            raise PortrayalError(f"{table.name} names {row['file']!r}, which is not there.")
        yield path, row.get("occupation"), row.get("group")


def _reading(path: Path) -> tuple[str | None, float | None, str]:
    """Return the group read, P(female), and why there is none."""
    picture = open_or_none(path, SIZE)
    if picture is None:
        return None, None, UNREADABLE
    seen = inspect_face(picture, strict=False)
    if seen.reason:
        return None, None, seen.reason
    return ("Female" if seen.female >= 0.5 else "Male"), seen.female, ""
