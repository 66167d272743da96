"""Measures that moved between two waves of a study, beyond noise.

A change has one population: what all waves answered (portrayal.waves.waves). Rows for which the audit hands over a value for each
person are paired by person; others are compared by two intervals, as if different people had been asked (Zou, Donner 2008,
Statistics in Medicine 27, 1693-1702), with the tails of t over the units, because in the tails the intervals of few people are too narrow.
The declared family and the levels that are described beside it share 5%, so that of 100 unchanged systems 5 show a change.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.run.measurement import as_answered, families_of, with_tested
from portrayal.run.silence import ANSWERED, DIFFERENCE, TESTS, UNANSWERED, measure_silence, questions
from portrayal.stats import scipy
from portrayal.stats.decisions import decision as rule
from portrayal.stats.decisions.decision import EXPLORATORY, FOUND, NOT_MEASURABLE, decide
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.decisions.paired import paired_difference
from portrayal.stats.intervals.intervals import t_quantile
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.tables import check_results, facets
from portrayal.waves.answers import PARTS, paired_answers
from portrayal.waves.waves import QUESTION, Wave

APART = "two intervals, as if the waves had nothing in common"
ONE_OF = {"people": "person", "queries": "query"}  # the others only lose their s
NO_SPREAD = "neither wave has an interval of any width"
DECLARED = 0.8  # of the level is the declared family's, the rest that of levels
STOPPED, DISTANCE = "stopped_answering", "distance_between_answers"
CHANGE_OF = {"share": "points", "points": "change of points"}  # units of a change
SILENCE = (ANSWERED, UNANSWERED, *TESTS)
WAVES = ("from", "to", "first", "second", "compared")
KEYS = ("system", "measure", "group", "versus")
GAPS = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}

Row = dict[str, Any]


def moved(waves: Sequence[Wave]) -> pl.DataFrame:
    """Return decided changes: every later wave less the first; levels are exploratory."""
    first, study, people = waves[0], waves[0].study, list[Row]()
    declared, levels = list[Row](), list[Row]()
    for later in waves[1:]:
        about = {"from": first.name, "to": later.name}
        declared += [{**row, **about} for row in _unmeasured(first, later)]
        for row, gaps in _changes(first, later):
            if row.pop("declared"):
                people += gaps.with_columns(row=pl.lit(len(declared), pl.Int64)).to_dicts()
                declared.append({**row, **about})
            else:
                levels.append({**row, **about})
        declared += [{**row, **about} for row in [*_answered(first, later), *_stopped(first, later)]]
        levels += [{**row, **about} for row in _of_answers(first, later)]
    tested = _decided(study, declared, study.family.method, DECLARED, pl.DataFrame(people, GAPS))
    described = _decided(study, levels, "benjamini-hochberg", 1 - DECLARED).with_columns(family=pl.lit(EXPLORATORY))
    return check_results(pl.concat([tested, described], how="diagonal_relaxed"))


def _decided(study: Study, rows: Sequence[Row], method: str, share: float, people: Any = None) -> pl.DataFrame:
    """Decide changes with a part of the level."""
    text = dict.fromkeys((*WAVES[:2], "compared", *KEYS, "audit", "unit"), pl.String)
    schema = {
        **text,
        **dict.fromkeys(("value", "low", "high", "first", "second", "p", "p_floor"), pl.Float64),
        "n": pl.Int64,
    }
    filled = [{**dict.fromkeys(schema), **row} for row in rows]
    table = check_results(
        pl.DataFrame(filled or None, None if filled else schema, schema_overrides=schema, infer_schema_length=None)
    )
    families = families_of(study, table, table["system"].unique())
    decided = decide(table, sorted(set(table["measure"])), method, people, None, study.seed, families)
    p = (pl.col("p_adjusted") / share).clip(upper_bound=1.0)
    lost = (pl.col("decision") == FOUND) & (p >= LEVEL)
    return decided.with_columns(p_adjusted=p, decision=pl.when(lost).then(pl.lit(rule.NOT_FOUND)).otherwise("decision"))


def _changes(first: Wave, later: Wave) -> Iterator[tuple[Row, pl.DataFrame]]:
    """Yield the undecided changes between two waves, each with its people's."""
    (one, other), unit, nobody = map(_differences, (first, later)), _unit(first), pl.DataFrame(schema=GAPS)
    for row in _joined(first, later).iter_rows(named=True):
        yield _change(row, one.get((row["row"],), nobody), other.get((row["row_later"],), nobody), unit)


