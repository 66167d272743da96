"""How the number depends on choices: agreement of vector sets (Figure 11, Table 2) and the specification curve."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.material import INSTRUMENT, PERFECT, Material, Part, make_ruler, with_options
from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, perfect_lists, score_many
from portrayal.audits.search.measures.lists import DISCOUNTS
from portrayal.audits.search.measures.reliability import correlate
from portrayal.stats.estimate import Estimate
from portrayal.text.direction import METHODS


def agreement(material: Material) -> Part:
    """Return how far each two sets of measuring vectors agree on queries and on the order of systems."""
    rows, points = [], []
    for first, second in combinations(material.rulers, 2):
        x, y = material.query_scores(first), material.query_scores(second)
        names = f"{first} and {second}"
        rows.append(
            _row(
                "query_agreement", names, correlate(x, y, seed=material.seed), "Pearson's r of g(q), queries"
            )
        )
        order = correlate(_slopes(material, first), _slopes(material, second), "spearman", material.seed)
        rows.append(
            _row("system_agreement", names, order, "Spearman's rho of GSR, systems with the perfect one")
        )
        columns = {"query": list(material.history.queries), "x": x, "y": y}
        points.append(pl.DataFrame(columns).with_columns(first=pl.lit(first), second=pl.lit(second)))
    return Part(rows, {"agreement": pl.concat(points).fill_nan(None)} if points else {})


def specifications(material: Material, pairs: Any) -> Part:
    """Return GSR (against the perfect system where there is one) for every way of measuring it."""
    if not material.settings.variants:
        return Part()
    rows = []
    for (name, ruler), method in product(material.rulers.items(), METHODS):
        scores = make_ruler(ruler.space, pairs, method, material.history).scores
        for inflected, discount in product((True, False), DISCOUNTS):
            history = with_options(material.history, discount, inflected)
            choices = {
                "vectors": name,
                "direction": method,
                "discount": discount,
                "inflected": "left out" if inflected else "kept",
            }
            rows += [{**choices, **row} for row in _specified(material, history, scores)]
    # The claim: the list's slope lies above the perfect system's, or above zero where there is none.
    table = pl.DataFrame(rows).with_columns(supports=(pl.col("low") > 0).fill_null(False))
    return Part(tables={"specifications": table})


def _specified(material: Material, history: History, scores: Any) -> list[dict[str, Any]]:
    """Measure all systems one way."""
    lists: dict[str, Any] = {system: (lists_of(run), False) for system, run in material.runs.items()}
    tables = score_many(history, {**lists, PERFECT: (perfect_lists(history), True)}, scores)
    rows = []
    for system in material.runs:
        slope = gsr(tables[system], material.seed, draws=300, shuffles=1)
        if material.judged:
            slope = relative_gsr(
                tables[system], tables[PERFECT], material.seed, draws=300, shuffles=1
            ).difference
        known = slope.columns()
        rows.append({"system": system, **{name: known[name] for name in ("value", "low", "high", "n")}})
    return rows


def _slopes(material: Material, ruler: str) -> np.ndarray:
    """Return GSR of all systems and, where there are judgments, of the perfect one."""
    names = [*material.systems, *((PERFECT,) if material.judged else ())]
    return np.array([gsr(material.tables[ruler][name], draws=2, shuffles=1).value for name in names])


def _row(measure: str, names: str, found: Estimate, unit: str) -> dict[str, Any]:
    note = "few points: the interval is rough" if (found.n or 0) < 10 else ""
    return found.row(measure, system=INSTRUMENT, group=names, unit=unit, note=note)
