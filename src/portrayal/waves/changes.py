"""Measures that moved between two waves of a study, beyond noise.

Waves are paired by person where a measure hands over differences, else compared by two intervals (Zou, Donner 2008, Statistics in Medicine
27, 1693-1702). In the tails the intervals of a few people are too narrow, and rows of the same people move together: what is found from
intervals must also pass a jackknife over blocks of people, its pseudo-values (Miller 1974, Biometrika 61, 1-15) flipped in sign jointly.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.run.silence import ANSWERED, questions
from portrayal.stats.decisions import decision
from portrayal.stats.decisions.decision import CONFIRMATORY, EXPLORATORY, FOUND, NOT_FOUND, decide
from portrayal.stats.decisions.multiplicity import LEVEL, adjust
from portrayal.stats.decisions.paired import paired_difference
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.registry import get_audit
from portrayal.tables import check_results, facets
from portrayal.waves.waves import Wave, units_of

BLOCKS = 20  # of people, at most: each costs a measurement of every wave


def jackknife(
    waves: Sequence[Wave], table: pl.DataFrame, about: Sequence[str], alone: pl.Expr, name_of_test: str
) -> pl.DataFrame:
    """Return decided changes in which those found from intervals must pass this test too."""
    mine = table.with_row_index("change").filter(alone, pl.col("family") == CONFIRMATORY)
    if FOUND not in mine["decision"]:
        return table
    adjusted = np.full(table.height, np.nan)
    adjusted[mine["change"]] = _adjusted(waves, table, mine, about)
    was_found = (pl.col("decision") == FOUND) & alone
    p = pl.max_horizontal("p_adjusted", pl.Series(adjusted).fill_nan(1.0))
    stands = pl.when(p < LEVEL).then(pl.lit(FOUND)).otherwise(pl.lit(NOT_FOUND))
    return table.with_columns(
        p_adjusted=pl.when(was_found).then(p).otherwise("p_adjusted"),
        decision=pl.when(was_found).then(stands).otherwise("decision"),
        compared=pl.when(was_found).then(pl.lit(name_of_test)).otherwise("compared"),
    )


def _adjusted(waves: Sequence[Wave], table: pl.DataFrame, mine: pl.DataFrame, about: Sequence[str]) -> np.ndarray:
    """Return the corrected p of each change, less the level that paired ones use."""
    tested = flip_jointly(_pseudo_values(waves, mine, about), waves[0].study.seed)
    method = waves[0].study.family.method
    adjusted = tested.adjusted if method in ("holm", "bonferroni") else adjust(tested.p, method)
    together = table.filter(pl.col("family") == CONFIRMATORY).height - mine.height
    left = 1 - decision.flipped_share(together, mine.height)
    return np.minimum(np.nan_to_num(adjusted, nan=1.0) / left, 1.0)


def _pseudo_values(waves: Sequence[Wave], mine: pl.DataFrame, about: Sequence[str]) -> np.ndarray:
    """Return pseudo-values of changes: blocks x changes, NaN where a row is not measured."""
    blocks, values = list(_blocks(waves[0])), mine["value"].to_numpy()
    rows = mine.select(*about, "from", "to").rows()
    without = []
    for block in blocks:
        by_wave = {wave.name: _values(wave, block, about) for wave in waves}
        without.append([by_wave[to].get(tuple(key), np.nan) - by_wave[start].get(tuple(key), np.nan)
                        for *key, start, to in rows])  # fmt: skip
    return len(blocks) * values - (len(blocks) - 1) * np.array(without)


def _values(wave: Wave, block: pl.DataFrame, about: Sequence[str]) -> dict[tuple[str | None, ...], float]:
    """Measure a wave without a block of stimuli: the value of each row."""
    evidence = replace(
        wave.evidence,
        stimuli=wave.evidence.stimuli.join(block, on="stimulus", how="anti"),
        responses=wave.evidence.responses.join(block, on="stimulus", how="anti"),
    )
    results = get_audit(wave.study.audit).measure(evidence, wave.study.settings).results
    absent = [pl.lit(None, pl.String).alias(name) for name in about if name not in results.columns]
    rows = results.with_columns(absent).drop_nulls("value").select(*about, "value").iter_rows()
    return {tuple(key): value for *key, value in rows}


def _blocks(wave: Wave) -> Iterator[pl.DataFrame]:
    """Yield the stimuli of each block of people, groups spread evenly."""
    groups = get_audit(wave.study.audit).groups(wave.evidence, wave.study.settings)
    pairs = units_of(wave)
    if pairs.is_empty():  # nobody is shown: each question stands for itself
        pairs = wave.evidence.stimuli.select("stimulus", unit="stimulus")
    sorted_units = groups.sort("axis", "group", "unit")["unit"].unique(maintain_order=True).to_list()
    units = list(dict.fromkeys([*sorted_units, *pairs["unit"].unique().sort()]))
    blocks = pl.DataFrame({"unit": units, "block": [place % BLOCKS for place in range(len(units))]})
    for (_,), block in pairs.join(blocks, on="unit").group_by("block", maintain_order=True):
        yield block.select("stimulus").unique()


Z = 1.959964  # of a 95% interval
APART = "two intervals, as if the waves had nothing in common"
ONE_OF = {"people": "person", "queries": "query"}  # the others only lose their s
NO_SPREAD = "neither wave has an interval of any width"
WAVES = ("from", "to", "first", "second", "compared")
KEYS = ("system", "measure", "group", "versus")


def moved(waves: Sequence[Wave]) -> pl.DataFrame:
    """Return a decided Results table of changes: every later wave less the first."""
    parts, differences, start = [], [], 0
    for later in waves[1:]:
        rows, changes = _changes(waves[0], later)
        parts.append(rows)
        differences.append(changes.with_columns(row=pl.col("row") + start))
        start += rows.height
    table = check_results(pl.concat(parts, how="diagonal_relaxed"))  # a column may be empty in one part
    study = waves[0].study
    measures = sorted(set(table["measure"]))
    decided = decide(table, measures, study.family.method, pl.concat(differences), None, study.seed)
    about = [name for name in (*KEYS, *facets(decided)) if name not in WAVES]
    pairing = f"two intervals, and {_counted(waves[0])} left out in turn"
    return jackknife(waves, decided, about, pl.col("compared") == APART, pairing)


def _changes(first: Wave, later: Wave) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the undecided changes between two waves, and those of each person by row."""
    both, pairing = _joined(first, later), paired_by(first)
    rows: list[dict[str, Any]] = []
    people: list[dict[str, Any]] = []
    for row in both.iter_rows(named=True):
        gaps = _gaps(first, later, row["row"], row["row_later"])
        paired = gaps.select("unit", pl.col("difference_later") - pl.col("difference")).iter_rows()
        people += [{"row": len(rows), "unit": unit, "difference": gap} for unit, gap in paired if gaps.height > 1]
        rows.append({**_change(row, gaps, pairing), "from": first.name, "to": later.name})
    rows += [{**row, "from": first.name, "to": later.name} for row in _answered(first, later)]
    own = [name for name in facets(both) if name != "row" and not name.endswith("_later")]
    text = dict.fromkeys(("from", "to", "compared", *own), pl.String)
    numbers = dict.fromkeys(("value", "low", "high", "first", "second", "p", "p_floor"), pl.Float64)
    table = pl.DataFrame(rows, schema_overrides={**text, **numbers}, infer_schema_length=None)
    table = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in numbers if name not in table.columns)
    return table, pl.DataFrame(people, {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64})


