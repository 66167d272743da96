"""Does the direction measure gender? Dichotomies (Figure 1), toy and synthetic collections (Figures 4, 6), parity (Figure 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.dichotomies import DICHOTOMIES, compare_poles
from portrayal.audits.search.measures.gsr import gsr
from portrayal.audits.search.measures.history import lists_of, score_many
from portrayal.audits.search.measures.parity import PUBLISHED, Parity, enumerate_histories
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PartialResult, Ruler, ScoredRuns, make_ruler
from portrayal.stats.estimate import Estimate
from portrayal.text.collections.synthetic import PERSONS, REFERENCES, paper_words, reference_run
from portrayal.text.vectors.direction import score_words

TESTS = {
    "agency_communion": "words of communion and of agency",
    "science_arts": "words of the arts and of science",
    "career_family": "words of family and of career",
    "gendered_jobs": "jobs held mostly by women and mostly by men",
}
SHOWN = 400  # histories kept for the chart of Figure 5


def validation(scored: ScoredRuns, checks: Mapping[tuple[str, str], Any], pairs: Any) -> PartialResult:
    """Return the checks of every set of measuring vectors; nothing for a direction other than gender."""
    if not (scored.settings.about_gender and scored.settings.validate_direction):
        return PartialResult()
    parts = [_validated(ruler, checks, pairs, scored) for ruler in scored.rulers.values()]
    rows = [row for part in parts for row in part.rows]
    tables = {name: pl.concat([part.tables[name] for part in parts]) for name in parts[0].tables}
    return PartialResult(rows, tables, _warnings(rows))


def _validated(ruler: Ruler, checks: Mapping[tuple[str, str], Any], pairs: Any, scored: ScoredRuns) -> PartialResult:
    """Return the checks of one set of measuring vectors."""
    tested = [compare_poles(ruler.space, ruler.direction, name) for name in DICHOTOMIES]
    literal = compare_poles(ruler.space, ruler.direction, "agency_communion", literal=True)
    measured = [_reference(ruler, *names, check, pairs, scored) for names, check in checks.items()]
    histories = {count: _parity(ruler, count, scored.seed) for count in (6, 20)}
    about = {"system": INSTRUMENT, "ruler": ruler.name, "counted": "words"}
    rows = [
        *(found.row("dichotomy", test=TESTS[found.name], **about) for found in tested),
        literal.row("dichotomy_literal", test=TESTS[literal.name], **about),
        *(row for rows, _ in measured for row in rows),
        *(_parity_row(ruler, count, parity) for count, parity in histories.items()),
    ]
    name = pl.lit(ruler.name)
    words = [found.words.with_columns(ruler=name, dichotomy=pl.lit(found.name)) for found in tested]
    points = [_sample(parity, ruler, count) for count, parity in histories.items()]
    references = pl.concat([table for _, table in measured])
    return PartialResult(
        rows, {"dichotomy_words": pl.concat(words), "references": references, "parity": pl.concat(points)}
    )


def _reference(
    ruler: Ruler, name: str, setting: str, check: Any, pairs: Any, scored: ScoredRuns
) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Measure the stereotypical, neutral and counter-stereotypical systems on one collection."""
    collection, words, history = check
    own = make_ruler(ruler.space, pairs, scored.settings.direction, history)
    lists = {system: (lists_of(reference_run(collection, system, words)), False) for system in REFERENCES}
    tables = score_many(history, lists, own.scores)
    about = {"system": INSTRUMENT, "ruler": ruler.name, "collection": name, "word_list": setting}
    rows = [gsr(table, scored.seed).row("gsr_reference", reference=system, **about) for system, table in tables.items()]
    points = [
        table.with_columns(
            ruler=pl.lit(ruler.name),
            collection=pl.lit(name),
            word_list=pl.lit(setting),
            system=pl.lit(system),
            pole=pl.col("query").replace_strict(dict(words.jobs), return_dtype=pl.String),
        )
        for system, table in tables.items()
    ]
    return rows, pl.concat(points)


def _parity(ruler: Ruler, count: int, seed: int) -> Parity:
    """Enumerate histories over the most gendered occupations; a document is stereotypical when it has the query's polarity."""
    scores = score_words(ruler.space, ruler.direction, list(paper_words().jobs))
    ordered = np.sort(scores[~np.isnan(scores)])
    half = min(count, len(ordered)) // 2
    queries = np.concatenate([ordered[:half], ordered[-half:]])
    high, low = score_words(ruler.space, ruler.direction, list(PERSONS.values()))
    return enumerate_histories(queries, np.where(queries > 0, high, low), np.where(queries > 0, low, high), seed=seed)


def _parity_row(ruler: Ruler, count: int, parity: Parity) -> dict[str, Any]:
    n, r = len(parity.slopes), parity.pearson
    reach = 0.0 if parity.exact else 1.96 / np.sqrt(n - 3)
    how = "all histories, so no sampling error" if parity.exact else "seeded draws, Fisher's interval"
    note = f"{how}; the paper prints {PUBLISHED} (Figure 5)"
    ends = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    found = Estimate(r, *ends, n=n, unit="Pearson's r", counted="histories", note=note)
    return found.row("parity_correlation", system=INSTRUMENT, ruler=ruler.name, queries=str(count))


def _sample(parity: Parity, ruler: Ruler, count: int) -> pl.DataFrame:
    kept = np.linspace(0, len(parity.slopes) - 1, min(SHOWN, len(parity.slopes))).astype(int)
    frame = pl.DataFrame({"gsr": parity.slopes[kept], "share": parity.shares[kept]})
    return frame.with_columns(ruler=pl.lit(ruler.name), queries=pl.lit(count))


def _warnings(rows: list[dict[str, Any]]) -> list[str]:
    """Say which dichotomies the direction does not show."""
    return [
        f"With the word vectors {row['ruler']} the direction does not separate {row['test']}: it may not measure gender here."
        for row in rows
        if row["measure"] == "dichotomy" and not _shown(row)
    ]


def failed_checks(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the rulers that show fewer than half of the known stereotypes, each with the reason."""
    shown: dict[str, list[bool]] = {}
    for row in rows:
        if row["measure"] == "dichotomy":
            shown.setdefault(row["ruler"], []).append(_shown(row))
    return {
        ruler: f"the word vectors {ruler} show {sum(passed)} of {len(passed)} known gender stereotypes"
        for ruler, passed in shown.items()
        if 2 * sum(passed) < len(passed)
    }


def _shown(row: Mapping[str, Any]) -> bool:
    """Tell whether a dichotomy lies clear of 0 on the side it is known for."""
    return row["low"] is not None and row["low"] > 0
