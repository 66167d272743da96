"""All techniques on all systems: rows with harm, technique and stages, as a Results table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures import (
    demeaning_nouns,
    demeaning_people,
    demeaning_rules,
    demeaning_words,
    erasing,
    group_words,
    reifying_looks,
    reifying_markedness,
    self_identification,
    stereotyping_leakage,
    stereotyping_objects,
    stereotyping_tuples,
    stereotyping_words,
)
from portrayal.audits.captions.measures.cases import judged_rows, to_reviews
from portrayal.audits.captions.measures.standing_null import NOTE
from portrayal.audits.captions.measures.technique import FACETS, ROWS, Row, Shares, Technique, joined
from portrayal.audits.captions.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS, Options, Stages, check_stages
from portrayal.stats.decisions.paired import paired_difference
from portrayal.tables import results
from portrayal.text.words.harm_lists import read_list

# In the order they are reported.
_ALL = (
    stereotyping_words.TECHNIQUE, stereotyping_objects.TECHNIQUE, stereotyping_tuples.TECHNIQUE, stereotyping_tuples.ACROSS,
    stereotyping_leakage.TECHNIQUE, demeaning_words.TECHNIQUE, demeaning_people.TECHNIQUE, demeaning_rules.TECHNIQUE,
    demeaning_nouns.TECHNIQUE, erasing.TECHNIQUE, self_identification.TECHNIQUE, reifying_looks.TECHNIQUE,
    reifying_markedness.TECHNIQUE, group_words.TECHNIQUE,
)  # fmt: skip
TECHNIQUES: dict[str, Technique] = {technique.key: technique for technique in _ALL}
# Masked in the cases to read, caption included, unless the study asks to see them.
WITHHELD = (demeaning_words.TECHNIQUE.key,)
PAIRED_TEST = "systems_difference"
PAIRED_NOTE = "the same images under both; signs of the images' differences flipped, which is McNemar's exact test with one caption each"
_KEY = ["measure", "group", "versus", *FACETS]


@dataclass(frozen=True)
class SystemResult:
    """Results of the techniques for one system."""

    system: str
    rows: pl.DataFrame  # columns of ROWS, and whose captions they speak of
    reviews: pl.DataFrame
    tables: Mapping[str, list[pl.DataFrame]]
    missing: Mapping[str, str]  # technique -> why it could not be measured
    compared: Mapping[tuple[str, str, str | None], Shares]  # by technique, quantity and axis


def measure_system(
    stages: Stages, system: str, options: Options, names: Sequence[str] = (), reviews: pl.DataFrame | None = None
) -> SystemResult:
    """Run the techniques (all by default) on one system's stages."""
    stages = check_stages(stages)
    outcomes = {key: TECHNIQUES[key].measure(stages, options) for key in names or TECHNIQUES}
    rows = [dict(row) for outcome in outcomes.values() for row in outcome.rows]
    rows += judged_rows(rows, reviews, system)
    hidden = () if options.show_demeaning else WITHHELD
    cases = pl.concat([outcome.cases for outcome in outcomes.values()])
    # What is said at other stages is not the system's doing and stands once, under the stage's name.
    own = pl.col("stage").is_in([SYSTEM_CAPTIONS, HUMAN_SAME])
    whose = pl.when(own).then(pl.lit(system)).otherwise(pl.col("stage"))
    every = [(key, shares) for key, outcome in outcomes.items() for shares in outcome.compared]
    return SystemResult(
        system,
        as_table(rows, ROWS).with_columns(whose.alias("system")),
        to_reviews(cases, stages, system, options.seed, hidden=hidden),
        joined(outcome.tables for outcome in outcomes.values()),
        {key: outcome.missing for key, outcome in outcomes.items() if outcome.missing},
        {(key, shares.quantity, shares.axes[0] if shares.axes else None): shares for key, shares in every},
    )


def as_table(rows: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a table; columns that a row lacks are null in it."""
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def all_rows(
    measured: Sequence[SystemResult], stages: Stages, seed: int, null: SystemResult | None = None
) -> pl.DataFrame:
    """Return the rows of systems, pairs and people; rows of other stages once."""
    schema = {**ROWS, "system": pl.String}
    ordered = sorted(measured, key=lambda one: one.system)
    pairs = [row for first, second in combinations(ordered, 2) for row in paired_rows(first, second, stages, seed)]
    own = [one.rows for one in measured]
    if null is not None:
        named = {"stage": pl.lit(null.system), "system": pl.lit(null.system), "note": pl.lit(NOTE.format(seed))}
        own.append(null.rows.filter(pl.col("stage") == SYSTEM_CAPTIONS).with_columns(**named))
    table = pl.concat([pl.DataFrame(schema=schema), *own, as_table(pairs, schema)])
    return table.unique(["system", *_KEY], keep="first", maintain_order=True)


def paired_rows(first: SystemResult, second: SystemResult, stages: Stages, seed: int) -> Iterator[Row]:
    """Yield the rows of two systems on the same images; outside the family by default."""
    for key in filter(second.compared.__contains__, first.compared):
        one, other = first.compared[key], second.compared[key]
        both = sorted(one.values.keys() & other.values.keys())
        missing = len(one.values.keys() ^ other.values.keys())
        for axis, group, images in [(key[2], "all", both), *_groups(stages, both, key[2])]:
            mine, theirs = (np.array([side.values[image] for image in images]) for side in (one, other))
            about: Row = {"axis": axis, "group": group, "against": second.system, "unit": "points", "note": PAIRED_NOTE}
            about |= {"n_missing": missing if group == "all" else None, "share_of": "captions", "bound": one.compares}
            gap = paired_difference(mine, theirs, seed)
            row = TECHNIQUES[key[0]].row(one.quantity, SYSTEM_CAPTIONS, one.truth, gap, PAIRED_TEST, **about)
            yield {**row, "system": first.system}


def _groups(stages: Stages, images: Sequence[str], only: str | None) -> Iterator[tuple[str, str, list[str]]]:
    for axis in [only] if only else stages.axes():
        groups = stages.groups(axis)
        for group in sorted({groups[image] for image in images if image in groups}):
            yield axis, group, [image for image in images if groups.get(image) == group]


def as_results(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the Results table; what the rows are about stands in columns of their own."""
    return results(rows.iter_rows(named=True), facets=FACETS, audit="captions")


def compare_lists(
    stages: Stages, technique: str, name: str, path: Path, options: Options | None = None
) -> pl.DataFrame:
    """Return a technique's rows with the shipped word list, with a file's, and the difference."""
    shipped = options or Options()
    changed = replace(shipped, lists={**shipped.lists, name: read_list(name, path)})
    before, after = (
        as_table(TECHNIQUES[technique].measure(stages, chosen).rows, ROWS).select(*_KEY, "value", "low", "high", "n")
        for chosen in (shipped, changed)
    )
    joined = before.join(after, on=_KEY, how="full", coalesce=True, suffix="_changed", nulls_equal=True)
    return joined.with_columns((pl.col("value_changed") - pl.col("value")).alias("change"))
