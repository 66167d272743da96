"""Shares of captions, image by image: sums over parts of the images, and rows from the sums.

A technique of shares goes through a set of images once and yields `Shares` (how often each image's captions do something),
`Count` (is it done at all: in more images than the tolerance?), `Difference` (between groups), and functions of what needs all
images together. Of the first two, the distinct shares of images and how many images have each add up over parts: from the
sums come the same mean, interval and difference whether a part or the whole was seen. What holds over all parts (which
words mean people) is a fold of its own, named in `after`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.outcome import (
    CASES,
    ESTIMATE,
    Case,
    Compared,
    Outcome,
    Row,
    Technique,
    assigned,
    cases_table,
)
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import HUMAN_CAPTIONS, HUMAN_SAME, NONE, SYSTEM_CAPTIONS, Stages
from portrayal.folds import Fold, Known, add_counts, run_folds
from portrayal.stats.decisions.decision import NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import over_tolerance
from portrayal.stats.tests.max_t import max_t_floor, max_t_p
from portrayal.stats.tests.proportions import is_binary, mean_share, mean_share_difference

WRITTEN_BY = {SYSTEM_CAPTIONS: SYSTEM_CAPTIONS, HUMAN_SAME: HUMAN_CAPTIONS}
PERMUTED = 3_000  # images up to which groups are permuted where shares lie between 0 and 1
Values = Mapping[str, float]  # image -> share
Note = Callable[[str], str]  # of a stage; only asked for where all images are seen


def no_note(stage: str) -> str:
    """Return an empty note."""
    return ""


@dataclass(frozen=True)
class Shares:
    """A quantity at a stage, with the share of each image's captions that do it."""

    quantity: str
    stage: str
    truth: str | None
    values: Values
    share_of: str = "captions"
    bound: str = ESTIMATE
    note: Note = no_note
    basis: Set[str] | None = None  # images that could have a caption; all by default
    axes: Sequence[str] | None = None  # all by default
    overall: bool = True  # with a row of all images
    only: tuple[str | None, str] | None = None  # one row alone, of this axis and group
    subject: str | None = None
    compares: str = ""  # the bound as which systems are compared by it

    def silent(self, stages: Stages) -> frozenset[str]:
        """Return the images of the basis that have no caption at the stage."""
        return stages.silent(self.stage) if self.basis is None else frozenset(self.basis) - stages.covered(self.stage)


@dataclass(frozen=True)
class Count:
    """A test: does the system do it in more of the images `about` than the tolerance? The human captions stand beside it."""

    test: str
    shares: Mapping[str, Shares]  # by stage
    about: Collection[str]
    note: Note = no_note
    group: str = "all"
    subject: str | None = None


@dataclass(frozen=True)
class Difference:
    """A test of each pair of groups in the system captions; the human captions stand beside it."""

    test: str
    shares: Mapping[str, Shares]  # by stage
    note: Note = no_note
    subject: str | None = None


Step = Shares | Count | Difference | Outcome
Steps = Iterator[Step | Callable[[], Step]]  # a function: of all images together only
Fact = Callable[[Options], Fold]  # known of all parts before a technique looks at one


