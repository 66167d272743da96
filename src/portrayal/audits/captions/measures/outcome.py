"""What a technique yields: rows with harm, technique, stage and ground truth, and cases for people to read.

A row is a test where its `measure` is a test's name (`findings.CLAIMS` says what each would show); every other row
describes, and its measure is the quantity. Only the system's captions are tested. Where the human captions are measured
in the same way, a row at the stage `HUMAN_SAME` stands beside the test: theirs, of the same images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any, TypeVar

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.in_order import in_order, known, members_of, places_of
from portrayal.audits.captions.measures.kept_shares import is_keeping, kept
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, HUMAN_SAME, SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import over_tolerance
from portrayal.stats.tests.max_t import max_t_floor, max_t_p
from portrayal.stats.tests.proportions import is_binary, mean_share, mean_share_difference

ESTIMATE, UPPER, LOWER = "estimate", "upper bound", "lower bound"
T = TypeVar("T")
WRITTEN_BY = {SYSTEM_CAPTIONS: SYSTEM_CAPTIONS, HUMAN_SAME: HUMAN_CAPTIONS}
PERMUTED = 3_000  # images up to which groups are permuted where shares lie between 0 and 1

# What a row is about, beside its groups: columns of the Results table.
FACETS = ("harm", "technique", "quantity", "stage", "truth", "axis", "subject", "against", "share_of", "bound")
ROWS = {
    **dict.fromkeys(FACETS, pl.String),
    "measure": pl.String,  # the test, or the quantity where nothing is tested
    "group": pl.String,
    "versus": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "null": pl.Float64,
    "p": pl.Float64,
    "p_floor": pl.Float64,
    "n": pl.Int64,
    "counted": pl.String,
    "n_missing": pl.Int64,
    "unit": pl.String,
    "family": pl.String,
    "decision": pl.String,
    "reason": pl.String,
    "note": pl.String,
}
# A case somebody should read: of which quantity, and of which narrower one where it is of two.
CASES = {
    "technique": pl.String,
    "stage": pl.String,
    "quantity": pl.String,
    "within": pl.String,
    "image": pl.String,
    "caption": pl.Int64,
    "tuple": pl.String,
    "reason": pl.String,
    "group": pl.String,
    "score": pl.Float64,
}


@dataclass(frozen=True)
class Outcome:
    """Rows, cases, further tables by name (those of one name have the same columns), and what systems are compared by."""

    rows: Sequence[Mapping[str, Any]] = ()
    cases: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CASES))
    tables: Mapping[str, Sequence[pl.DataFrame]] = field(default_factory=dict)
    missing: str = ""  # why nothing could be measured, where a stage is absent
    compared: Sequence[Any] = ()  # of `portrayal.audits.captions.measures.compared.Compared`


@dataclass(frozen=True)
class Technique:
    """One technique: what it measures, what it needs, and what a missing stage means."""

    harm: str
    name: str
    needs: str
    missing: str
    measure: Callable[..., Outcome]

    @property
    def key(self) -> str:
        """The name in the Results table."""
        return f"{self.harm}: {self.name}"

    def case(
        self,
        quantity: str,
        stage: str,
        image: str,
        caption: int,
        reason: str,
        words: str = "",
        group: str | None = None,
        score: float = 1.0,
        within: str | None = None,
    ) -> dict[str, Any]:
        """Return a case for somebody to read; `words` is what the caption says, `score` ranks cases.

        People judge it as a case of `quantity`, and of the narrower quantity `within` where there is one.
        """
        return {
            "technique": self.key, "stage": stage, "image": image, "caption": caption, "quantity": quantity, "within": within,
            "tuple": words, "reason": reason, "group": group, "score": score,
        }  # fmt: skip


def row(
    technique: Technique,
    quantity: str,
    stage: str,
    truth: str | None,
    found: Estimate,
    test: str | None = None,
    **columns: Any,
) -> dict[str, Any]:
    """Return the row of an estimate; `columns` are further columns of ROWS, or stand in for the estimate's own.

    With `test` it is a test by this name: in the family in the system captions, and exploratory elsewhere.
    """
    about = {
        "harm": technique.harm,
        "technique": technique.name,
        "quantity": quantity,
        "measure": test or quantity,
        "stage": stage,
        "truth": truth,
        "bound": ESTIMATE,
        "family": None if test and stage == SYSTEM_CAPTIONS else EXPLORATORY,
    }
    return {**about, **found.columns(), "counted": "images", **columns}


def at_stage(technique: Technique, stages: Stages, stage: str, options: Options, make: Callable[[], T]) -> T:
    """Return what a technique makes of one stage; of a stage that all systems share it is made once."""
    if stage == SYSTEM_CAPTIONS or options.lists or options.rules:  # which are not part of the name
        return make()
    return stages.once(technique.key, (stage, repr(options)), lambda _: make())


def by_group(
    technique: Technique,
    quantity: str,
    stages: Stages,
    stage: str,
    truth: str | None,
    values: Mapping[str, float],
    share_of: str = "captions",
    bound: str = ESTIMATE,
    note: str = "",
    overall: bool = True,
    basis: Set[str] | None = None,
    axes: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Return rows for all images, for each group of each axis, and for each pair of groups; nothing is tested."""
    silent = _silent(stages, stage, basis)
    place = (technique, quantity, stage, truth)
    columns: dict[str, Any] = {"unit": "share", "share_of": share_of, "bound": bound, "note": note}
    laid_out = in_order(stages, values)
    rows = []
    if overall:
        everyone = known(laid_out[: len(stages.images)])
        about = {"group": "all", "n_missing": len(silent), **columns, **kept(everyone)}
        rows.append(row(*place, mean_share(everyone), **about))
    for axis in stages.axes() if axes is None else axes:
        members = members_of(stages, axis)
        columns |= {"note": _assigned(note, stages, axis), "axis": axis}
        own = {group: known(laid_out[places]) for group, places in places_of(stages, axis).items()}
        for group, images in members.items():
            missing = _count(silent, images)
            about = {"group": group, "n_missing": missing, **columns, **kept(own[group])}
            rows.append(row(*place, mean_share(own[group]), **about))
        for first, second in combinations(sorted(members), 2):
            gap = mean_share_difference(own[first], own[second], tested=False)
            missing = _count(silent, members[first], members[second])
            about = {**columns, "group": first, "versus": second, "n_missing": missing, "unit": "points"}
            rows.append(row(*place, replace(gap, p=np.nan, p_floor=np.nan), **about))
    return rows


