"""Jackknife re-test of changes between waves that were found from two intervals.

An interval speaks of the middle of what chance does. A change that is found among a hundred rows lies far out, where the
intervals of a few people are too narrow; and rows of the same people go up and down together. So before such a change is
called found, both waves are measured again without each block of people in turn. What a block adds to the change is its
pseudo-value [1]_; if nothing changed, a block's two waves could be swapped, so these are flipped in sign, all rows at once
(`portrayal.stats.tests.max_t`).

References
----------
.. [1] Miller (1974), The jackknife: a review, Biometrika 61, 1-15.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import CONFIRMATORY, FOUND, NOT_FOUND, flipped_share
from portrayal.stats.decisions.multiplicity import LEVEL, adjust
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.registry import get_audit
from portrayal.waves.waves import Wave, units_of

BLOCKS = 20  # of people, at most: each costs a measurement of every wave


def hold_again(
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
    left = 1 - flipped_share(together, mine.height)
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
