"""Techniques as steps over images, with shares of captions that add up over parts.

A technique yields `Shares`, `Count`, `Difference` and whole outcomes. A step that needs all images together is yielded as a
function, and is not called in parts. A row is a test where its `measure` is a test's name; only the system's captions are
tested, and a row at the stage `HUMAN_SAME` has the human captions of the same images.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.crossed import worst_rows
from portrayal.audits.captions.reading.people import shares_of
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, HUMAN_SAME, NONE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import over_tolerance
from portrayal.stats.intervals.shares import share_over, with_missing
from portrayal.stats.tests.people import permute_labels
from portrayal.stats.tests.proportions import is_binary, mean_share, mean_share_difference

BOUNDS = LOWER, ESTIMATE, UPPER = "lower bound", "estimate", "upper bound"
# The subject of a row, beside its groups: columns of the Results table.
FACETS = ("harm", "technique", "quantity", "stage", "truth", "axis", "subject", "against", "share_of", "bound", "kind")
ROWS = {
    **dict.fromkeys((*FACETS, "measure", "group", "versus"), pl.String),
    **dict.fromkeys(("value", "low", "high", "null", "p", "p_floor"), pl.Float64),
    **{"n": pl.Int64, "counted": pl.String, "n_missing": pl.Int64},
    **dict.fromkeys(("unit", "family", "decision", "reason", "note", "tested_by"), pl.String),
    **{"n_first": pl.Int64, "n_second": pl.Int64, "base_share": pl.Float64},
    **{"value_if_all": pl.Float64, "value_if_none": pl.Float64},
}
# A case somebody should read: of which quantity, and of which narrower one (`within`) where it is of two.
CASES = {
    **dict.fromkeys(("technique", "stage", "quantity", "within", "image"), pl.String),
    "caption": pl.Int64,
    **dict.fromkeys(("tuple", "reason", "group"), pl.String),
    "score": pl.Float64,
}
BLANK = {name: pl.lit(None, pl.String) for name in ("within", "group")} | {"tuple": pl.lit(""), "score": pl.lit(1.0)}
Row = dict[str, Any]
Values = Mapping[str, float]  # image -> share
Note = str | Callable[[str], str]  # or of a stage; only asked for where all images are seen


@dataclass(frozen=True)
class Shares:
    """A quantity at a stage, with the share of each image's captions that do it."""

    quantity: str
    stage: str
    truth: str | None
    values: Values
    share_of: str = "captions"
    bound: str = ESTIMATE
    note: Note = ""
    basis: Set[str] | None = None  # images that could have a caption; all by default
    axes: Sequence[str] | None = None  # all by default
    overall: bool = True  # with a row of all images
    only: tuple[str | None, str] | None = None  # one row alone, of this axis and group
    subject: str | None = None
    compares: str = ""  # the bound as which systems are compared by it

    @classmethod
    def of(
        cls, quantity: str, stages: Stages, stage: str, hits: pl.DataFrame, among: Set[str] | None = None, **about: Any
    ) -> Shares:
        """Return the shares of captions among the hits, in all images or some."""
        values = shares_of(stages, stage, hits)
        inside = values if among is None else {image: share for image, share in values.items() if image in among}
        return cls(quantity, stage, about.pop("truth", None), inside, **about)

    def silent(self, stages: Stages) -> frozenset[str]:
        """Return the images of the basis without a caption at the stage."""
        return stages.silent(self.stage) if self.basis is None else frozenset(self.basis) - stages.covered(self.stage)


@dataclass(frozen=True)
class Count:
    """Test of a harm in more of the images `about` than the tolerance."""

    test: str
    shares: Mapping[str, Shares]  # by stage
    about: Collection[str]
    note: Note = ""
    group: str = "all"
    subject: str | None = None
    axis: str | None = None


@dataclass(frozen=True)
class Difference:
    """Test of each pair of groups in the system captions."""

    test: str
    shares: Mapping[str, Shares]  # by stage
    note: Note = ""
    subject: str | None = None
    worst: str = ""  # further test, of the worst of the groups that two axes make together