@dataclass(frozen=True)
class ShareTechnique(Technique):
    """A technique whose rows are shares of images, each image's share its own."""

    steps: Callable[[Stages, Options, Known], Steps] = field(kw_only=True)
    after: Sequence[Fact] = ()
    paper: str = ""
    in_parts: bool = True  # whether it can be measured part by part

    def fold(self, options: Options) -> Fold:
        """Return the technique as a fold over parts of the images."""
        after = tuple(fact(options).name for fact in self.after)
        per_part, finish = partial(self._sums, options), partial(self._rows, options)
        return Fold(self.key, per_part, finish, paper=self.paper, after=after, add=add_counts)

    def _sums(self, options: Options, stages: Stages, known: Known) -> Sums:
        steps = self.steps(stages, options, known)
        blocks = (block for step in steps if isinstance(step, Shares | Count) for block in sums(stages, step))
        total: Sums = Counter()
        for block in blocks:
            total.update(block)
        return Counter({key: count for key, count in total.items() if key[0].stage != HUMAN_SAME})

    def _rows(self, options: Options, total: Sums, known: Known) -> list[Row]:
        return rows_of_sums(self, total, options.tolerance)

    def measure(self, stages: Stages, options: Options) -> Outcome:
        """Measure all images at once: the same sums, with the tests, cases and notes that need each image."""
        known = run_folds([fact(options) for fact in self.after], lambda: [stages])
        done = [self._whole(stages, options, step) for step in self.steps(stages, options, known)]
        rows = [row for one in done for row in one.rows]
        cases = pl.concat([pl.DataFrame(schema=CASES), *(one.cases for one in done if len(one.cases))])
        tables: dict[str, list[pl.DataFrame]] = {}
        for name, table in ((name, table) for one in done for name, several in one.tables.items() for table in several):
            tables.setdefault(name, []).append(table)
        missing = "; ".join(one.missing for one in done if one.missing) or ("" if rows else self.missing)
        ranked = cases.sort("score", descending=True, nulls_last=True, maintain_order=True)
        return Outcome(rows, ranked, tables, missing, [other for one in done for other in one.compared])

    def _whole(self, stages: Stages, options: Options, step: Step | Callable[[], Step]) -> Outcome:
        step = step() if callable(step) else step
        if isinstance(step, Outcome):
            return step
        if isinstance(step, Difference):
            return Outcome(list(_difference_rows(self, stages, step, options)))
        rows = [row for block in sums(stages, step) for row in rows_of_sums(self, block, options.tolerance)]
        for row in rows:
            row["note"] = step.note(WRITTEN_BY.get(row["stage"], row["stage"]))
            if isinstance(step, Shares) and row["axis"] and not step.only:
                row["note"] = assigned(stages, row["axis"], row["note"])
        return Outcome(rows, compared=self._compared(step) if isinstance(step, Shares) else ())

    def _compared(self, step: Shares) -> list[Compared]:
        if not step.compares or step.stage != SYSTEM_CAPTIONS or not step.values:
            return []
        axis = step.axes[0] if step.axes else None
        return [Compared(self, step.quantity, step.truth, step.values, axis, step.compares)]


def read(cases: Iterable[Case]) -> Outcome:
    """Return cases as a step."""
    return Outcome(cases=cases_table(cases))


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


def sums(stages: Stages, step: Shares | Count) -> Iterator[Sums]:
    """Yield how many images have each distinct share: overall, then by group for each axis."""
    if isinstance(step, Count):
        yield from _count_sums(step)
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
            missing = _count(silent, stages.members(axis)[group])
            block.update(_sums_of(of(axis, group, alone=False), values[values != NONE], missing))
        yield block


def _count_sums(step: Count) -> Iterator[Sums]:
    for stage, shares in beside(step.shares):
        place = Place(
            step.test,
            shares.quantity,
            stage,
            shares.truth,
            "images",
            shares.bound,
            step.subject,
            None,
            step.group,
            True,
        )
        done = np.array([float(shares.values[image] > 0) for image in step.about if image in shares.values])
        yield _sums_of(place, done, len(step.about) - len(done))


def _sums_of(place: Place, values: np.ndarray, missing: int) -> Sums:
    each = zip(*(part.tolist() for part in np.unique(values, return_counts=True)), strict=True)
    return Counter({(place, None): missing, **{(place, value): count for value, count in each}})


def rows_of_sums(technique: Technique, total: Sums, tolerance: float) -> list[Row]:
    """Return the row of each place, and then of each pair of groups of an axis: nothing is tested but counts."""
    places: dict[Place, dict[float | None, int]] = {}
    for (place, value), count in total.items():
        places.setdefault(place, {})[value] = count
    rows = []
    groups: dict[Place, dict[str, tuple[np.ndarray, int]]] = {}
    for place, counts in places.items():
        missing = counts.pop(None, 0)
        shares = sorted(counts.items())
        values = np.repeat(np.array([value for value, _ in shares], float), [count for _, count in shares])
        is_test = place.measure != place.quantity
        found = _counted(values, missing, tolerance) if is_test else mean_share(values)
        rows.append(_row(technique, place, found, unit="share", n_missing=missing))
        if not place.alone:
            groups.setdefault(place._replace(group=""), {})[place.group] = values, missing
    for place, own in groups.items():
        for first, second in combinations(sorted(own), 2):
            (ones, missing), (others, more) = own[first], own[second]
            gap = replace(mean_share_difference(ones, others, tested=False), p=np.nan, p_floor=np.nan)
            about = {"versus": second, "unit": "points", "n_missing": missing + more}
            rows.append(_row(technique, place._replace(group=first), gap, **about))
    return rows