def _joined(first: Wave, later: Wave) -> pl.DataFrame:
    """Return the family's rows that both waves have an interval of, side by side."""
    one, other = (wave.measured.results.with_row_index("row") for wave in (first, later))
    # A facet says what a row is about where it is text in both waves.
    text = (name for name in facets(one) if name in other.columns and one[name].dtype == pl.String == other[name].dtype)
    about = [*KEYS, *text]
    family = first.study.family.measures or get_audit(first.study.audit).family
    wanted = pl.col("measure").is_in(list(family)) & (pl.col("family").fill_null("") != EXPLORATORY)
    wanted &= pl.all_horizontal(pl.col("value", "low", "high").is_not_null())
    wanted &= pl.col("decision").fill_null("") != decision.NOT_MEASURABLE
    wanted_columns = ["audit", *about, "row", "value", "low", "high", "unit", "n", "counted"]
    one = one.filter(wanted).select(wanted_columns).unique(about, keep="none", maintain_order=True)
    other = other.filter(wanted).select(*about, "row", "value", "low", "high").unique(about, keep="none")
    return one.join(other, on=about, suffix="_later", nulls_equal=True, maintain_order="left")


def _change(row: Mapping[str, Any], gaps: pl.DataFrame, pairing: str) -> dict[str, Any]:
    """Return one row of changes, its interval narrowed as far as people are paired."""
    from scipy import stats

    change, paired, narrowing = row["value_later"] - row["value"], gaps.height > 1, 1.0
    if paired:  # the spread of people's changes over that of two unrelated waves
        one, other = gaps["difference"].to_numpy(), gaps["difference_later"].to_numpy()
        apart = np.sqrt(one.var() + other.var())
        narrowing = float((other - one).std() / apart) if apart > 0 else 1.0
    low, high = _limits(row, narrowing)
    own = {name: row[name] for name in row if not name.endswith("_later") and name != "row"}
    own |= {"value": change, "first": row["value"], "second": row["value_later"]}
    own["compared"] = pairing if paired else APART
    half = change - low if change > 0 else high - change  # the side on which no change lies
    if half <= 0:
        return {**own, "low": None, "high": None, "p": None, "reason": NO_SPREAD if change else None}
    return {**own, "low": low, "high": high, "p": float(2 * stats.norm.sf(abs(change) * Z / half))}


