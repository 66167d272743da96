"""Every technique on every system: rows with harm, technique and stages, mapped onto the Results columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.cases import judged_rows, to_reviews
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import ROWS, UPPER
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS, Stages, check_stages
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
    tables: Mapping[str, pl.DataFrame]
    missing: Mapping[str, str]  # technique -> why it could not be measured


def measure_system(
    stages: Stages,
    system: str,
    options: Options,
    names: Sequence[str] = (),
    reviews: pl.DataFrame | None = None,
) -> SystemResult:
    """Run the techniques (all by default) on one system's stages."""
    stages = check_stages(stages)
    rows: list[Mapping[str, Any]] = []
    cases: list[pl.DataFrame] = []
    tables: dict[str, pl.DataFrame] = {}
    missing: dict[str, str] = {}
    for key in names or TECHNIQUES:
        outcome = TECHNIQUES[key].measure(stages, options)
        rows += outcome.rows
        cases.append(outcome.cases)
        tables |= {f"{key}: {name}": table for name, table in outcome.tables.items()}
        if outcome.missing:
            missing[key] = outcome.missing
    rows += judged_rows(rows, reviews, system)
    hidden = () if options.show_demeaning else WITHHELD
    to_judge = to_reviews(pl.concat(cases), stages, system, options.seed, hidden=hidden)
    frame = pl.DataFrame([{name: r.get(name) for name in ROWS} for r in rows], schema=ROWS)
    # What is said at other stages is not the system's doing and is told once, under the stage's name.
    whose = pl.when(pl.col("stage") == SYSTEM_CAPTIONS).then(pl.lit(system)).otherwise(pl.col("stage"))
    return SystemResult(system, frame.with_columns(whose.alias("system")), to_judge, tables, missing)


def all_rows(found: Iterable[SystemResult]) -> pl.DataFrame:
    """Return the rows of all systems, those of other stages once."""
    tables = [one.rows for one in found]
    if not tables:
        return pl.DataFrame(schema={**ROWS, "system": pl.String})
    key = ["system", "harm", "technique", "quantity", "stage", "truth", "axis", "group", "contrast", "bound"]
    return pl.concat(tables).unique(key, keep="first", maintain_order=True)


def as_results(rows: pl.DataFrame) -> pl.DataFrame:
    """Map the rows onto the Results columns; stage, ground truth and kind of bound open the note."""
    return results(_result(r) for r in rows.iter_rows(named=True))


def measure_name(harm: str, technique: str, quantity: str, stage: str = SYSTEM_CAPTIONS) -> str:
    """Return the name of a measure in the Results table."""
    return f"{harm}: {technique}: {quantity}, {stage}"


def _result(r: Mapping[str, Any]) -> dict[str, Any]:
    group = r["group"] if not r["axis"] or r["group"] == "all" else f"{r['axis']}: {r['group'] or 'compared'}"
    bound = f"{r['bound']}; " if r["bound"] == UPPER or "bound" in r["bound"] else ""
    truth = f" against {r['truth']}" if r["truth"] else ""
    return {
        "audit": "captions",
        "system": r["system"],
        "measure": measure_name(r["harm"], r["technique"], r["quantity"], r["stage"]),
        "group": group,
        "contrast": r["contrast"],
        **{name: r[name] for name in ("value", "low", "high", "p", "n", "n_missing", "unit")},
        "note": f"{r['stage']}{truth}; {bound}{r['note']}",
    }