@dataclass(frozen=True)
class Outcome:
    """Rows, cases, further tables by name, and shares that compare systems."""

    rows: Sequence[Mapping[str, Any]] = ()
    cases: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CASES))
    tables: Mapping[str, Sequence[pl.DataFrame]] = field(default_factory=dict)
    missing: str = ""  # why something could not be measured
    compared: Sequence[Shares] = ()


Step = Shares | Count | Difference | Outcome
Steps = Iterable[Step | Callable[[], Step]]  # a function: of all images together only


class Place(NamedTuple):
    """A row's name: everything that says what it is about."""

    measure: str
    quantity: str
    stage: str
    truth: str | None
    share_of: str
    bound: str
    subject: str | None
    axis: str | None
    group: str
    alone: bool  # not compared with other groups of the axis


Sums = Counter[tuple[Place, float | None]]  # images by place and share; of the share None: images without a caption


def joined(tables: Iterable[Mapping[str, Sequence[pl.DataFrame]]]) -> dict[str, list[pl.DataFrame]]:
    """Return the further tables of several outcomes, by name."""
    together: dict[str, list[pl.DataFrame]] = {}
    for name, parts in (item for one in tables for item in one.items()):
        together.setdefault(name, []).extend(parts)
    return together


@dataclass(frozen=True)
class Technique:
    """One technique: its harm, name and needs, and its steps."""

    key: str  # in the Results table
    harm: str
    name: str
    steps: Callable[[Stages, Options], Steps]
    needs: str
    missing: str  # the meaning of a missing stage
    in_parts: bool = True  # whether it can be measured part by part

    def measure(self, stages: Stages, options: Options) -> Outcome:
        """Return the outcome of all steps over one system's stages."""
        done = [self._outcome(stages, options, step) for step in self.steps(stages, options)]
        rows = [row for one in done for row in one.rows]
        cases = pl.concat([pl.DataFrame(schema=CASES), *(one.cases for one in done)])
        missing = "; ".join(one.missing for one in done if one.missing) or ("" if rows else self.missing)
        ranked = cases.sort("score", descending=True, nulls_last=True, maintain_order=True)
        compared = [shares for one in done for shares in one.compared]
        return Outcome(rows, ranked, joined(one.tables for one in done), missing, compared)

    def _outcome(self, stages: Stages, options: Options, step: Step | Callable[[], Step]) -> Outcome:
        step = step() if callable(step) else step
        if isinstance(step, Outcome):
            return step
        if isinstance(step, Difference):
            own = list(beside(step.shares)) if step.worst else []
            crossed = worst_rows(self.row, stages, step.worst, own, options.seed)
            return Outcome([*_difference_rows(self, stages, step, options), *crossed])
        rows = [row for block in sums(stages, step) for row in self.rows_of_sums(block, options)]
        for row in rows:
            row["note"] = _note(step.note, row["stage"])
            if isinstance(step, Shares) and row["axis"] and not step.only:
                row["note"] = assigned(stages, row["axis"], row["note"])
        compares = isinstance(step, Shares) and step.compares and step.stage == SYSTEM_CAPTIONS
        return Outcome(rows, compared=[step] if compares and isinstance(step, Shares) and step.values else ())

    def sums(self, options: Options, stages: Stages) -> Sums:
        """Return the sums of a part of the images; of parts they add up."""
        total: Sums = Counter()
        for step in self.steps(stages, options):
            for block in sums(stages, step) if isinstance(step, Shares | Count) else ():
                total.update(block)
        return Counter({key: count for key, count in total.items() if key[0].stage != HUMAN_SAME})

    def rows_of_sums(self, total: Sums, options: Options) -> list[Row]:
        """Return the row of each place, and of each pair of groups."""
        places: dict[Place, dict[float | None, int]] = {}
        for (place, value), count in total.items():
            places.setdefault(place, {})[value] = count
        rows = []
        groups: dict[Place, dict[str, tuple[np.ndarray, int]]] = {}
        for place, counts in places.items():
            missing = counts.pop(None, 0)
            shares = sorted((value, count) for value, count in counts.items() if value is not None)
            values = np.repeat(np.array([value for value, _ in shares], float), [count for _, count in shares])
            is_test = place.measure != place.quantity
            estimate = _counted(values, missing, options.tolerated(place.measure)) if is_test else mean_share(values)
            rows.append(self._row(place, estimate, unit="share", n_missing=missing))
            if not place.alone:
                groups.setdefault(place._replace(group=""), {})[place.group] = values, missing
        for place, own in groups.items():
            for first, second in combinations(sorted(own), 2):
                (ones, missing), (others, more) = own[first], own[second]
                gap = replace(mean_share_difference(ones, others, tested=False), p=np.nan, p_floor=np.nan)
                about = {"versus": second, "unit": "points", "n_missing": missing + more}
                rows.append(self._row(place._replace(group=first), gap, **about))
        return rows

    def _row(self, place: Place, estimate: Estimate, **columns: Any) -> Row:
        test = place.measure if place.measure != place.quantity else None
        about = {name: getattr(place, name) for name in ("share_of", "bound", "subject", "axis", "group")}
        return self.row(place.quantity, place.stage, place.truth, estimate, test, **about, **columns)

    def row(
        self, quantity: str, stage: str, truth: str | None, estimate: Estimate, test: str | None = None, **columns: Any
    ) -> Row:
        """Return the row of an estimate; `columns` add to its own or replace them."""
        about: Row = {"harm": self.harm, "technique": self.name, "quantity": quantity, "measure": test or quantity}
        about |= {"stage": stage, "truth": truth, "bound": ESTIMATE}
        family = None if test and stage == SYSTEM_CAPTIONS else EXPLORATORY
        return {**about, "family": family, **estimate.columns(), "counted": "images", **columns}

    def cases(self, quantity: str, stage: str, table: pl.DataFrame, **columns: pl.Expr) -> Outcome:
        """Return a case to read for each row of a table (image, caption, perhaps group)."""
        about = {"technique": pl.lit(self.key), "stage": pl.lit(stage), "quantity": pl.lit(quantity)}
        blank = {name: value for name, value in BLANK.items() if name not in table.columns}
        written = table.with_columns(**{**blank, **about, **columns})
        return Outcome(cases=written.select(pl.col(name).cast(kind) for name, kind in CASES.items()))


