"""Sizes, power and coverage of the tests in the shapes that audits have: python -m stats.shapes writes docs/tests.md.

With src and tests in PYTHONPATH. Seed 0 everywhere, 1,000 runs a cell; permutations are 499 a test, which leaves sizes as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from portrayal.stats import permuted
from portrayal.stats.intervals.intervals import auc_interval, auc_over_folds
from portrayal.stats.models import groups as models
from portrayal.stats.models.groups import compare_pairs, permute_terms, welch
from portrayal.stats.raters import cohen_kappa, krippendorff_alpha
from portrayal.stats.tests import max_t
from portrayal.stats.tests.max_t import flip_jointly, worst_group
from portrayal.stats.tests.people import deal_pictures, level_test, permute_labels, permute_people
from portrayal.stats.tests.proportions import share_difference

PAGE = Path(__file__).parents[2] / "docs" / "tests.md"
RUNS, DRAWS, LEVEL = 1000, 499, 0.05
MOST = 0.055 + 0.014  # a size that 1,000 runs of 5% exceed in 1 of 200 cells
NORMAL, LONG = "normal", "long tail"


class Cell(NamedTuple):
    """A test in a shape; each run of an effect gives a p, or an interval and its truth."""

    test: str
    shape: str
    p: Callable[[np.random.Generator, float], float] | None = None
    effect: float = 0.0
    held: Callable[[np.random.Generator], float] | None = None  # 1 if the interval holds the truth; NaN without one


def drawn(rng: np.random.Generator, tail: str, size: tuple[int, ...]) -> np.ndarray:
    """Return numbers with mean 0 and deviation 1."""
    return rng.exponential(size=size) - 1 if tail == LONG else rng.normal(size=size)


def labels(sizes: tuple[int, int], spread: float = 1.0, missing: float = 0.0, tail: str = NORMAL) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        first = np.arange(sum(sizes)) < sizes[0]
        values = drawn(rng, tail, (sum(sizes),)) * np.where(first, spread, 1.0) + effect * first
        values[first & (rng.random(len(first)) < missing)] = np.nan
        return float(permute_labels(values[:, None], first).p[0])

    return p


def gap(sizes: tuple[int, int], spread: float) -> Callable:
    def held(rng: np.random.Generator) -> float:
        found = welch(rng.normal(0, spread, sizes[0]), rng.normal(0, 1, sizes[1]))
        return float(found.low <= 0 <= found.high)

    return held


def pictures(people: int, slots: int, missing: float, by_side: bool = False) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        first = rng.random((people, slots)) < rng.beta(1, 1, (people, 1))
        hits = rng.random((people, slots)) < np.clip(rng.beta(2, 2, (people, 1)) + effect * (first - 0.5), 0, 1)
        there = rng.random((people, slots)) >= np.where(first | (not by_side), missing, 0.0)
        sides = [np.maximum((side & there).sum(axis=0), 1) for side in (first, ~first)]
        weights = np.where(first, 1 / sides[0], -1 / sides[1]) * there
        return permute_people(hits * there * 1.0, weights, there, int(rng.integers(1 << 30))).p

    return p


def terms(sizes: tuple[int, ...], spreads: tuple[float, ...], second: bool = False, tail: str = NORMAL) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        group = np.repeat(range(len(sizes)), sizes)
        values = drawn(rng, tail, (len(group),)) * np.array(spreads)[group] + effect * (group == 0)
        factors = {"group": group} | ({"other": np.arange(len(group)) % 2} if second else {})
        tested = permute_terms(values, factors, int(rng.integers(1 << 30)))
        return tested.p.get("group", np.nan) if tested else np.nan

    return p


def worst(sizes: tuple[int, ...], spreads: tuple[float, ...] = ()) -> Callable:
    """Return a test of the worst group: of numbers that spread so far, else of shares of four pictures."""

    def p(rng: np.random.Generator, effect: float) -> float:
        group = np.repeat(range(len(sizes)), sizes)
        chance = np.clip(rng.beta(0.5, 2, len(group)) + effect * (group == 0), 0, 1)
        apart = rng.normal(size=len(group)) * np.array(spreads)[group] + effect * (group == 0) if spreads else None
        found = worst_group(rng.binomial(4, chance) / 4 if apart is None else apart, group, int(rng.integers(1 << 30)))
        return found.p if found else np.nan

    return p


def pairs(sizes: tuple[int, ...], spreads: tuple[float, ...]) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        group = np.repeat(range(len(sizes)), sizes)
        return min(
            one.p
            for one in compare_pairs(
                rng.normal(size=len(group)) * np.array(spreads)[group] + effect * (group == 0), group
            )
        )

    return p


def flips(people: int, tests: int, tail: str = NORMAL, missing: float = 0.0) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        differences = rng.standard_t(3, (people, tests)) if tail == "t3" else drawn(rng, tail, (people, tests))
        differences[:, 0] += effect
        differences[rng.random(differences.shape) < missing] = np.nan
        tested = flip_jointly(differences, int(rng.integers(1 << 30)))
        adjusted = np.where(tested.floor < LEVEL, tested.adjusted, np.nan)
        return float(adjusted[0] if effect or np.isnan(adjusted).all() else np.nanmin(adjusted))

    return p


def refusals(units: int, groups: int, seen: int, volatile: int = 0) -> Callable:
    """Units seen in some of the groups; with `volatile` units that alone are refused, and alone seen in the last group."""

    def p(rng: np.random.Generator, effect: float) -> float:
        if volatile:
            group = np.r_[np.tile([0, 1], units - volatile), np.tile([0, 2], volatile)]
            values = np.r_[
                np.zeros(2 * (units - volatile)), rng.random(2 * volatile) < 0.5 + effect * np.tile([0, 1], volatile)
            ]
            return level_test(values.astype(float), group, np.repeat(np.arange(units), 2), 0)
        group = np.argsort(rng.random((units, groups)), axis=1)[:, :seen].ravel()
        values = (rng.random(len(group)) < 0.2 + effect * (group == 0)).astype(float)
        return level_test(values, group, np.repeat(np.arange(units), seen), int(rng.integers(1 << 30)))

    return p


def deals(people: int, repeats: int, refused: float) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        firsts, seconds = (np.maximum(rng.binomial(repeats, 1 - refused, people), 1) for _ in range(2))
        share = rng.beta(2, 2, people)
        shown = rng.binomial(firsts, np.clip(share + effect, 0, 1)), rng.binomial(seconds, share)
        return deal_pictures(shown[0], firsts, shown[1], seconds).p

    return p


def words(first: int, second: int, columns: int) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        flags = np.repeat([1, 0], [first, second])
        table = (rng.random((len(flags), columns)) < rng.beta(1, 9, columns)).astype(float)
        table[:, 0] = rng.random(len(flags)) < 0.1 + effect * (flags == 1)
        return max_t.max_t_p([csr_matrix(table)], flags, DRAWS, int(rng.integers(1 << 30)))[0]

    return p


def shares(first: int, second: int, base: float) -> Callable:
    def p(rng: np.random.Generator, effect: float) -> float:
        return share_difference(
            int(rng.binomial(first, base + effect)), first, int(rng.binomial(second, base)), second
        ).p

    return p


def raters(coefficient: str, items: int, share: float, seen: float, wrongly: float) -> Callable:
    def judged(rng: np.random.Generator, count: int) -> np.ndarray:
        chance = np.where(rng.random(count) < share, seen, wrongly)
        return (rng.random((count, 3)) < chance[:, None]).astype(float)

    def found(table: np.ndarray):
        return krippendorff_alpha(table) if coefficient == "alpha" else cohen_kappa(table[:, 0], table[:, 1])

    truth = found(judged(np.random.default_rng(1), 200_000)).value

    def held(rng: np.random.Generator) -> float:
        one = found(judged(rng, items))
        return np.nan if np.isnan(one.low) else float(one.low <= truth <= one.high)

    return held


def area(own: int, other: int) -> Callable:
    outcome = np.repeat([True, False], [own, other])

    def held(rng: np.random.Generator) -> float:
        one = auc_interval(auc_over_folds([(rng.normal(outcome), outcome)]))
        return float(one.low <= 0.76025 <= one.high)  # Phi(1 / sqrt 2)

    return held


UNEQUAL = (40, 20, 5), (1.0, 1.0, 3.0)
CELLS = [
    Cell("labels over people", "24 and 24", labels((24, 24)), 1.0, gap((24, 24), 1)),
    Cell("labels over people", "24 and 24, 30% of one group missing", labels((24, 24), missing=0.3), 1.0),
    Cell("labels over people", "24 and 24, 85% of one group missing", labels((24, 24), missing=0.85), 1.0),
    Cell("labels over people", "5 and 40", labels((5, 40)), 1.5, gap((5, 40), 1)),
    Cell("labels over people", "5 and 40, the 5 spread three times as far", labels((5, 40), 3.0), 3.0, gap((5, 40), 3)),
    Cell("labels over people", "5 and 40, long tails", labels((5, 40), tail=LONG), 1.5),
    Cell("people over pictures", "24 people, 8 pictures", pictures(24, 8, 0.0), 0.3),
    Cell("people over pictures", "24 people, 8 pictures, half missing", pictures(24, 8, 0.5), 0.3),
    Cell("people over pictures", "48 people, 8 pictures, 85% missing", pictures(48, 8, 0.85), 0.3),
    Cell("people over pictures", "24 people, 8 pictures, 85% of one side missing", pictures(24, 8, 0.85, True), 0.3),
    Cell("people over pictures", "6 people, 8 pictures, 30% missing", pictures(6, 8, 0.3), 0.5),
    Cell("analysis of variance", "8, 8 and 8", terms((8, 8, 8), (1.0, 1.0, 1.0)), 1.5),
    Cell("analysis of variance", "40, 20 and 5; deviations 1, 1 and 3", terms(*UNEQUAL), 1.5),
    Cell("analysis of variance", "the same beside a second factor", terms(*UNEQUAL, second=True), 1.5),
    Cell("analysis of variance", "40, 20 and 5, long tails", terms((40, 20, 5), (1.0, 1.0, 1.0), tail=LONG), 1.5),
    Cell("analysis of variance", "5, 5 and 5; deviations 1, 1 and 3", terms((5, 5, 5), UNEQUAL[1]), 3.0),
    Cell("all pairs of groups", "40, 20 and 5; deviations 1, 1 and 3", pairs(*UNEQUAL), 1.5),
    Cell("worst group", "40, 20 and 5, shares of 4 pictures", worst((40, 20, 5)), 0.4),
    Cell("worst group", "40, 20 and 5; deviations 1, 1 and 3", worst(*UNEQUAL), 1.5),
    Cell("worst group", "5 and 40", worst((5, 40), (1.0, 1.0)), 2.0),
    Cell("joint flips", "5 people, 1 test", flips(5, 1), 3.0),
    Cell("joint flips", "6 people, 1 test, long tails", flips(6, 1, LONG), 3.0),
    Cell("joint flips", "7 people, 1 test, long tails", flips(7, 1, LONG), 2.0),
    Cell("joint flips", "8 people, 2 tests, long tails", flips(8, 2, LONG), 3.0),
    Cell("joint flips", "10 people, 1 test", flips(10, 1), 1.5),
    Cell("joint flips", "10 people, 1 test, long tails", flips(10, 1, LONG), 1.5),
    Cell("joint flips", "12 people, 2 tests, long tails", flips(12, 2, LONG), 1.5),
    Cell("joint flips", "8 people, 5 tests", flips(8, 5), 2.0),
    Cell("joint flips", "9 people, 36 tests", flips(9, 36), 3.0),
    Cell("joint flips", "9 people, 36 tests, long tails", flips(9, 36, LONG), 3.0),
    Cell("joint flips", "10 people, 20 tests, long tails", flips(10, 20, LONG), 1.5),
    Cell("joint flips", "12 people, 20 tests, long tails, half missing", flips(12, 20, LONG, 0.5), 3.0),
    Cell("joint flips", "20 people, 72 tests, t3", flips(20, 72, "t3"), 2.0),
    Cell("joint flips", "24 people, 20 tests, long tails", flips(24, 20, LONG), 1.0),
    Cell("joint flips", "48 people, 20 tests, long tails, 85% missing", flips(48, 20, LONG, 0.85), 3.0),
    Cell("joint flips", "48 people, 60 tests, t3, half missing", flips(48, 60, "t3", 0.5), 2.0),
    Cell("largest of many words", "200 captions against 40, 50 words", words(200, 40, 50), 0.25),
    Cell("test of silence", "60 units, 3 groups", refusals(60, 3, 1), 0.4),
    Cell("test of silence", "24 people in 4 places each", refusals(24, 4, 4), 0.3),
    Cell("test of silence", "200 units in 2 of 10 groups each", refusals(200, 10, 2), 0.3),
    Cell("test of silence", "6,000 units in 2 of 10 groups each", refusals(6000, 10, 2), 0.06),
    Cell("test of silence", "6,000 units, 2,000 alone refused and in a third group", refusals(6000, 3, 2, 2000), 0.06),
    Cell("pictures dealt", "24 people, 1 picture each", deals(24, 1, 0.0), 0.4),
    Cell("pictures dealt", "24 people, 10 repeats, 10% refused", deals(24, 10, 0.1), 0.1),
    Cell("Fisher's test", "200 and 20, 10%", shares(200, 20, 0.1), 0.3),
    Cell("Fisher's test", "40 and 40, .5%", shares(40, 40, 0.005), 0.2),
    Cell("Krippendorff's alpha", "10 items, a trait of 30%", held=raters("alpha", 10, 0.3, 0.85, 0.15)),
    Cell("Krippendorff's alpha", "20 items, a trait of 5%", held=raters("alpha", 20, 0.05, 0.8, 0.03)),
    Cell("Cohen's kappa", "10 items, a trait of 30%", held=raters("kappa", 10, 0.3, 0.85, 0.15)),
    Cell("Cohen's kappa", "20 items, a trait of 5%", held=raters("kappa", 20, 0.05, 0.8, 0.03)),
    Cell("area under the curve", "10 against 10", held=area(10, 10)),
    Cell("area under the curve", "10 against 200", held=area(10, 200)),
]  # fmt: skip


def measure(cell: Cell, runs: int = RUNS) -> dict[str, float]:
    """Return the cell's size, its power, its coverage and the share of runs without test or interval."""
    before = permuted.DRAWS, permuted.NEAR, models.DRAWS, max_t.DRAWS
    permuted.DRAWS, permuted.NEAR, models.DRAWS, max_t.DRAWS = DRAWS, 0, DRAWS, DRAWS
    try:
        rng, found = np.random.default_rng(0), {}
        if cell.p:
            p = np.array([cell.p(rng, 0.0) for _ in range(runs)])
            power = np.array([cell.p(rng, cell.effect) for _ in range(runs // 5)])
            found = {"size": (p < LEVEL).mean(), "power": (power < LEVEL).mean(), "untested": np.isnan(p).mean()}
        if cell.held:
            held = np.array([cell.held(rng) for _ in range(runs)])
            given = held[~np.isnan(held)]
            found |= {"coverage": given.mean() if len(given) else np.nan}
            found.setdefault("untested", np.isnan(held).mean())
        return {name: float(share) for name, share in found.items()}
    finally:
        permuted.DRAWS, permuted.NEAR, models.DRAWS, max_t.DRAWS = before


HEAD = """# How the tests hold

Simulated data in the shapes that audits have, through the functions that audits call.

- *Size*: how often there is a p under .05 where nothing is planted; 5% is promised, and 6.9% is the most a cell may show.
- *Power*: how often a planted effect is found (200 runs).
- *Coverage*: how often a 95% interval holds the truth; 90% is the least.
- *Not tested*: how often the row would be "not tested", or have no interval.

1,000 runs a cell, 499 permutations a test, seed 0: `PYTHONPATH=src:tests python -m stats.shapes` prints this page (with names of
tests: their cells alone), and `make nightly` runs 300 of each cell.

| test | shape | size | power | coverage | not tested |
|---|---|---|---|---|---|
"""
FOOT = """
What these tests do not promise:

- A group of five that spreads further *and* has a long tail: Welch's test finds a difference in about 11 of 100 such
  audits without one. No test of a mean holds there.
- Five people of whom each gets one answer to all pictures, against 40 whose pictures differ: a share that so few have by
  chance looks certain. Labels over people find a difference in about 11 of 100 such audits without one, the worst group in 18.
- Joint flips ask whether two conditions could change places. Where the family's differences look skewed, a test that leans
  away from its tail is `not tested`, unless exponential differences without an effect would lean as far in under 5% of such
  families. Tails on both sides, or longer than those of a chi-squared with one degree of freedom, are found a little more
  often than promised (up to 10 of 100 single tests of lognormal differences).
- The largest standardised difference over many words (captions) permutes groups with studentised differences. A word is in a
  caption or not, so that groups with equal shares spread alike; of 20 numbers that spread three times as far in the smaller of
  two groups (20 against 40) the largest is under .05 in 13 of 100 families without an effect.
- No test knows the answers that are missing because of what they would have been: see `value_if_all` and
  `value_if_none` in [what is found](decisions.md).
"""


def lines(cells: list[Cell]) -> Iterator[str]:
    """Yield the table's lines."""
    for cell in cells:
        found = measure(cell)
        shown = [
            "" if np.isnan(found.get(name, np.nan)) else f"{100 * found[name]:.1f}%"
            for name in ("size", "power", "coverage", "untested")
        ]
        line = f"| {cell.test} | {cell.shape} | {' | '.join(shown)} |"
        print(line, file=sys.stderr, flush=True)
        yield line


def rows_before() -> dict[tuple[str, str], str]:
    """Return the page's lines by test and shape."""
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    return {(line.split(" | ")[0].removeprefix("| "), line.split(" | ")[1]): line for line in table}


def main(tests: list[str]) -> None:
    """Write the page; with names of tests only their cells are simulated again, and new ones."""
    before = rows_before() if tests else {}
    kept = {(cell.test, cell.shape): before.get((cell.test, cell.shape)) for cell in CELLS if cell.test not in tests}
    table = [kept.get((cell.test, cell.shape)) or next(lines([cell])) for cell in CELLS]
    PAGE.write_text(HEAD + "\n".join(table) + "\n" + FOOT, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
