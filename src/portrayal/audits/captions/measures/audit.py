"""Every technique on every system: rows with harm, technique and stages, as a Results table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.cases import judged_rows, to_reviews
from portrayal.audits.captions.measures.compared import Compared
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import FACETS, ROWS
from portrayal.audits.captions.measures.paired import paired_rows
from portrayal.audits.captions.measures.stages import HUMAN_SAME, SYSTEM_CAPTIONS, Stages, check_stages
from portrayal.audits.captions.measures.techniques import TECHNIQUES
from portrayal.tables import results

# Masked in the cases to read, caption included, unless the study asks to see them.
WITHHELD = ("demeaning: demeaning words",)


@dataclass(frozen=True)
class SystemResult:
    """What all techniques found for one system."""

    system: str
    rows: pl.DataFrame  # columns of ROWS, and whose captions they speak of
    reviews: pl.DataFrame
    tables: Mapping[str, list[pl.DataFrame]]
    missing: Mapping[str, str]  # technique -> why it could not be measured
    compared: Sequence[Compared] = ()


def measure_system(
    stages: Stages, system: str, options: Options, names: Sequence[str] = (), reviews: pl.DataFrame | None = None
) -> SystemResult:
    """Run the techniques (all by default) on one system's stages."""
    stages = check_stages(stages)
    rows: list[Mapping[str, Any]] = []
    cases: list[pl.DataFrame] = []
    tables: dict[str, list[pl.DataFrame]] = {}
    missing: dict[str, str] = {}
    compared: list[Compared] = []
    for key in names or TECHNIQUES:
        outcome = TECHNIQUES[key].measure(stages, options)
        rows += outcome.rows
        cases.append(outcome.cases)
        compared += outcome.compared
        for name, parts in outcome.tables.items():
            tables.setdefault(name, []).extend(parts)
        if outcome.missing:
            missing[key] = outcome.missing
    rows += judged_rows(rows, reviews, system)
    hidden = () if options.show_demeaning else WITHHELD
    to_judge = to_reviews(pl.concat(cases), stages, system, options.seed, hidden=hidden)
    frame = pl.DataFrame([{name: r.get(name) for name in ROWS} for r in rows], schema=ROWS)
    # What is said at other stages is not the system's doing and is told once, under the stage's name.
    own = pl.col("stage").is_in([SYSTEM_CAPTIONS, HUMAN_SAME])
    whose = pl.when(own).then(pl.lit(system)).otherwise(pl.col("stage"))
    return SystemResult(system, frame.with_columns(whose.alias("system")), to_judge, tables, missing, compared)


def all_rows(found: Sequence[SystemResult], stages: Stages, seed: int) -> pl.DataFrame:
    """Return the rows of all systems, those of other stages once, and those of each pair of systems."""
    pairs = list(paired_rows({one.system: one.compared for one in found}, stages, seed))
    tables = [one.rows for one in found]
    if pairs:
        tables.append(
            pl.DataFrame([{name: r.get(name) for name in tables[0].schema} for r in pairs], schema=tables[0].schema)
        )
    if not tables:
        return pl.DataFrame(schema={**ROWS, "system": pl.String})
    key = ["system", "measure", "group", "versus", *FACETS]
    return pl.concat(tables).unique(key, keep="first", maintain_order=True)


def as_results(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the Results table; what the rows are about stands in columns of their own."""
    return results(rows.iter_rows(named=True), facets=FACETS, audit="captions")
