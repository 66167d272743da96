"""Who is shown for each occupation in one's own pictures: Tables 3 and 4 of the paper, from labels or through a reader."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.counterfactuals.measures.world import shares_by_occupation, shares_through_reader
from portrayal.errors import PortrayalError
from portrayal.tables import read_csv

COLUMNS = ("occupation", "group", "share", "low", "high", "n", "n_missing", "how")
GENDERS = ("Female", "Male")  # the reader's
LABELLED, READ, CORRECTED = (
    "as labelled",
    "as read, not corrected",
    "as read, corrected for the reader's errors",
)


def occupation_shares(where: Path | str, labelled: Path | str | None = None) -> pl.DataFrame:
    """Return the share of each group among the people shown for each occupation, in one's own pictures.

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
        When there is nothing to count.

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
        labels = read_csv(path).with_columns(pl.col("group").str.strip_chars().replace("", None))
        return _told(shares_by_occupation(labels), LABELLED)
    from portrayal.vision.faces.occupations import read_perceived_gender

    read = read_perceived_gender(path)
    if read["occupation"].null_count():
        raise PortrayalError(
            f"{path.name} names no occupation for {read['occupation'].null_count()} picture(s). Add them."
        )
    if labelled is None:
        return _told(shares_by_occupation(read.with_columns(group="read"), GENDERS), READ)
    return _told(shares_through_reader(read, read_perceived_gender(Path(labelled))), CORRECTED)


def _has_labels(path: Path) -> bool:
    """Whether a table has labels of people: then nobody's face is read."""
    table = read_csv(
        path, "a table of pictures", "Expected a CSV with occupation and group, or file and occupation."
    )
    return {"occupation", "group"} <= set(table.columns)


def _told(shares: pl.DataFrame, how: str) -> pl.DataFrame:
    return shares.with_columns(pl.lit(how).alias("how")).select(*COLUMNS)
