"""GSR of every system (Table 2, Figures 8, 9), and single queries (Figures 2, 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.gsr import SMALL, UNIT, Slope, gsr, relative_gsr
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, Ruler, ScoredQueries, ScoredRuns
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.text.formatting import plural
from portrayal.text.words import wordnet

COMMON = "gsr_on_common_queries"
FEW_RELEVANT = 5  # documents: a median below is said, for K is as small
EACH = 10  # queries of each pole, as in Figure 7
TERMS_SHOWN = 10  # of a query; longer ones go on
WORDS = 40  # of the document of Figure 2

TERMS = {
    "query": pl.String, "pole": pl.String, "genderedness": pl.Float64, "place": pl.Int64, "term": pl.String,
    "score": pl.Float64,
}  # fmt: skip
NEGATIONS = re.compile(r"\b(no|not|never|without|neither|nor|cannot)\b|n't\b", re.IGNORECASE)


def reinforcement(scored: ScoredRuns) -> PartialResult:
    """Return rows of GSR and against the perfect system, and scored queries with their texts."""
    measured = list(slope_rows(scored))
    fits = [(row["ruler"], row["system"], slope.value, slope.intercept) for row, slope in measured if slope]
    schema = {"ruler": pl.String, "system": pl.String, "slope": pl.Float64, "intercept": pl.Float64}
    parts = [
        table.with_columns(ruler=pl.lit(ruler), system=pl.lit(system))
        for ruler, tables in scored.tables.items()
        for system, table in tables.items()
    ]
    text = pl.col("query").replace_strict(dict(scored.texts), default="", return_dtype=pl.String)
    tables = {
        "queries": pl.concat(parts).with_columns(text=text),
        "fits": pl.DataFrame(fits, schema=schema, orient="row"),
    }
    count = len(scored.queries)
    few = f"Only {count} queries: word scores are noisy, so GSR on a small collection needs a person's reading of the queries."
    unjudged = (
        "No relevance judgments: there is no perfect system to compare with, so a positive GSR may be plain relevance."
    )
    warnings = [few] * (count < SMALL) + [unjudged] * (not scored.judged) + short_lists(scored)
    return PartialResult([row for row, _ in measured], tables, warnings, _remarks(scored))


def short_lists(scored: ScoredRuns) -> list[str]:
    """Say how few results of a list are measured, where they are few."""
    history = scored.history
    depths = [history.depth(query) for query in history.queries if history.relevant(query)]
    median = float(np.median(depths)) if depths else np.inf
    if history.cuts_all or median >= FEW_RELEVANT:
        return []
    return [
        f"Of each list as many results are measured as its query has relevant documents, a median of {median:g}: "
        "what stands below is not seen. Set cutoff, such as 10, to measure as many of every list."
    ]


def slope_rows(scored: ScoredQueries) -> Iterator[tuple[dict[str, Any], Slope | None]]:
    """Yield the rows, each system's own GSR with its slope."""
    for ruler in scored.rulers.values():
        for system, table in scored.tables[ruler.name].items():
            if system == PERFECT and not scored.judged:
                continue
            slope, unscored = gsr(table, scored.seed), int(table["unscored"].sum())
            left_out = f"{unscored} listed documents have no scored word and are left out" if unscored else ""
            note = _joined(slope.note, left_out, scored.notes.get(system, ""))
            row = slope.row("gsr", system=system, ruler=ruler.name, note=note)
            tested = system in scored.systems and not scored.judged  # only without a perfect system
            yield row if tested else {**row, "family": EXPLORATORY}, slope
        for system in scored.systems:
            for row in (*_against(scored, ruler, system), *_without_gendered(scored, ruler, system)):
                yield row, None
        measure, against = ("gsr_difference", {"versus": PERFECT}) if scored.judged else ("gsr", {})
        about: dict[str, Any] = {"ruler": ruler.name, "counted": "queries", "unit": UNIT, **against}
        for system, reason in scored.unusable.items():
            none = Estimate(n=0, n_missing=len(scored.queries), decision=NOT_MEASURABLE, reason=reason)
            yield none.row(measure, system=system, **about), None


