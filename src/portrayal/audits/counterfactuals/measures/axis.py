"""Axis of a series: an attribute, and for race its two poles."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from portrayal.pictures.series.values import axis_title

POLES = ("pole_low", "pole_high")  # of race: the group at the negative end, and at the positive
KEY = ("attribute", *POLES)
PLACEBO = "placebo"


class Axis(NamedTuple):
    """An attribute and its poles; gender has none."""

    attribute: str
    pole_low: str | None = None
    pole_high: str | None = None

    @property
    def poles(self) -> tuple[str, ...]:
        """The two poles, or nothing."""
        return tuple(pole for pole in self[1:] if pole)

    @property
    def title(self) -> str:
        """The axis in words: 'gender', 'race from White to Black'."""
        return axis_title(*self)

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of a file's name."""
        return (self.attribute, *self.poles)

    def where(self) -> pl.Expr:
        """Pick the rows of this axis from a table with the columns of `KEY`."""
        return pl.all_horizontal(pl.col(name).eq_missing(pl.lit(part)) for name, part in zip(KEY, self, strict=True))

    def ends(self) -> tuple[str, str]:
        """Return what a face below and above the centre was made to be."""
        if self.attribute == "gender":
            return "more feminine", "more masculine"
        low, high = self.poles or ("at the negative end", "at the positive end")
        return f"closer to the pole {low}", f"closer to the pole {high}"


def axes_of(table: pl.DataFrame) -> list[Axis]:
    """Return the axes of a table, the placebo last."""
    rows = with_poles(table).select(*KEY).unique().drop_nulls("attribute")
    axes = [Axis(*row) for row in rows.iter_rows()]
    return sorted(axes, key=lambda axis: (axis.attribute == PLACEBO, axis.attribute, *axis.poles))


def with_poles(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with columns for the poles, empty where it had none."""
    known = {name: pl.col(name) if name in table.columns else pl.lit(None) for name in POLES}
    return table.with_columns(**{name: pole.cast(pl.String) for name, pole in known.items()})


def fill_poles(table: pl.DataFrame, low: str, high: str) -> pl.DataFrame:
    """Name the poles of race where the table, an older one, does not."""
    bare = (pl.col("attribute") == "race") & pl.col(POLES[0]).is_null()
    filled = {
        name: pl.when(bare).then(pl.lit(pole)).otherwise(name) for name, pole in zip(POLES, (low, high), strict=True)
    }
    return with_poles(table).with_columns(**filled)
