"""Specification curve: every system measured in every way, with one joint test.

Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214. The joint test flips the
queries' parts in the mean of the standardised slopes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.genderedness import DISCOUNTS
from portrayal.audits.search.measures.gsr import Slope, gsr, relative_gsr
from portrayal.audits.search.measures.history import lists_of, score_many
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, ScoredRuns, make_ruler
from portrayal.engine import engine_map
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.tables import finite
from portrayal.text.vectors.direction import METHODS

KEPT = {True: "left out", False: "kept"}
MATTERS = 0.1  # of an interval's half width: a choice that moves no number further is left out


def specifications(scored: ScoredRuns, pairs: Any) -> PartialResult:
    """Return GSR less the perfect system's for every system and way of measuring."""
    if not scored.settings.variants or not scored.systems:
        return PartialResult()
    ways = list(product(scored.rulers, METHODS))
    measured = engine_map(partial(partial, _ways, scored, pairs), ways, "ruler and direction")
    rows, slopes = zip(*chain.from_iterable(measured), strict=True)
    table = _what_matters(pl.DataFrame(rows, infer_schema_length=None).with_row_index("place"), scored)
    joint = _joint(table, slopes, scored)
    return PartialResult(tables={"specifications": table.drop("place"), "specification_tests": joint})


def _ways(scored: ScoredRuns, pairs: Any, way: tuple[str, str]) -> list[tuple[dict[str, Any], Slope]]:
    """Measure all systems with one ruler and direction in every further way."""
    name, method = way
    scores = make_ruler(scored.rulers[name].space, pairs, method, scored.history).scores
    lists: dict[str, Any] = {system: (lists_of(run), False) for system, run in scored.runs.items()}
    lists[PERFECT] = (perfect_lists(scored.history), True)
    made = []
    for inflected, discount in product(KEPT, DISCOUNTS):
        history = replace(scored.history, discount=discount, inflected=inflected)
        taken = {"ruler": name, "direction": method, "discount": discount, "inflected": KEPT[inflected]}
        tables = score_many(history, lists, scores)
        for system in scored.runs:
            ties = scored.tables[name][system].select("unit", "shared")
            tables[system] = tables[system].hstack(ties)
            if scored.judged:
                slope = relative_gsr(tables[system], tables[PERFECT], scored.seed).difference
            else:
                slope = gsr(tables[system], scored.seed)
            columns = slope.columns()
            figures = {key: columns[key] for key in ("value", "low", "high", "n")}
            made.append(({"system": system, **taken, **figures}, slope))
    return made


def _what_matters(table: pl.DataFrame, scored: ScoredRuns) -> pl.DataFrame:
    """Leave out, system by system, the choices that hardly move a number."""
    settings = scored.settings
    own = {"direction": settings.direction, "discount": settings.discount, "inflected": KEPT[settings.inflected]}
    parts = []
    for (_,), mine in table.group_by("system", maintain_order=True):
        half = float(np.nanmedian(((mine["high"] - mine["low"]) / 2).cast(pl.Float64).fill_null(np.nan).to_numpy()))
        for choice, taken in own.items():  # does it move a value enough, all else equal?
            groups = mine.drop_nulls("value").group_by([name for name in ("ruler", *own) if name != choice])
            if not any(np.ptp(part["value"].to_numpy()) > MATTERS * half for _, part in groups):
                mine = mine.filter(pl.col(choice) == taken)
        parts.append(mine)
    return pl.concat(parts)


def _joint(table: pl.DataFrame, slopes: Sequence[Slope], scored: ScoredRuns) -> pl.DataFrame:
    """Return each system's ways clear of zero, and the p of all together."""
    rows = []
    for (system,), mine in table.group_by("system", maintain_order=True):
        parts = Counter[int]()
        for slope in (slopes[place] for place in mine["place"]):
            scale = np.linalg.norm(slope.influence)
            parts.update(dict(zip(slope.units.tolist(), slope.influence / scale, strict=True)) if scale > 0 else {})
        value, clear = mine["value"], {"above": (mine["low"] > 0).sum(), "below": (mine["high"] < 0).sum()}
        spread = {"lowest": value.min(), "median": value.median(), "highest": value.max()}
        p = finite(
            float(flip_jointly(np.array([[parts[unit]] for unit in sorted(parts)]).reshape(-1, 1), scored.seed).p[0])
        )
        rows.append({"system": system, "ways": mine.height, **clear, **spread, "joint_p": p})
    return pl.DataFrame(rows, infer_schema_length=None)