_TEXTS = tomllib.loads((Path(__file__).parent / "techniques.toml").read_text(encoding="utf-8"))


def technique(key: str, steps: Callable[[Stages, Options], Steps]) -> Technique:
    """Return a technique by its key."""
    harm, name = key.split(": ")
    return Technique(key, harm, name, steps, **_TEXTS[key])


def whole(measure: Callable[[Stages, Options], Outcome]) -> Callable[[Stages, Options], Steps]:
    """Return the steps of a technique that measures all images together."""
    return lambda stages, options: [measure(stages, options)]


def unanswered(stages: Stages, axis: str, groups: Iterable[str]) -> int:
    """Return how many images of these groups have no caption of the system."""
    members = stages.members(axis)
    return len({image for group in groups for image in members[group]} - stages.covered(SYSTEM_CAPTIONS))


def assigned(stages: Stages, axis: str, note: str = "") -> str:
    """Return a note with who assigned the groups of an axis."""
    by = f"{axis} assigned by {stages.assigned_by(axis)}"
    return f"{note}; {by}" if note else by


def _note(note: Note, stage: str) -> str:
    return note if isinstance(note, str) else note(HUMAN_CAPTIONS if stage == HUMAN_SAME else stage)


def sums(stages: Stages, step: Shares | Count) -> Iterator[Sums]:
    """Yield how many images have each distinct share: overall, then by group for each axis."""
    if isinstance(step, Count):
        for stage, shares in beside(step.shares):
            about = stage, shares.truth, "images", shares.bound, step.subject, step.axis, step.group, True
            done = np.array([shares.values[image] for image in step.about if image in shares.values])
            done = done if stage == HUMAN_SAME else (done > 0).astype(float)  # one of people's captions, not any
            yield _sums_of(Place(step.test, shares.quantity, *about), done, len(step.about) - len(done))
        return
    silent = step.silent(stages)
    of = partial(Place, step.quantity, step.quantity, step.stage, step.truth, step.share_of, step.bound, step.subject)
    if step.only:
        values = np.fromiter(step.values.values(), float, len(step.values))
        yield _sums_of(of(*step.only, alone=True), values, len(silent))
        return
    in_order = stages.in_order(step.values)
    if step.overall:
        values = in_order[: len(stages.images)]
        yield _sums_of(of(None, "all", alone=True), values[values != NONE], len(silent))
    for axis in stages.axes() if step.axes is None else step.axes:
        block: Sums = Counter()
        for group, places in stages.places(axis).items():
            values = in_order[places]
            missing = len(silent.intersection(stages.members(axis)[group]))
            block.update(_sums_of(of(axis, group, alone=False), values[values != NONE], missing))
        yield block


