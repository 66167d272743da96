"""Whom any number of generated images depict, from a folder of Parquet files: counts of images that came out alike."""

from __future__ import annotations

import polars as pl

from portrayal.audits.associations.measures.depictions import HINT, IMAGES, count_alike, depictions_of_alike
from portrayal.batches import ROWS, Source, Sums, batches
from portrayal.tables import check


def depiction_shares(images: Source, neutral: str = "person", rows: int = ROWS) -> pl.DataFrame:
    """Measure generators on more images than memory holds: who is depicted by occupation, and what is blocked or dropped.

    Parameters
    ----------
    images
        A folder of Parquet files, a lazy table or a table: system, occupation, group (whom the prompt named), outcome (kept, blocked,
        dropped_nudity, dropped_age, no_face, unreadable, or null) and label (whom a reader saw), one row per image, in any order.
    neutral
        The word of prompts that name no group.
    rows
        Read at a time; memory grows with it, not with the number of images.

    Returns
    -------
    polars.DataFrame
        A Results table with all rows of a depictions audit, the same as in memory: counts equal, floats within 1e-12.

    Raises
    ------
    PortrayalError
        When a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import depiction_shares
    >>> made = {"system": "s", "occupation": "nurse", "group": "person", "outcome": ["kept", "kept", "blocked"],
    ...     "label": ["woman", "man", None]}
    >>> found = depiction_shares(pl.DataFrame(made))
    >>> found.filter(measure="depicted_share", occupation="nurse").select("group", "value", "n", "n_missing").rows()
    [('man', 0.5, 2, 1), ('woman', 0.5, 2, 1)]
    """
    alike = Sums(count_alike(pl.DataFrame(schema=IMAGES)), list(IMAGES))
    for batch in batches(images, list(IMAGES), rows, "images"):
        alike.add(count_alike(check(batch, IMAGES, "images", HINT)))
    return depictions_of_alike(alike.total(), neutral)
