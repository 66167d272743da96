"""Labels of any number of generated images, from a folder of Parquet files: how many are flagged, blocked or without a face."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from portrayal.audits.associations.measures.sexualisation import (
    HINT,
    LABELS,
    OPTIONAL,
    SEXUALISED,
    check_labelled,
    count_flagged,
    count_seeds,
    flag_images,
    listed_twice,
    rates_of_counts,
)
from portrayal.batches import ROWS, Source, Sums, batches, columns_of, scan
from portrayal.edges.spill import Seen, unit_in_two
from portrayal.errors import PortrayalError
from portrayal.tables import check

SEED = ["system", "group", "seed"]


def flagged_shares(
    labels: Source,
    sexualised: Sequence[str] = SEXUALISED,
    baseline: str | None = None,
    validation: pl.DataFrame | None = None,
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure recorded labels of more images than memory holds: shares labelled as sexualised or blocked, by prompted group.

    Parameters
    ----------
    labels
        A folder of Parquet files, a lazy table or a table: system, group, seed, status and label, one row per image, in any order;
        `age` and `face` as in a study, in all files or in none.
    sexualised
        The labels that count.
    baseline
        The group the others are compared with; left out, every pair of groups is compared.
    validation
        What raters said of the detector, with a column `group`.
    rows
        Read at a time; memory grows with it, and where a seed was used more than once for a group with the number of seeds.

    Returns
    -------
    polars.DataFrame
        A Results table with all rows of a labels audit, the same as in memory: counts equal, floats within 1e-12.

    Raises
    ------
    PortrayalError
        When a column is missing, an answered image has no label, or an image is listed twice.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import flagged_shares
    >>> made = {"system": "s", "group": ["woman", "woman", "man", "man"], "seed": ["1", "2", "1", "2"], "status": "answered",
    ...     "label": ["sexy", "neutral", "neutral", "neutral"]}
    >>> found = flagged_shares(pl.DataFrame(made), baseline="man")
    >>> found.filter(measure="sexualised_rate").select("group", "value", "n").rows()
    [('man', 0.0, 2), ('woman', 0.5, 2)]
    """
    own = [*LABELS, *(name for name in OPTIONAL if name in columns_of(labels, "labels"))]
    flagged = partial(_flagged, labels, own, sexualised, rows)
    counts, repeated = _read(flagged, _nothing(labels, own, sexualised))
    check_labelled(counts)
    return rates_of_counts(counts, _seeds(flagged) if repeated else None, baseline, validation)


def _flagged(labels: Source, own: list[str], sexualised: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    for batch in batches(labels, own, rows, "labels"):
        yield flag_images(check(batch, LABELS, "labels", HINT), sexualised)


def _nothing(labels: Source, own: list[str], sexualised: Sequence[str]) -> pl.DataFrame:
    """Return no image, with the kinds of the columns."""
    empty = pl.DataFrame(schema=scan(labels, own, "labels").collect_schema())
    return flag_images(check(empty, LABELS, "labels", HINT), sexualised)


def _read(flagged: Callable[[], Iterator[pl.DataFrame]], nothing: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Return the images counted, and whether a seed may have been used more than once for a group: at several ages."""
    first = count_flagged(nothing)
    counts, repeated = Sums(first, [name for name in first.columns if name != "count"]), False
    image = [*SEED, "age"] if "age" in nothing.columns else SEED
    with Seen() as images, Seen() as seeds:
        for batch in flagged():
            counts.add(count_flagged(batch))
            units, used = batch.select(image), batch.filter("answered").select(SEED)
            _refuse_twice(_first_twice(units) or images.again(units))
            if image != SEED and not repeated:
                repeated = used.is_duplicated().any() or seeds.again(used) is not None
        _refuse_twice(unit_in_two((batch.select(image) for batch in flagged()), images.twice()))
        return counts.total(), repeated or len(seeds.twice()) > 0


def _first_twice(units: pl.DataFrame) -> tuple[Any, ...] | None:
    twice = units.filter(units.is_duplicated())
    return twice.row(0) if twice.height else None


def _refuse_twice(unit: tuple[Any, ...] | None) -> None:
    if unit is not None:
        raise PortrayalError(listed_twice(unit))


def _seeds(flagged: Callable[[], Iterator[pl.DataFrame]]) -> pl.DataFrame:
    """Count the images of each seed, which are read once more for it."""
    parts = map(count_seeds, flagged())
    seeds = Sums(next(parts), SEED)
    for part in parts:
        seeds.add(part)
    return seeds.total()