def _joined(first: Wave, later: Wave) -> pl.DataFrame:
    """Return rows with an interval in both waves; `declared` are the family's."""
    one, other = (wave.measured.results.with_row_index("row") for wave in (first, later))
    # A facet says what a row is about where it is text in both waves.
    text = (name for name in facets(one) if name in other.columns and one[name].dtype == pl.String == other[name].dtype)
    about = [*KEYS, *text]
    family = _family(first)
    wanted = ~pl.col("measure").is_in(SILENCE) & (pl.col("decision").fill_null("") != NOT_MEASURABLE)
    wanted &= pl.all_horizontal(pl.col("value", "low", "high").is_not_null())
    declared = pl.col("measure").is_in(family) & (pl.col("family").fill_null("") != EXPLORATORY)
    ends = ["row", "value", "low", "high", "n"]
    one = one.filter(wanted).select("audit", *about, *ends, "unit", "counted", declared=declared)
    other = other.filter(wanted).select(*about, *ends)
    one, other = (side.unique(about, keep="none", maintain_order=True) for side in (one, other))
    return one.join(other, on=about, suffix="_later", nulls_equal=True, maintain_order="left")


def _family(wave: Wave) -> list[str]:
    stem = get_audit(wave.study.audit)
    return with_tested(wave.study.family.measures or stem.family, stem.tested_as)


def _unmeasured(first: Wave, later: Wave) -> list[Row]:
    """Return the declared family's rows that one of two waves could not measure."""
    family = _family(first)
    rows: dict[tuple[Any, ...], Row] = {}
    for wave in (first, later):
        broken = pl.col("measure").is_in(family) & (pl.col("decision") == NOT_MEASURABLE)
        about = ["audit", *KEYS, *facets(wave.measured.results), "reason", "decision"]
        for row in wave.measured.results.filter(broken).select(about).iter_rows(named=True):
            rows.setdefault(tuple(row.values()), {**row, "reason": f"{wave.name}: {row['reason']}"})
    return list(rows.values())


def _differences(wave: Wave) -> dict[Any, pl.DataFrame]:
    """Return the mean difference of each unit, by row."""
    table = pl.DataFrame(schema=GAPS) if wave.measured.differences is None else wave.measured.differences
    means = table.select(pl.col(name).cast(kind) for name, kind in GAPS.items()).group_by("row", "unit").mean()
    return dict(iter(means.sort("unit").group_by("row", maintain_order=True)))


def _change(row: Row, one: pl.DataFrame, other: pl.DataFrame, unit: str) -> tuple[Row, pl.DataFrame]:
    """Return one row of changes, and the changes of people by whom it is paired."""
    own = {name: row[name] for name in row if not name.endswith("_later") and name != "row"}
    own |= {"unit": CHANGE_OF.get(row["unit"], row["unit"]), "compared": f"paired by {unit}"}
    ends = {"first": row["value"], "second": row["value_later"], "value": row["value_later"] - row["value"]}
    apart = {**own, **ends, "compared": APART}
    if one.is_empty() or other.is_empty():
        return {**apart, **_compared(row, min(row["n"] or 0, row["n_later"] or 0))}, one.clear()
    both = one.join(other, on="unit", suffix="_later", maintain_order="left")
    before, after = (both[name].to_numpy() for name in ("difference", "difference_later"))
    gaps = both.select("unit", difference=pl.col("difference_later") - pl.col("difference"))
    means = np.array([one["difference"].mean(), other["difference"].mean()], float)
    if len(gaps) > 1 and np.allclose([row["value"], row["value_later"]], means, rtol=1e-9, atol=1e-12):
        change = paired_difference(after, before).columns() | {name: own[name] for name in ("unit", "counted")}
        return {**own, **change, "first": before.mean(), "second": after.mean()}, gaps
    if len(gaps) > 1 and len(gaps) == len(one) == len(other):
        spread = np.hypot(before.std(), after.std())  # of two unrelated waves
        return {
            **own,
            **ends,
            **_compared(row, len(gaps), (after - before).std() / spread if spread > 0 else 1.0),
        }, gaps
    return {**apart, **_compared(row, min(row["n"] or 0, row["n_later"] or 0))}, gaps.clear()


