"""GSR of every system, against the perfect one, and without queries that name a gender themselves (Tables 2, Figures 8, 9)."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from portrayal.audits.search.material import PERFECT, Material, Part, Ruler
from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.slope import SMALL, Slope
from portrayal.stats.estimate import Estimate

NEGATIONS = re.compile(r"\b(no|not|never|without|neither|nor|cannot)\b|n't\b", re.IGNORECASE)


def reinforcement(material: Material) -> Part:
    """Return rows of GSR, its difference and ratio to the perfect system, and the table of scored queries."""
    rows, fits = [], []
    for ruler in material.rulers.values():
        for system, table in material.tables[ruler.name].items():
            if system == PERFECT and not material.judged:
                continue
            slope = gsr(table, material.seed)
            rows.append(slope.row("gsr", system=system, group=ruler.name, note=_notes(slope, table)))
            fits.append((ruler.name, system, slope.value, slope.intercept))
        for system in material.systems:
            rows += _against(material, ruler, system) + _without_gendered(material, ruler, system)
    schema = {"vectors": pl.String, "system": pl.String, "slope": pl.Float64, "intercept": pl.Float64}
    tables = {"queries": _queries(material), "fits": pl.DataFrame(fits, schema=schema, orient="row")}
    return Part(rows, tables, _warnings(material))


def gendered_queries(material: Material) -> set[str]:
    """Return the queries that name people of a group themselves, such as 'women in parliaments'."""
    named = set().union(*material.mentions.values()) if material.mentions else set()
    return {query for query, words in material.history.queries.items() if named & set(words)}


def _against(material: Material, ruler: Ruler, system: str) -> list[dict[str, Any]]:
    """Return difference and ratio to the perfect system, where there are judgments."""
    if not material.judged:
        return []
    tables = material.tables[ruler.name]
    found = relative_gsr(tables[system], tables[PERFECT], material.seed)
    about = {"system": system, "group": ruler.name}
    ratio = Estimate(
        found.ratio, found.low, found.high, n=found.difference.n, n_missing=found.difference.n_missing
    )
    return [
        found.difference.row("gsr_difference", contrast=f"less {PERFECT}", **about),
        ratio.row(
            "gsr_ratio", contrast=f"over {PERFECT}", unit="ratio of slopes, queries", note=found.note, **about
        ),
    ]


def _without_gendered(material: Material, ruler: Ruler, system: str) -> list[dict[str, Any]]:
    """Return GSR over the queries that name no group, when some do."""
    named = gendered_queries(material)
    table = material.tables[ruler.name][system].filter(~pl.col("query").is_in(list(named)))
    if not named or table.height < 3:
        return []
    slope = gsr(table, material.seed, shuffles=999)
    note = f"without {len(named)} queries that name a group themselves"
    return [slope.row("gsr_without_gendered_queries", system=system, group=ruler.name, note=note)]


def _notes(slope: Slope, table: pl.DataFrame) -> str:
    """Add to the slope's note how many documents could not be scored."""
    unscored = int(table["unscored"].sum())
    documents = f"{unscored} listed documents have no scored word and are left out" if unscored else ""
    return "; ".join(part for part in (slope.note, documents) if part)


def _queries(material: Material) -> pl.DataFrame:
    """Return one row per vectors, system and query."""
    parts = [
        table.with_columns(pl.lit(ruler).alias("vectors"), pl.lit(system).alias("system"))
        for ruler, tables in material.tables.items()
        for system, table in tables.items()
    ]
    texts = pl.col("query").replace_strict(dict(material.texts), default="", return_dtype=pl.String)
    return pl.concat(parts).with_columns(texts.alias("text"))


def _warnings(material: Material) -> list[str]:
    """Say what makes these numbers weak: few queries, queries that name a gender, negation."""
    count, named = len(material.history.queries), gendered_queries(material)
    negated = sum(bool(NEGATIONS.search(text)) for text in material.texts.values())
    said = []
    if count < SMALL:
        said.append(
            f"Only {count} queries: word scores are noisy, so GSR on a small collection needs a "
            "person's reading of the queries."
        )
    if named:
        example = " ".join(material.texts[min(named)].split()[:8])
        said.append(
            f"{len(named)} of {count} queries name a group themselves (such as {example!r}). There a low GSR may go "
            "against what the user asked for; the rows gsr_without_gendered_queries leave them out."
        )
    if negated:
        said.append(f"{negated} of {count} queries hold a negation, which a mean of word scores cannot see.")
    if not material.judged:
        said.append(
            "No relevance judgments: there is no perfect system to compare with, so a positive GSR "
            "may be plain relevance."
        )
    return said