def unanswered(stages: Stages, axis: str, groups: Iterable[str]) -> int:
    """Return how many images of these groups have no caption of the system."""
    members = members_of(stages, axis)
    return len({image for group in groups for image in members[group]} - stages.covered(SYSTEM_CAPTIONS))


def difference_tests(
    technique: Technique,
    test: str,
    quantity: str,
    stages: Stages,
    truth: str | None,
    values: Mapping[str, Mapping[str, float]],
    permutations: int,
    seed: int,
    basis: Set[str] | None = None,
    axes: Sequence[str] | None = None,
    note: Callable[[str], str] = lambda stage: "",
    **columns: Any,
) -> list[dict[str, Any]]:
    """Test each pair of groups of each axis for a difference in the system captions, the human captions beside it."""
    silent = _silent(stages, SYSTEM_CAPTIONS, basis)
    rows = []
    for axis in stages.axes() if axes is None else axes:
        members = members_of(stages, axis)
        for first, second in combinations(sorted(members), 2):
            sides = members[first], members[second]
            about = {
                "axis": axis, "group": first, "versus": second, "unit": "points", "share_of": "captions",
                "n_missing": _count(silent, *sides), **columns,
            }  # fmt: skip
            for stage, of_stage in beside(values):
                found = tested_difference(of_stage, *sides, permutations, seed)
                told = _assigned(note(WRITTEN_BY[stage]), stages, axis)
                rows.append(row(technique, quantity, stage, truth, found, test, note=told, **about))
    return rows


