"""Every technique on every system: rows with harm, technique and stages, as a Results table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from portrayal.audits.captions.measures.outcome import FACETS, ROWS, Compared, Row, Technique
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS, Stages, check_stages
from portrayal.audits.captions.measures.shares import ShareTechnique
from portrayal.errors import PortrayalError
from portrayal.folds import Mapper, run_folds
from portrayal.stats.decisions.paired import paired_difference
from portrayal.tables import results
from portrayal.text.words.harm_lists import read_list

# In the order they are reported.
TECHNIQUES: dict[str, Technique] = {
    technique.key: technique
    for technique in (
        stereotyping_words.TECHNIQUE,
        stereotyping_objects.TECHNIQUE,
        stereotyping_tuples.TECHNIQUE,
        stereotyping_tuples.ACROSS,
        stereotyping_leakage.TECHNIQUE,
        demeaning_words.TECHNIQUE,
        demeaning_people.TECHNIQUE,
        demeaning_rules.TECHNIQUE,
        demeaning_nouns.TECHNIQUE,
        erasing.TECHNIQUE,
        self_identification.TECHNIQUE,
        reifying_looks.TECHNIQUE,
        reifying_markedness.TECHNIQUE,
        group_words.TECHNIQUE,
    )
}
# Those that can be measured part by part.
SUMS = {key: one for key, one in TECHNIQUES.items() if isinstance(one, ShareTechnique) and one.in_parts}
# Masked in the cases to read, caption included, unless the study asks to see them.
WITHHELD = (demeaning_words.TECHNIQUE.key,)
PAIRED_TEST = "systems_difference"
PAIRED_NOTE = "the same images under both; signs of the images' differences flipped, which is McNemar's exact test with one caption each"
_KEY = ["measure", "group", "versus", *FACETS]


@dataclass(frozen=True)
class SystemResult:
    """All that the techniques give for one system."""

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
    outcomes = {key: TECHNIQUES[key].measure(stages, options) for key in names or TECHNIQUES}
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    rows += judged_rows(rows, reviews, system)
    tables: dict[str, list[pl.DataFrame]] = {}
    for outcome in outcomes.values():
        for name, parts in outcome.tables.items():
            tables.setdefault(name, []).extend(parts)
    hidden = () if options.show_demeaning else WITHHELD
    cases = pl.concat([outcome.cases for outcome in outcomes.values()])
    # What is said at other stages is not the system's doing and stands once, under the stage's name.
    own = pl.col("stage").is_in([SYSTEM_CAPTIONS, HUMAN_SAME])
    whose = pl.when(own).then(pl.lit(system)).otherwise(pl.col("stage"))
    return SystemResult(
        system,
        _table(rows, ROWS).with_columns(whose.alias("system")),
        to_reviews(cases, stages, system, options.seed, hidden=hidden),
        tables,
        {key: outcome.missing for key, outcome in outcomes.items() if outcome.missing},
        [one for outcome in outcomes.values() for one in outcome.compared],
    )


def measure_parts(
    parts: Callable[[], Iterable[Stages]], options: Options, names: Sequence[str] = (), mapper: Mapper = map
) -> pl.DataFrame:
    """Return the rows of the techniques that are sums (all of `SUMS` by default), over all parts of the images.

    A part may lack a stage that others have: its `present` are the stages of all parts. Notes (how diverse captions are) are
    left out, and so are tests that permute images over groups.
    """
    for key in names:
        if key not in SUMS:
            raise PortrayalError(f"{key!r} is no sum over images. Known: {', '.join(SUMS)}.")
    techniques = [SUMS[key] for key in names or SUMS]
    facts = {fact: fact(options) for one in techniques for fact in one.after}
    found = run_folds([*facts.values(), *(one.fold(options) for one in techniques)], parts, mapper)
    rows = [row for one in techniques for row in found[one.key]]
    return _table(sorted(rows, key=lambda row: row.get("versus") is not None), ROWS)


def _table(rows: Iterable[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def all_rows(found: Sequence[SystemResult], stages: Stages, seed: int) -> pl.DataFrame:
    """Return the rows of all systems, those of other stages once, and those of each pair of systems."""
    schema = {**ROWS, "system": pl.String}
    pairs = _table(paired_rows({one.system: one.compared for one in found}, stages, seed), schema)
    table = pl.concat([pl.DataFrame(schema=schema), *(one.rows for one in found), pairs])
    return table.unique(["system", *_KEY], keep="first", maintain_order=True)


def paired_rows(values: Mapping[str, Sequence[Compared]], stages: Stages, seed: int) -> Iterator[Row]:
    """Yield the rows of every pair of systems on the same images, for each quantity and group.

    These are outside the declared family unless a study names the measure in `[family] measures`: with many systems there are
    many pairs.
    """
    for first, second in combinations(sorted(values), 2):
        others = {(one.technique.key, one.quantity, one.axis): one for one in values[second]}
        for one in values[first]:
            other = others.get((one.technique.key, one.quantity, one.axis))
            if other is not None:
                yield from _of_quantity(one, other, stages, first, second, seed)


def _of_quantity(one: Compared, other: Compared, stages: Stages, first: str, second: str, seed: int) -> Iterator[Row]:
    both = sorted(one.values.keys() & other.values.keys())
    missing = len(one.values.keys() ^ other.values.keys())
    for axis, group, images in [(one.axis, "all", both), *_groups(stages, both, one.axis)]:
        mine, theirs = (np.array([side.values[image] for image in images]) for side in (one, other))
        about = {"axis": axis, "group": group, "against": second, "n_missing": missing if group == "all" else None}
        about |= {"unit": "points", "share_of": "captions", "note": PAIRED_NOTE, "bound": one.bound, "family": None}
        found = paired_difference(mine, theirs, seed)
        row = one.technique.row(one.quantity, SYSTEM_CAPTIONS, one.truth, found, PAIRED_TEST, **about)
        yield {**row, "system": first}


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
    """Return the rows of a technique with the word list that ships and with the file, and the difference."""
    shipped = options or Options()
    changed = replace(shipped, lists={**shipped.lists, name: read_list(name, path)})
    before, after = (
        _table(TECHNIQUES[technique].measure(stages, chosen).rows, ROWS).select(*_KEY, "value", "low", "high", "n")
        for chosen in (shipped, changed)
    )
    joined = before.join(after, on=_KEY, how="full", coalesce=True, suffix="_changed", nulls_equal=True)
    return joined.with_columns((pl.col("value_changed") - pl.col("value")).alias("change"))
