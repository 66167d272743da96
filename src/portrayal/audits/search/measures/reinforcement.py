"""GSR of every system and against the perfect one (Table 2, Figures 8, 9) [1]_.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), sections 3.5 and 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import compress
from typing import Any

import polars as pl

from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.scored_runs import PERFECT, PartialResult, Ruler, ScoredQueries, ScoredRuns
from portrayal.audits.search.measures.slope import SMALL, UNIT, Slope
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.text.formatting import plural

NEGATIONS = re.compile(r"\b(no|not|never|without|neither|nor|cannot)\b|n't\b", re.IGNORECASE)


def reinforcement(scored: ScoredRuns) -> PartialResult:
    """Return rows of GSR and against the perfect system, and scored queries."""
    measured = list(slope_rows(scored))
    fits = [(row["ruler"], row["system"], slope.value, slope.intercept) for row, slope in measured if slope]
    schema = {"ruler": pl.String, "system": pl.String, "slope": pl.Float64, "intercept": pl.Float64}
    tables = {"queries": _queries(scored), "fits": pl.DataFrame(fits, schema=schema, orient="row")}
    return PartialResult([row for row, _ in measured], tables, _warnings(scored), _remarks(scored))


def slope_rows(scored: ScoredQueries) -> Iterator[tuple[dict[str, Any], Slope | None]]:
    """Yield the rows, each system's own GSR with its slope."""
    for ruler in scored.rulers.values():
        for system, table in scored.tables[ruler.name].items():
            if system == PERFECT and not scored.judged:
                continue
            slope = gsr(table, scored.seed)
            yield _gsr_row(scored, ruler, system, slope, table), slope
        for system in scored.systems:
            for row in (*_against(scored, ruler, system), *_without_gendered(scored, ruler, system)):
                yield row, None
        for system, reason in scored.unusable.items():
            yield _unusable(scored, ruler, system, reason), None


def _gsr_row(scored: ScoredQueries, ruler: Ruler, system: str, slope: Slope, table: pl.DataFrame) -> dict[str, Any]:
    """Return a system's own slope, tested only without a perfect system."""
    note = _joined(_notes(slope, table), scored.notes.get(system, ""))
    row = slope.row("gsr", system=system, ruler=ruler.name, note=note)
    tested = system in scored.systems and not scored.judged
    return row if tested else {**row, "family": EXPLORATORY}


def _unusable(scored: ScoredQueries, ruler: Ruler, system: str, reason: str) -> dict[str, Any]:
    """Return the row of a system whose lists are no rankings."""
    said = Estimate(n=0, n_missing=len(scored.queries), decision=NOT_MEASURABLE, reason=reason)
    about = {"versus": PERFECT} if scored.judged else {}
    measure = "gsr_difference" if scored.judged else "gsr"
    return said.row(measure, system=system, ruler=ruler.name, counted="queries", unit=UNIT, **about)


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
    ]


def _without_gendered(scored: ScoredQueries, ruler: Ruler, system: str) -> list[dict[str, Any]]:
    """Return GSR over the queries that name no group, when some do."""
    named = int(scored.queries.gendered.sum())
    if not named or len(scored.queries) - named < 3:
        return []
    slope = gsr(scored.tables[ruler.name][system].filter(~scored.queries.gendered), scored.seed)
    note = f"without {plural(named, 'query', 'queries')} that name a group themselves"
    return [slope.row("gsr_without_gendered_queries", system=system, ruler=ruler.name, note=note)]


def _notes(slope: Slope, table: pl.DataFrame) -> str:
    """Add to the slope's note how many documents could not be scored."""
    unscored = int(table["unscored"].sum())
    documents = f"{unscored} listed documents have no scored word and are left out" if unscored else ""
    return _joined(slope.note, documents)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _queries(scored: ScoredRuns) -> pl.DataFrame:
    """Return one row per ruler, system and query."""
    parts = [
        table.with_columns(pl.lit(ruler).alias("ruler"), pl.lit(system).alias("system"))
        for ruler, tables in scored.tables.items()
        for system, table in tables.items()
    ]
    texts = pl.col("query").replace_strict(dict(scored.texts), default="", return_dtype=pl.String)
    return pl.concat(parts).with_columns(texts.alias("text"))


def _warnings(scored: ScoredRuns) -> list[str]:
    """Say what these numbers cannot bear: too few queries, nothing to compare with."""
    count, said = len(scored.history.queries), []
    if count < SMALL:
        said.append(
            f"Only {count} queries: word scores are noisy, so GSR on a small collection needs a "
            "person's reading of the queries."
        )
    if not scored.judged:
        said.append(
            "No relevance judgments: there is no perfect system to compare with, so a positive GSR "
            "may be plain relevance."
        )
    return said


def _remarks(scored: ScoredRuns) -> list[str]:
    """Say which queries name a group themselves, or hold a negation."""
    count, said = len(scored.history.queries), []
    named = list(compress(scored.history.queries, scored.queries.gendered))
    negated = sum(bool(NEGATIONS.search(text)) for text in scored.texts.values())
    if named:
        example = " ".join(scored.texts[min(named)].split()[:8])
        said.append(
            f"{len(named)} of {count} queries {'names' if len(named) == 1 else 'name'} a group (such as {example!r}). There a"
            " low GSR may go against what the user asked for; the rows 'GSR without the queries that name a group' leave"
            f" {'it' if len(named) == 1 else 'them'} out."
        )
    if negated:
        hold = "holds" if negated == 1 else "hold"
        said.append(f"{negated} of {count} queries {hold} a negation, which a mean of word scores cannot see.")
    return said
