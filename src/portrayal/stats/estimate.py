"""One number of a result: value, interval, test, and how many it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from math import nan
from typing import Any, Self

from portrayal.tables import finite

LEVEL = 0.05  # under which a sentence says that something was found


@dataclass(frozen=True)
class Estimate:
    """A value, its interval and other columns of a Results row; NaN where unknown."""

    value: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    n: int | None = None
    n_missing: int | None = 0
    unit: str = ""
    note: str = ""
    counted: str | None = None  # what n counts
    null: float = nan  # the value that would show no difference, where it is not 0
    p_floor: float = nan  # the smallest p the design could give
    decision: str | None = None  # only "not tested" or "not measurable": what was found is decided elsewhere
    reason: str | None = None
    tested_by: str | None = None  # the name of a test whose power is known
    n_first: int | None = None  # units of the first side, or of the only one
    n_second: int | None = None
    value_if_all: float = nan  # a difference, had everybody without an answer done so
    value_if_none: float = nan  # or nobody
    base_share: float = nan  # the smaller of two shares

    def __iter__(self) -> Iterator[float]:
        """Yield value, low and high."""
        yield from (self.value, self.low, self.high)

    def map(self, change: Callable[[float], float]) -> Self:
        """Return the estimate on another scale, which must be a rising one."""
        return replace(self, value=change(self.value), low=change(self.low), high=change(self.high))

    def columns(self) -> dict[str, Any]:
        """Return the columns that an estimate knows; what is not a number is null."""
        return {name: finite(getattr(self, name)) for name in COLUMNS}

    def row(self, measure: str, **columns: Any) -> dict[str, Any]:
        """Return a Results row; `columns` add to those of the estimate or replace them."""
        further = {name: finite(item) for name, item in columns.items()}
        return {"measure": measure, **self.columns(), **further}


COLUMNS = tuple(field.name for field in fields(Estimate))
