"""Validation of a direction: checks that it measures gender (sections 3.2.1 to 3.5).

Known stereotypes as four dichotomies (Figure 1, Tables A.4 to A.7); the reference systems on the toy and synthetic collections
(Figures 4, 6); and statistical parity (Gao, Shah, 2020, Information Processing & Management 57) against GSR over every history
(Figure 5): each query is answered by its stereotypical document (S), the counter-stereotypical one (CS), S then CS, or CS then S.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.genderedness import rank_weights
from portrayal.audits.search.measures.gsr import gsr
from portrayal.audits.search.measures.history import lists_of, score_many
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PartialResult, Row, Ruler, ScoredRuns, make_ruler
from portrayal.stats.estimate import Estimate
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.permutation import two_sample
from portrayal.text.collections.synthetic import PERSONS, REFERENCES, paper_words, reference_run
from portrayal.text.lexicons import READ_AS, read_lexicon
from portrayal.text.vectors.direction import Direction, score_words
from portrayal.text.vectors.space import WordSpace

# Lexicon, its word for the positive pole first; the published p with word2vec.
DICHOTOMIES = {"agency_communion": 2.2e-2, "science_arts": 1.8e-3, "career_family": 5.5e-4, "gendered_jobs": 0.0}
TESTS = {
    "agency_communion": "words of communion and of agency",
    "science_arts": "words of the arts and of science",
    "career_family": "words of family and of career",
    "gendered_jobs": "jobs held mostly by women and mostly by men",
}
EXACT_UP_TO = 6  # queries
PUBLISHED = 0.92  # Pearson's r, Figure 5
CHARTED = 400  # histories kept for the chart of Figure 5


@dataclass(frozen=True, eq=False)
class Dichotomy(Estimate):
    """The difference of the poles' mean genderedness, with a one-sided test."""

    unit: str = "difference of mean genderedness, words"
    name: str = ""
    words: pl.DataFrame = field(default_factory=pl.DataFrame)  # word, group, pole, score (null without a vector)


def compare_poles(
    space: WordSpace, direction: Direction, name: str, positive: str = "female", literal: bool = False
) -> Dichotomy:
    """Test one of `DICHOTOMIES`."""
    table = read_lexicon(name).select("word", "group", "pole")
    if not literal:
        table = table.with_columns(pl.col("word").replace(READ_AS))
    scores = score_words(space, direction, table["word"].to_list())
    table = table.with_columns(pl.Series("score", scores).fill_nan(None))
    known = table.drop_nulls("score")
    high = known.filter(pl.col("pole") == positive)["score"].to_numpy()
    low = known.filter(pl.col("pole") != positive)["score"].to_numpy()
    tested = two_sample(high, low, alternative="greater")
    note = f"one-sided, {tested.method} permutation test over the words; interval by Welch's t"
    value, lowest, highest = welch(high, low)
    counts: dict[str, Any] = {"n": len(known), "n_missing": len(table) - len(known)}
    return Dichotomy(value, lowest, highest, tested.p, **counts, note=note, name=name, words=table)


@dataclass(frozen=True)
class Parity:
    """GSR and the share of stereotypical documents of each history."""

    slopes: np.ndarray
    shares: np.ndarray
    exact: bool

    @property
    def pearson(self) -> float:
        """Pearson's r between the two."""
        return float(np.corrcoef(self.slopes, self.shares)[0, 1])


def enumerate_histories(
    queries: np.ndarray,
    stereotypical: np.ndarray,
    counter: np.ndarray,
    draws: int = 100_000,
    seed: int = 0,
    discount: str = "definition",
) -> Parity:
    """Return slope and share of stereotypical documents of all histories, or of seeded draws."""
    n = len(queries)
    exact = n <= EXACT_UP_TO
    if exact:
        choices = np.stack(np.unravel_index(np.arange(4**n), (4,) * n), axis=1)
    else:
        choices = np.random.default_rng(seed).integers(0, 4, (draws, n))
    first, second = rank_weights(2, discount) / rank_weights(2, discount).sum()
    both = first * stereotypical + second * counter, first * counter + second * stereotypical
    lists = np.stack([stereotypical, counter, *both])[choices, np.arange(n)]
    centred = queries - queries.mean()
    slopes = lists @ centred / (centred @ centred)
    # Stereotypical over retrieved documents: S has 1 of 1, CS 0 of 1, both orders 1 of 2.
    shares = (choices != 1).sum(axis=1) / (1 + (choices >= 2)).sum(axis=1)
    return Parity(slopes, shares, exact)


def validation(scored: ScoredRuns, checks: Mapping[tuple[str, str], Any], pairs: Any) -> PartialResult:
    """Return the checks of every set of measuring vectors, for gender alone."""
    if not (scored.settings.about_gender and scored.settings.validate_direction):
        return PartialResult()
    parts = [_validated(ruler, checks, pairs, scored) for ruler in scored.rulers.values()]
    rows = [row for part in parts for row in part.rows]
    tables = {name: pl.concat([part.tables[name] for part in parts]) for name in parts[0].tables}
    warnings = [
        f"With the word vectors {row['ruler']} the direction does not separate {row['test']}: it may not measure gender here."
        for row in rows
        if row["measure"] == "dichotomy" and not _passes(row)
    ]
    return PartialResult(rows, tables, warnings)