def _compared(row: Mapping[str, Any], units: int, narrowing: float = 1.0) -> Row:
    """Return a change's interval from the waves' two, and its p."""
    below, above = row["value"] - row["low"], row["high"] - row["value"]
    below_later, above_later = row["value_later"] - row["low_later"], row["high_later"] - row["value_later"]
    change = row["value_later"] - row["value"]
    lower = narrowing * np.hypot(max(below_later, 0), max(above, 0))
    upper = narrowing * np.hypot(max(above_later, 0), max(below, 0))
    half = float(lower if change > 0 else upper)  # the side on which no change lies
    if half <= 0:
        return {"low": None, "high": None, "p": None, "n": units, "reason": NO_SPREAD if change else None}
    freedom = max(units - 1, 1)
    p = float(2 * scipy.special.stdtr(freedom, -abs(change) / half * t_quantile(freedom)))
    return {"low": float(change - lower), "high": float(change + upper), "p": p, "n": units}


def _by_question(first: Wave, both: pl.DataFrame, column: str, measure: str, unit: str) -> Iterator[Row]:
    """Yield each system's change of what single questions have, tested over units."""
    change = pl.col(f"{column}_later") - pl.col(column)
    joined = both.with_columns(change=change).join(first.units, on="stimulus", how="left")
    for (system,), mine in joined.group_by("system", maintain_order=True):
        sums = mine.group_by(unit=pl.coalesce("unit", "stimulus")).agg(pl.col("change").sum()).sort("unit")
        gaps = sums["change"].to_numpy() * len(sums) / mine.height  # their mean is the questions'
        ends = {"first": mine[column].mean(), "second": mine[f"{column}_later"].mean()}
        about = {"audit": first.study.audit, "system": system, "n": mine.height, "counted": "questions", "unit": unit}
        estimate = paired_difference(gaps, np.zeros(len(gaps)), first.study.seed)
        yield estimate.row(measure, **about, **ends, compared=f"paired by {_unit(first)}")


def _answered(first: Wave, later: Wave) -> Iterator[Row]:
    """Yield the change in the share of questions each system answered."""
    stem, answered = get_audit(first.study.audit), (pl.col("status") == ANSWERED).cast(pl.Float64)
    posed = [questions(as_answered(stem, wave.responses)).filter("asked") for wave in (first, later)]
    one, other = (side.select(*QUESTION, answered=answered) for side in posed)
    both = one.join(other, on=QUESTION, suffix="_later", maintain_order="left")
    yield from _by_question(first, both, "answered", ANSWERED, "points")


def _stopped(first: Wave, later: Wave) -> list[Row]:
    """Return whether a system stopped answering about some groups more than about others."""
    stem, study = get_audit(first.study.audit), first.study
    one, other = (as_answered(stem, wave.responses) for wave in (first, later))
    before = other.join(questions(one).filter("said"), on=QUESTION, how="semi", maintain_order="left")
    groups = (stem.silence_groups or stem.groups)(first.evidence, study.settings)
    silence = measure_silence(before, groups, stem.stem, stem.units, study.seed)
    rows = silence.filter(pl.col("measure") == DIFFERENCE).drop("status").iter_rows(named=True)
    return [{**row, "measure": STOPPED, "compared": f"of what {first.name} answered"} for row in rows]


def _of_answers(first: Wave, later: Wave) -> Iterator[Row]:
    """Yield levels of the answers themselves: lengths, and distances between waves."""
    answers, parts = paired_answers(first, later), PARTS.get(get_audit(first.study.audit).kind)
    if parts:
        yield from _by_question(first, answers.drop_nulls(["size", "size_later"]), "size", f"{parts} per answer", parts)
    apart = answers.select(*QUESTION, none=pl.lit(0.0), none_later="distance")
    for row in _by_question(first, apart, "none", DISTANCE, "share of their length"):
        yield {**row, "first": None, "second": None, "p": None, "decision": rule.NOT_TESTED, "reason": rule.DESCRIBED}


def _unit(wave: Wave) -> str:
    """Return what waves are paired by: person, query, image or question."""
    units = "questions" if wave.units.is_empty() else get_audit(wave.study.audit).units
    return ONE_OF.get(units, units.removesuffix("s"))