def _against(scored: ScoredQueries, ruler: Ruler, system: str) -> list[dict[str, Any]]:
    """Return difference and ratio to the perfect system, where there are judgments."""
    if not scored.judged:
        return []
    tables = scored.tables[ruler.name]
    relative = relative_gsr(tables[system], tables[PERFECT], scored.seed)
    about = {"system": system, "ruler": ruler.name, "versus": PERFECT, "counted": "queries"}
    n, missing = relative.difference.n, relative.difference.n_missing
    ratio = Estimate(relative.ratio, relative.low, relative.high, n=n, n_missing=missing, null=1.0, note=relative.note)
    note = _joined(relative.difference.note, scored.notes[system])
    return [
        relative.difference.row("gsr_difference", **about, note=note),
        ratio.row("gsr_ratio", unit="ratio of slopes", **about),
        *common_slopes(scored, ruler.name, system, PERFECT),
    ]


def common_slopes(scored: ScoredQueries, ruler: str, system: str, base: str) -> list[dict[str, Any]]:
    """Return both slopes on the queries that both systems have, where one lacks some."""
    tables = [scored.tables[ruler][name] for name in (system, base)]
    there = [table["query_score"].is_not_null() & table["list_score"].is_not_null() for table in tables]
    both = there[0] & there[1]
    about = {"ruler": ruler, "family": EXPLORATORY, "n_missing": len(both) - int(both.sum())}
    return [
        gsr(table.filter(both), scored.seed).row(COMMON, system=one, versus=other, **about)
        for table, one, other in zip(tables, (system, base), (base, system), strict=True)
        if not both.all()
    ]


def _without_gendered(scored: ScoredQueries, ruler: Ruler, system: str) -> list[dict[str, Any]]:
    """Return GSR over the queries that name no group, when some do."""
    named = int(scored.queries.gendered.sum())
    if not named or len(scored.queries) - named < 3:
        return []
    slope = gsr(scored.tables[ruler.name][system].filter(~scored.queries.gendered), scored.seed)
    note = f"without {plural(named, 'query', 'queries')} that name a group themselves"
    return [slope.row("gsr_without_gendered_queries", system=system, ruler=ruler.name, note=note)]


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _remarks(scored: ScoredRuns) -> list[str]:
    """Say which queries name a group themselves, or hold a negation."""
    count, remarks = len(scored.queries), []
    named = list(compress(scored.history.queries, scored.queries.gendered))
    negated = sum(bool(NEGATIONS.search(text)) for text in scored.texts.values())
    if named:
        example = " ".join(scored.texts[min(named)].split()[:8])
        name, them = ("names", "it") if len(named) == 1 else ("name", "them")
        remarks.append(
            f"{len(named)} of {count} queries {name} a group (such as {example!r}). There a low GSR may go against what the user "
            f"asked for; the rows 'GSR without the queries that name a group' leave {them} out."
        )
    if negated:
        hold = "holds" if negated == 1 else "hold"
        remarks.append(f"{negated} of {count} queries {hold} a negation, which a mean of word scores cannot see.")
    return remarks


def most_gendered(scored: ScoredRuns, example: Any = None) -> PartialResult:
    """Return the terms of the most gendered queries, and those of the example."""
    scores = scored.query_scores(scored.first.name)
    order = [place for place in np.argsort(scores, kind="stable") if not np.isnan(scores[place])]
    queries, each = list(scored.history.queries.items()), min(EACH, len(order) // 2)
    sides = zip(scored.settings.poles, (order[::-1][:each], order[:each]), strict=True)
    rows = [
        (queries[query][0], pole, scores[query], place, word, scored.first.scores.get(word))
        for pole, side in sides
        for query in side
        for place, word in enumerate(queries[query][1][:TERMS_SHOWN])
    ]
    tables = {"most_gendered": pl.DataFrame(rows, schema=TERMS, orient="row")}
    if example:
        tables["example"] = _example(scored, *example)
    return PartialResult(tables=tables)


def _example(scored: ScoredRuns, query: str, words: Sequence[str], stop: frozenset[str]) -> pl.DataFrame:
    """Return the words of a query and document, each with score and state."""
    terms = scored.history.queries[query]
    reach = set().union(*map(wordnet.load().inflected, terms))
    rows = [("query", word, scored.first.scores.get(word), "counted") for word in terms]
    for word in words[:WORDS]:
        state = "stop word" if word in stop else "in the query" if word in reach else "counted"
        rows.append(("document", word, scored.first.scores.get(word) if state == "counted" else None, state))
    schema = {"part": pl.String, "word": pl.String, "score": pl.Float64, "state": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(query=pl.lit(query))