def _limits(row: Mapping[str, Any], narrowing: float) -> tuple[float, float]:
    """Return a change's interval from the two waves' intervals."""
    below, above = row["value"] - row["low"], row["high"] - row["value"]
    below_later, above_later = row["value_later"] - row["low_later"], row["high_later"] - row["value_later"]
    change = row["value_later"] - row["value"]
    lower, upper = np.hypot(max(below_later, 0), max(above, 0)), np.hypot(max(above_later, 0), max(below, 0))
    return float(change - narrowing * lower), float(change + narrowing * upper)


def _gaps(first: Wave, later: Wave, row: int, row_later: int) -> pl.DataFrame:
    """Return the differences of the people of whom both waves have one."""
    sides = []
    for wave, number in ((first, row), (later, row_later)):
        table = wave.measured.differences
        if table is None:
            table = pl.DataFrame(schema={"row": pl.Int64, "unit": pl.String, "difference": pl.Float64})
        mine = table.filter(pl.col("row") == number).select(pl.col("unit").cast(pl.String), "difference")
        sides.append(mine.group_by("unit", maintain_order=True).agg(pl.col("difference").cast(pl.Float64).mean()))
    return sides[0].join(sides[1], on="unit", suffix="_later")


def _answered(first: Wave, later: Wave) -> list[dict[str, Any]]:
    """Return the change in the share of questions each system answered, person by person."""
    sides = []
    for wave in (first, later):
        posed = questions(wave.evidence.responses).filter("asked").join(units_of(wave), on="stimulus", how="left")
        posed = posed.with_columns(unit=pl.coalesce("unit", "stimulus"))  # by person, or by question
        shares = posed.group_by("system", "unit").agg(pl.col("said").cast(pl.Float64).mean())
        sides.append(shares.sort("system", "unit"))
    both = sides[0].join(sides[1], on=["system", "unit"], suffix="_later")
    units, pairing = _counted(first), paired_by(first)
    rows = []
    for (system,), mine in both.group_by("system", maintain_order=True):
        before, after = mine["said"].to_numpy(), mine["said_later"].to_numpy()
        estimate = paired_difference(after, before, first.study.seed)
        row = estimate.row(ANSWERED, audit=first.study.audit, system=system, counted=units, unit="points")
        rows.append({**row, "first": float(before.mean()), "second": float(after.mean()), "compared": pairing})
    return rows


def _counted(wave: Wave) -> str:
    """Return the units of a wave: people, queries, images, or questions."""
    return "questions" if units_of(wave).is_empty() else get_audit(wave.study.audit).units


def paired_by(wave: Wave) -> str:
    """Say over what the waves are paired: 'paired by person'."""
    units = _counted(wave)
    return f"paired by {ONE_OF.get(units, units.removesuffix('s'))}"