def _validated(ruler: Ruler, checks: Mapping[tuple[str, str], Any], pairs: Any, scored: ScoredRuns) -> PartialResult:
    """Return the checks of one set of measuring vectors."""
    tested = [compare_poles(ruler.space, ruler.direction, name) for name in DICHOTOMIES]
    literal = compare_poles(ruler.space, ruler.direction, "agency_communion", literal=True)
    measured = [_reference(ruler, *names, check, pairs, scored) for names, check in checks.items()]
    histories = [_parity(ruler, count, scored.seed) for count in (6, 20)]
    about = {"system": INSTRUMENT, "ruler": ruler.name, "counted": "words"}
    rows = [
        *(one.row("dichotomy", test=TESTS[one.name], **about) for one in tested),
        literal.row("dichotomy_literal", test=TESTS[literal.name], **about),
        *(row for rows, _ in measured for row in rows),
        *(row for row, _ in histories),
    ]
    words = [one.words.with_columns(ruler=pl.lit(ruler.name), dichotomy=pl.lit(one.name)) for one in tested]
    tables = {
        "dichotomy_words": pl.concat(words),
        "references": pl.concat([table for _, table in measured]),
        "parity": pl.concat([sample for _, sample in histories]),
    }
    return PartialResult(rows, tables)


def _reference(
    ruler: Ruler, name: str, setting: str, check: Any, pairs: Any, scored: ScoredRuns
) -> tuple[list[Row], pl.DataFrame]:
    """Measure the stereotypical, neutral and counter-stereotypical systems on one collection."""
    collection, words, history = check
    own = make_ruler(ruler.space, pairs, scored.settings.direction, history)
    lists = {system: (lists_of(reference_run(collection, system, words)), False) for system in REFERENCES}
    tables = score_many(history, lists, own.scores)
    about = {"ruler": ruler.name, "collection": name, "word_list": setting}
    slopes = {system: gsr(table, scored.seed) for system, table in tables.items()}
    rows = [
        slope.row("gsr_reference", system=INSTRUMENT, reference=system, **about) for system, slope in slopes.items()
    ]
    pole = pl.col("query").replace_strict(dict(words.jobs), return_dtype=pl.String)
    named = {column: pl.lit(value) for column, value in about.items()}
    points = [table.with_columns(**named, system=pl.lit(system), pole=pole) for system, table in tables.items()]
    return rows, pl.concat(points)


def _parity(ruler: Ruler, count: int, seed: int) -> tuple[Row, pl.DataFrame]:
    """Measure histories over the most gendered occupations; stereotypical is a document of the query's polarity."""
    scores = score_words(ruler.space, ruler.direction, list(paper_words().jobs))
    ordered = np.sort(scores[~np.isnan(scores)])
    half = min(count, len(ordered)) // 2
    queries = np.concatenate([ordered[:half], ordered[-half:]])
    high, low = score_words(ruler.space, ruler.direction, list(PERSONS.values()))
    own, other = np.where(queries > 0, high, low), np.where(queries > 0, low, high)
    parity = enumerate_histories(queries, own, other, seed=seed)
    n, r = len(parity.slopes), parity.pearson
    reach = 0.0 if parity.exact else 1.96 / np.sqrt(n - 3)
    how = "all histories, so no sampling error" if parity.exact else "seeded draws, Fisher's interval"
    note = f"{how}; the paper prints {PUBLISHED} (Figure 5)"
    ends = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    correlation = Estimate(r, *ends, n=n, unit="Pearson's r", counted="histories", note=note)
    places = np.linspace(0, n - 1, min(CHARTED, n)).astype(int)
    sample = pl.DataFrame({"gsr": parity.slopes[places], "share": parity.shares[places]})
    row = correlation.row("parity_correlation", system=INSTRUMENT, ruler=ruler.name, queries=str(count))
    return row, sample.with_columns(ruler=pl.lit(ruler.name), queries=pl.lit(count))


def failed_checks(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the rulers that fail half of the known stereotypes, with reasons."""
    passes: dict[str, list[bool]] = {}
    for row in rows:
        if row["measure"] == "dichotomy":
            passes.setdefault(row["ruler"], []).append(_passes(row))
    return {
        ruler: f"the word vectors {ruler} show {sum(passed)} of {len(passed)} known gender stereotypes"
        for ruler, passed in passes.items()
        if 2 * sum(passed) < len(passed)
    }


def _passes(row: Mapping[str, Any]) -> bool:
    """Tell whether a dichotomy lies clear of 0 on the side it is known for."""
    return row["low"] is not None and row["low"] > 0
