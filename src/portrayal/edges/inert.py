"""Text for people that stays text: no spreadsheet runs it, no terminal obeys it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

# A spreadsheet runs a cell that begins with one of these, also after blanks, marks nobody sees and quotes we put there, and
# in their wide forms; a semicolon, tab or line break begins a new cell in half of the world's settings.
_BEGINS = r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*"
_RUNS = r"[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]"
FORMULA = rf"^'*{_BEGINS}{_RUNS}"
INSIDE = rf"([;\t\r\n|]{_BEGINS})('*{_RUNS})"
NUMERIC = r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?%?$"

# What a terminal obeys, and what turns the reading direction.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def inert_cells(column: pl.Expr) -> pl.Expr:
    """Return a text column in which an apostrophe stands before what a spreadsheet would run.

    Numbers stay as they are. `original_cells` takes the apostrophe away again.
    """
    import polars as pl  # here: the command line needs the terminal's half of this file alone

    formula = column.str.contains(FORMULA) & ~column.str.contains(NUMERIC)
    quoted = pl.when(formula).then(pl.lit("'") + column).otherwise(column)
    return quoted.str.replace_all(INSIDE, "${1}'${2}")


def original_cells(column: pl.Expr) -> pl.Expr:
    """Return a text column as it was before `inert_cells`."""
    import polars as pl

    inside = column.str.replace_all(rf"([;\t\r\n|]{_BEGINS})'('*{_RUNS})", "${1}${2}")
    return pl.when(inside.str.contains(rf"^'+{_BEGINS}{_RUNS}")).then(inside.str.strip_prefix("'")).otherwise(inside)


def inert_line(text: Any) -> str:
    r"""Return text that a terminal shows and does not obey; line breaks and tabs stay."""
    return _OBEYED.sub("\ufffd", str(text))