def _row(technique: Technique, place: Place, found: Estimate, **columns: Any) -> Row:
    test = place.measure if place.measure != place.quantity else None
    about = {name: getattr(place, name) for name in ("share_of", "bound", "subject", "axis", "group")}
    return technique.row(place.quantity, place.stage, place.truth, found, test, **about, **columns)


def _counted(values: np.ndarray, missing: int, tolerance: float) -> Estimate:
    found = over_tolerance(int(values.sum()), len(values), tolerance)
    if len(values):
        return found
    reason = "no caption of the people it is about" if missing else "no image shows the people it is about"
    return replace(found, decision=NOT_MEASURABLE, reason=reason)


def beside(shares: Mapping[str, Shares]) -> Iterator[tuple[str, Shares]]:
    """Yield the system's shares, and the human captions' of the same images where these have any."""
    system = shares.get(SYSTEM_CAPTIONS)
    if system is None:
        return
    yield SYSTEM_CAPTIONS, system
    written = shares.get(HUMAN_CAPTIONS)
    human = {} if written is None else {i: share for i, share in written.values.items() if i in system.values}
    if human.keys() == system.values.keys():
        yield HUMAN_SAME, replace(system if written is None else written, values=human)


def _difference_rows(technique: Technique, stages: Stages, step: Difference, options: Options) -> Iterator[Row]:
    system = step.shares.get(SYSTEM_CAPTIONS)
    if system is None:
        return
    silent = system.silent(stages)
    for axis in stages.axes() if system.axes is None else system.axes:
        members = stages.members(axis)
        for first, second in combinations(sorted(members), 2):
            sides = members[first], members[second]
            about = {"axis": axis, "group": first, "versus": second, "unit": "points", "share_of": system.share_of}
            about |= {"n_missing": _count(silent, *sides), "subject": step.subject}
            for stage, shares in beside(step.shares):
                found = tested_difference(shares.values, *sides, options.permutations, options.seed)
                note = assigned(stages, axis, step.note(WRITTEN_BY[stage]))
                yield technique.row(system.quantity, stage, system.truth, found, step.test, note=note, **about)


def tested_difference(
    values: Values, first: Sequence[str], second: Sequence[str], permutations: int, seed: int
) -> Estimate:
    """Return the difference between two groups' images with its p, or the reason why nothing is tested."""
    from scipy import sparse

    ones, others = (
        np.array([share for share in map(values.get, images) if share is not None], float) for images in (first, second)
    )
    gap = mean_share_difference(ones, others)
    if not len(ones) or not len(others):
        return replace(gap, decision=NOT_TESTED, reason="one of the groups has no caption to compare")
    both = np.concatenate([ones, others])
    if np.ptp(both) < 1e-12:
        reasons = {0.0: "no caption of either group does so", 1.0: "every caption of both groups does so"}
        reason = reasons.get(float(both[0]), "all images have the same share")
        return replace(gap, p=np.nan, decision=NOT_TESTED, reason=reason)
    if is_binary(both) or (len(both) > PERMUTED and not np.isnan(gap.p)):
        return gap
    # In the images' own order, so that the p does not hang on which group is named first.
    images = sorted((image for image in (*first, *second) if image in values), key=str)
    column = sparse.csr_matrix(np.array([[values[image]] for image in images]))
    flags = np.isin(images, list(first)).astype(int)
    p = max_t_p([column], flags, permutations, seed)[0]
    return replace(gap, p=p, p_floor=max_t_floor(flags, permutations))


def _count(silent: frozenset[str], *images: Iterable[str]) -> int:
    return len(silent.intersection(chain(*images))) if silent else 0