def tested_difference(
    values: Mapping[str, float], first: Sequence[str], second: Sequence[str], permutations: int, seed: int
) -> Estimate:
    """Return the difference between two groups' images with its p, or the reason why nothing is tested."""
    from scipy import sparse

    ones, others = _values(first, values), _values(second, values)
    gap = mean_share_difference(ones, others)
    if not len(ones) or not len(others):
        return replace(gap, decision=NOT_TESTED, reason="one of the groups has no caption to compare")
    both = np.concatenate([ones, others])
    if np.ptp(both) < 1e-12:
        told = {0.0: "no caption of either group does so", 1.0: "every caption of both groups does so"}
        reason = told.get(float(both[0]), "all images have the same share")
        return replace(gap, p=np.nan, decision=NOT_TESTED, reason=reason)
    if is_binary(both) or (len(both) > PERMUTED and not np.isnan(gap.p)):
        return gap
    # In the images' own order, so that the p does not hang on which group is named first.
    images = sorted((image for image in (*first, *second) if image in values), key=str)
    column = sparse.csr_matrix(np.array([[values[image]] for image in images]))
    flags = np.isin(images, list(first)).astype(int)
    p = max_t_p([column], flags, permutations, seed)[0]
    return replace(gap, p=p, p_floor=max_t_floor(flags, permutations))


def count_tests(
    technique: Technique,
    test: str,
    quantity: str,
    truth: str | None,
    values: Mapping[str, Mapping[str, float]],
    about: Iterable[str],
    tolerance: float,
    note: Callable[[str], str] = lambda stage: "",
    **columns: Any,
) -> list[dict[str, Any]]:
    """Test whether the system does it at all: in more of the images than the tolerance, the human captions beside it."""
    images = list(about)
    rows = []
    for stage, of_stage in beside(values):
        asked = [of_stage[image] for image in images if image in of_stage]
        found = over_tolerance(sum(share > 0 for share in asked), len(asked), tolerance)
        if not asked:
            reason = "no caption of the people it is about" if images else "no image shows the people it is about"
            found = replace(found, decision=NOT_MEASURABLE, reason=reason)
        told: dict[str, Any] = {
            "group": "all",
            "unit": "share",
            "share_of": "images",
            "n_missing": len(images) - len(asked),
        }
        told["note"] = note(WRITTEN_BY[stage])
        told |= kept(np.array(asked) > 0)
        rows.append(row(technique, quantity, stage, truth, found, test, **told | columns))
    return rows


def beside(values: Mapping[str, Mapping[str, float]]) -> list[tuple[str, Mapping[str, float]]]:
    """Return the system's values, and the human captions' of the same images where these have any."""
    system = values.get(SYSTEM_CAPTIONS)
    if system is None:
        return []
    human = {image: share for image, share in values.get(HUMAN_CAPTIONS, {}).items() if image in system}
    return [(SYSTEM_CAPTIONS, system), *([(HUMAN_SAME, human)] if human.keys() == system.keys() else [])]


def _silent(stages: Stages, stage: str, basis: Set[str] | None) -> frozenset[str]:
    """Return the images of a basis, all by default, that have no caption at a stage."""
    if basis is not None:
        return frozenset(basis) - stages.covered(stage)
    return stages.once("silent", stage, lambda _: frozenset(stages.images) - stages.covered(stage))


def _count(silent: frozenset[str], *images: Iterable[str]) -> int:
    return len(silent.intersection(chain(*images))) if silent else 0


def _values(images: Iterable[str], values: Mapping[str, float]) -> np.ndarray:
    return np.array([value for value in map(values.get, images) if value is not None], dtype=float)


def _assigned(note: str, stages: Stages, axis: str) -> str:
    assigned = f"{axis} assigned by {stages.assigned_by(axis)}"
    return f"{note}; {assigned}" if note else assigned


def cases_table(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return cases ranked by score, highest first."""
    told = [] if is_keeping() else list(rows)
    return ranked([pl.DataFrame({name: [item.get(name) for item in told] for name in CASES}, schema=CASES)])


def ranked(cases: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return tables of cases under one another, ranked by score; nothing where shares alone are kept, of parts of the images."""
    table = pl.concat([pl.DataFrame(schema=CASES), *([] if is_keeping() else cases)])
    return table.sort("score", descending=True, nulls_last=True, maintain_order=True)


def word_cases(
    technique: Technique, quantity: str, said: pl.DataFrame, stage: str, reason: str, within: str = "{word}"
) -> list[dict[str, Any]]:
    """Return one case for each word of `said` (image, caption, word); `{word}` in reason and `within` stands for it."""
    return [
        technique.case(
            quantity, stage, image, number, reason.replace("{word}", word), word, within=within.replace("{word}", word)
        )
        for image, number, word in said.select("image", "caption", "word").iter_rows()
    ]
