"""Answers behind a row of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from portrayal.reporting.answers.answers import Chosen
from portrayal.tables import RESULTS
from portrayal.text.formatting import plain

# Columns that say how a row was made, not of which answers.
NOT_STIMULI = frozenset(RESULTS) - {"group", "versus"} | {"status", "sided", "bound", "confidence"}


@dataclass(frozen=True)
class Behind:
    """Answers that a row rests on, and columns that did not narrow them down."""

    chosen: Chosen
    narrowed_by: tuple[str, ...]
    not_narrowed_by: tuple[str, ...]


def behind(
    row: Mapping[str, Any],
    systems: Sequence[str],
    factors: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    names: Mapping[str, Mapping[str, str]],
) -> Behind:
    """Return the choice of answers that a result row stands on."""
    chosen: dict[str, list[str]] = {}
    used, unused, label = [], [], ""
    system = row.get("system")
    for column, value in row.items():
        if column in NOT_STIMULI or value is None or value == "":
            continue
        found = _factor(column, str(value), factors, names)
        if found:
            chosen.setdefault(found[0], []).append(found[1])
            used.append(f"{plain(column)}: {value}")
        elif str(value) in labels and not label:
            label = str(value)
            used.append(f"{plain(column)}: {value}")
        else:
            unused.append(f"{plain(column)}: {value}")
    of = (str(system),) if system in systems else ()
    return Behind(Chosen(of, label=label, factors=chosen), tuple(used), tuple(unused))


def level_names(inputs: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the names in results of levels that are codes in stimuli."""
    places = inputs.get("contexts")
    if not isinstance(places, pl.DataFrame) or not {"context", "name"} <= set(places.columns):
        return {}
    return {"context": dict(places.select("context", "name").drop_nulls().iter_rows())}


def _factor(
    column: str, value: str, factors: Mapping[str, Sequence[str]], names: Mapping[str, Mapping[str, str]]
) -> tuple[str, str] | None:
    """Return the factor and level of a facet, its own name first."""
    ordered = sorted(factors, key=lambda name: name != column)
    for name in ordered:
        for level in factors[name]:
            if value in (level, names.get(name, {}).get(level)):
                return name, level
    return None