def _sums_of(place: Place, values: np.ndarray, missing: int) -> Sums:
    each = zip(*(part.tolist() for part in np.unique(values, return_counts=True)), strict=True)
    return Counter({(place, None): missing, **{(place, value): count for value, count in each}})


def _counted(values: np.ndarray, missing: int, tolerance: float) -> Estimate:
    once = is_binary(values)  # else people wrote several captions of an image
    share = (
        over_tolerance(int(values.sum()), len(values), tolerance)
        if once
        else share_over(values, np.ones(len(values)), tolerance)
    )
    reason = "no caption of the people it is about" if missing else "no image shows the people it is about"
    return share if len(values) else replace(share, decision=NOT_MEASURABLE, reason=reason)


def beside(shares: Mapping[str, Shares]) -> Iterator[tuple[str, Shares]]:
    """Yield the system's shares, and the human captions' of the same images."""
    system = shares.get(SYSTEM_CAPTIONS)
    if system is None:
        return
    yield SYSTEM_CAPTIONS, system
    written = shares.get(HUMAN_CAPTIONS)
    human = {} if written is None else {i: share for i, share in written.values.items() if i in system.values}
    if human.keys() == system.values.keys():
        yield HUMAN_SAME, replace(system if written is None else written, values=human)


def _difference_rows(of: Technique, stages: Stages, step: Difference, options: Options) -> Iterator[Row]:
    system = step.shares.get(SYSTEM_CAPTIONS)
    if system is None:
        return
    silent = system.silent(stages)
    for axis, first, second in pairs(stages, system.axes):
        sides = stages.members(axis)[first], stages.members(axis)[second]
        about: Row = {"axis": axis, "group": first, "versus": second, "unit": "points", "subject": step.subject}
        about |= {"share_of": system.share_of, "n_missing": len(silent.intersection([*sides[0], *sides[1]]))}
        for stage, shares in beside(step.shares):
            gap = tested_difference(shares.values, *sides, options.seed)
            lost = (len(silent.intersection(sides[0])), len(silent.intersection(sides[1])))
            own = (np.array([shares.values[image] for image in side if image in shares.values]) for side in sides)
            gap = with_missing(gap, next(own), next(own), lost)
            note = assigned(stages, axis, _note(step.note, stage))
            yield of.row(system.quantity, stage, system.truth, gap, step.test, note=note, **about)


def pairs(stages: Stages, axes: Sequence[str] | None = None) -> list[tuple[str, str, str]]:
    """Return the pairs of groups of each axis: (axis, first, second)."""
    chosen = stages.axes() if axes is None else axes
    return [(axis, *pair) for axis in chosen for pair in combinations(sorted(stages.members(axis)), 2)]


def tested_difference(values: Values, first: Sequence[str], second: Sequence[str], seed: int) -> Estimate:
    """Return the tested difference of two groups, or the reason for no test."""
    ones, others = ([image for image in images if image in values] for images in (first, second))
    sides = [np.array([values[image] for image in images], float) for images in (ones, others)]
    gap = mean_share_difference(sides[0], sides[1])
    if not ones or not others:
        return replace(gap, decision=NOT_TESTED, reason="one of the groups has no caption to compare")
    images = sorted([*ones, *others], key=str)  # so that the p does not hang on which group is named first
    both = np.array([values[image] for image in images])
    if np.ptp(both) < 1e-12:
        reasons = {0.0: "no caption of either group does so", 1.0: "every caption of both groups does so"}
        reason = reasons.get(float(both[0]), "all images have the same share")
        return replace(gap, p=np.nan, decision=NOT_TESTED, reason=reason)
    if is_binary(both):
        return gap
    tested = permute_labels(both[:, None], np.isin(images, list(first)), seed)
    return replace(gap, p=float(tested.p[0]), p_floor=float(tested.floor[0]))
