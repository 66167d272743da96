"""Specification curve: every system measured in every way, with one joint test [1]_.

A choice that hardly moves any number is left out. The joint test asks whether all ways together show a slope: it flips the
queries' parts in the mean of the standardised slopes [1]_.

References
----------
.. [1] Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.genderedness import DISCOUNTS
from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, score_many
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, ScoredRuns, make_ruler
from portrayal.audits.search.measures.slope import Slope
from portrayal.engine import engine_map
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.text.vectors.direction import METHODS

KEPT = {True: "left out", False: "kept"}
MATTERS = 0.1  # of an interval's half width: a choice that moves no number further is left out


def specifications(scored: ScoredRuns, pairs: Any) -> PartialResult:
    """Return GSR less the perfect system's for every system and way of measuring."""
    if not scored.settings.variants or not scored.systems:
        return PartialResult()
    ways = list(product(scored.rulers, METHODS))
    measured = list(engine_map(partial(_measurer, scored, pairs), ways, "ruler and direction"))
    rows = [row for some in measured for row, _ in some]
    slopes = [slope for some in measured for _, slope in some]
    table = _what_matters(pl.DataFrame(rows, infer_schema_length=None).with_row_index("place"), scored)
    joint = _joint(table, slopes, scored)
    return PartialResult(tables={"specifications": table.drop("place"), "specification_tests": joint})


def _measurer(scored: ScoredRuns, pairs: Any) -> Callable[[tuple[str, str]], list[tuple[dict[str, Any], Slope]]]:
    return partial(_ways, scored, pairs)


def _ways(scored: ScoredRuns, pairs: Any, way: tuple[str, str]) -> list[tuple[dict[str, Any], Slope]]:
    """Measure all systems with one ruler and direction in every further way."""
    name, method = way
    scores = make_ruler(scored.rulers[name].space, pairs, method, scored.history).scores
    found = []
    for inflected, discount in product(KEPT, DISCOUNTS):
        history = replace(scored.history, discount=discount, inflected=inflected)
        taken = {"ruler": name, "direction": method, "discount": discount, "inflected": KEPT[inflected]}
        for system, slope in _specified(scored, history, scores).items():
            known = slope.columns()
            figures = {key: known[key] for key in ("value", "low", "high", "n")}
            found.append(({"system": system, **taken, **figures}, slope))
    return found


def _specified(scored: ScoredRuns, history: History, scores: Any) -> dict[str, Slope]:
    """Measure all systems one way."""
    lists: dict[str, Any] = {system: (lists_of(run), False) for system, run in scored.runs.items()}
    tables = score_many(history, {**lists, PERFECT: (perfect_lists(history), True)}, scores)
    if scored.judged:
        return {name: relative_gsr(tables[name], tables[PERFECT], scored.seed).difference for name in scored.runs}
    return {name: gsr(tables[name], scored.seed) for name in scored.runs}


def _what_matters(table: pl.DataFrame, scored: ScoredRuns) -> pl.DataFrame:
    """Leave out, system by system, the choices that hardly move a number."""
    settings = scored.settings
    own = {"direction": settings.direction, "discount": settings.discount, "inflected": KEPT[settings.inflected]}
    parts = []
    for (_,), mine in table.group_by("system", maintain_order=True):
        half = float(np.nanmedian(((mine["high"] - mine["low"]) / 2).cast(pl.Float64).fill_null(np.nan).to_numpy()))
        for choice, taken in own.items():
            if not _moves(mine, choice, [name for name in ("ruler", *own) if name != choice], MATTERS * half):
                mine = mine.filter(pl.col(choice) == taken)
        parts.append(mine)
    return pl.concat(parts)


def _moves(table: pl.DataFrame, choice: str, others: list[str], least: float) -> bool:
    """Tell whether a choice moves a value enough, all else equal."""
    groups = table.drop_nulls("value").group_by(others)
    return any(np.ptp(mine["value"].to_numpy()) > least for _, mine in groups)


def _joint(table: pl.DataFrame, slopes: list[Slope], scored: ScoredRuns) -> pl.DataFrame:
    """Return each system's ways clear of zero, and the p of all together."""
    rows = []
    for (system,), mine in table.group_by("system", maintain_order=True):
        parts = np.zeros(max(scored.history.units, default=0) + 1)
        for place in mine["place"]:
            slope = slopes[place]
            scale = np.linalg.norm(slope.influence)
            parts[slope.units] += slope.influence / scale if scale > 0 else 0.0
        p = float(flip_jointly(parts[:, None], scored.seed).p[0])
        rows.append(
            {
                "system": system,
                "ways": mine.height,
                "above": int((mine["low"] > 0).sum()),
                "below": int((mine["high"] < 0).sum()),
                "lowest": mine["value"].min(),
                "median": mine["value"].median(),
                "highest": mine["value"].max(),
                "joint_p": None if np.isnan(p) else p,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
