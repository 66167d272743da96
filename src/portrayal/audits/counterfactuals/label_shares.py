"""Labels of any number of series, from folders of Parquet files: the shares and slopes that are sums over people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of, with_poles
from portrayal.audits.counterfactuals.measures.labels import occupation_group
from portrayal.audits.counterfactuals.measures.presence import FACTORS, Block, blocks
from portrayal.audits.counterfactuals.measures.rows import FACETS, UNIT
from portrayal.audits.counterfactuals.measures.slopes import by_person, line, normalised, rises
from portrayal.batches import parts, scan
from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import mean_of_sums, ratio_ends, wilson
from portrayal.tables import RESPONSES, ROWS, results

TABLES = {"stimuli": FACTORS, "responses": {**RESPONSES, **ROWS["tagger"]}}
FLIPS = ("comes", "goes", "changes")


def label_shares(folder: Path | str) -> pl.DataFrame:
    """Measure taggers on more series than memory holds: slopes of labels, flips, rates and refusals, summed over people.

    Parameters
    ----------
    folder
        Holds `stimuli/` and `responses/` of Parquet files, with the columns that `label_slopes` takes. Files of one name are a part:
        they hold the same people, whole, and a part fits in memory.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a counterfactuals audit that are sums over people (docs/counterfactuals.md lists them), the
        same as in memory: counts equal, floats within 1e-12. There is no p of a slope: its test flips every person's series.

    Raises
    ------
    PortrayalError
        When a person is in two parts, a part lacks a file, or parts differ in their steps.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from portrayal import label_shares
    >>> steps = pl.DataFrame([{"stimulus": f"{who}{value:+}", "picture": who, "person": who, "attribute": "gender",
    ...     "condition": "edited", "value": float(value)} for who in "abc" for value in (-1, 0, 1)])
    >>> said = [{"system": "s", "stimulus": name, "repeat": 0, "status": "answered", "tag": "nurse" if "-" not in name else "face",
    ...     "confidence": 0.9} for name in steps["stimulus"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, table in (("stimuli", steps), ("responses", pl.DataFrame(said))):
    ...         (Path(folder) / name).mkdir()
    ...         table.write_parquet(Path(folder) / name / "0.parquet")
    ...     found = label_shares(folder)
    >>> found.filter(measure="slope", label="nurse").select("value", "n").row(0)
    (0.5, 3)
    """
    root = Path(folder)
    found: dict[tuple[str, Axis], _Sums] = {}
    asked: dict[Axis, _Asked] = {}
    systems = scan(root / "responses", ["system"], "responses").unique().collect(engine="streaming")
    for tables in parts(root, TABLES, "person"):
        edited = with_poles(tables["stimuli"].filter(pl.col("condition") == "edited"))
        for axis in axes_of(edited):
            asked.setdefault(axis, _Asked()).add(edited.filter(axis.where()))
        for block in blocks(tables["stimuli"], tables["responses"]):
            found.setdefault((block.system, block.axis), _Sums(block.values)).add(block)
    keys = [(system, axis) for system in sorted(systems["system"]) for axis in asked if (system, axis) in found]
    rows = [row for key in keys for row in found[key].rows(*key, asked[key[1]])]
    return results(rows, facets=FACETS, audit="counterfactuals")


@dataclass
class _Asked:
    """How many people and source images have a series along an axis."""

    people: int = 0
    pictures: int = 0

    def add(self, edited: pl.DataFrame) -> None:
        self.people += edited["person"].n_unique()
        self.pictures += edited["picture"].n_unique()


@dataclass
class _Start:
    """Sums over those who start in one group."""

    people: int = 0
    labels: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, block: Block, group: str) -> None:
        mine = np.array([start == group for start in block.starts])
        people = [person for person, inside in zip(block.people, mine, strict=True) if inside]
        self.people += len(set(people))
        _add(self.labels, block.labels, _sums(by_person(block.present[mine], people), block.values))


@dataclass
class _Sums:
    """Sums over the people of one system along one axis; of each label a column (`_sums`)."""

    values: np.ndarray
    people: int = 0
    empty: int = 0
    flipped: float = 0.0  # people for whom some label changes
    labels: dict[str, np.ndarray] = field(default_factory=dict)
    occupations: dict[str, np.ndarray] = field(default_factory=dict)
    flips: dict[str, np.ndarray] = field(default_factory=dict)
    gaps: dict[str, np.ndarray] = field(default_factory=dict)  # unedited less centre: people, sum, squares
    starts: dict[str, _Start] = field(default_factory=dict)
    refused: np.ndarray = field(default_factory=lambda: np.zeros(0))
    refused_people: int = 0
    compared: int = 0  # people whose unedited photograph has an answer

    def add(self, block: Block) -> None:
        """Add the people of a part."""
        if not np.array_equal(block.values, self.values):
            raise PortrayalError(
                f"the {block.axis.title} series has the values {self.values.tolist()} in one part and {block.values.tolist()} in"
                " another. Expected the same steps in all."
            )
        self.people += len(set(block.people))
        self.empty += block.empty
        given = np.asarray(block.present >= 0.5)
        changes = np.asarray(given.any(axis=1) & ~given.all(axis=1))
        comes, goes = ~given[:, 0] & given[:, -1], given[:, 0] & ~given[:, -1]
        each = np.stack([by_person(kind.astype(float), block.people).sum(axis=0) for kind in (comes, goes, changes)])
        self.flipped += float(by_person(changes.any(axis=1).astype(float), block.people).sum())
        _add(self.flips, block.labels, each)
        _add(self.labels, block.labels, _sums(by_person(block.present, block.people), self.values))
        self._add_occupations(block)
        self._add_gaps(block)
        for group in sorted({start for start in block.starts if start}):
            self.starts.setdefault(group, _Start()).add(block, group)
        refused = by_person(block.refused[:, :, None], block.refused_people)
        self.refused_people += len(refused)
        sums = _sums(refused, self.values)[:, 0]
        self.refused = self.refused + sums if len(self.refused) else sums

    def _add_occupations(self, block: Block) -> None:
        """Add the groups of occupations: at least one of the labels given."""
        groups: dict[str, list[int]] = {}
        for place, label in enumerate(block.labels):
            if group := occupation_group(label):
                groups.setdefault(group, []).append(place)
        for group, places in groups.items():
            some = by_person(block.present[:, :, places].max(axis=2)[:, :, None], block.people)
            _add(self.occupations, [group], _sums(some, self.values))

    def _add_gaps(self, block: Block) -> None:
        """Add what the centre itself changed, of those whose unedited photograph has an answer."""
        gap = block.unedited - block.present[:, block.centre]
        known = np.isfinite(gap).all(axis=1)
        if known.any() and gap.shape[1]:
            people = [person for person, here in zip(block.people, known, strict=True) if here]
            each = by_person(gap[known], people)
            _add(
                self.gaps, block.labels, np.vstack([np.ones(each.shape[1]) * len(each), each.sum(0), (each**2).sum(0)])
            )
            self.compared += len(each)

    def rows(self, system: str, axis: Axis, asked: _Asked) -> Iterator[dict[str, Any]]:
        """Yield the rows, as `measures/rows.py` has them."""
        about: dict[str, Any] = {"system": system, **axis._asdict(), "counted": "people"}
        base = {**about, "n": self.people, "n_missing": asked.people - self.people}
        yield Estimate(float(len(self.labels)), unit="labels").row("labels_tested", **base)
        answers = len(self.values) * asked.pictures
        counts = {"n": answers, "counted": "answers", "unit": "share"}
        yield wilson(self.empty, answers).row("empty_answers", **{**base, **counts})
        yield from self._refused_rows({**about, "n_missing": asked.people - self.refused_people})
        if not self.people:
            return
        yield wilson(self.flipped, self.people).row("any_flip", **base, unit="share")
        for label in sorted(self.labels):
            yield from self._label_rows(label, {**base, "label": label})
        yield from self._start_rows(base)
        for group in sorted(self.occupations):
            yield self._slope(self.occupations[group], self.people).row(
                "occupation_group_slope", **base, occupation=group, unit=UNIT
            )

    def _start_rows(self, base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the slopes of those who start in each group, where there are several."""
        for group, mine in self.starts.items() if len(self.starts) > 1 else ():
            for label in sorted(self.labels):
                sums = mine.labels.get(label, np.zeros(len(self.labels[label])))
                about = {**base, "label": label, "group": group, "n": mine.people, "n_missing": 0}
                yield self._slope(sums, mine.people).row("slope_by_start", **about, unit=UNIT)

    def _gap_row(self, label: str, base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if not self.compared:
            return
        _, total, squares = self.gaps.get(label, np.zeros(3))
        counts = {"n": self.compared, "n_missing": self.people - self.compared, "unit": "points"}
        yield mean_of_sums(total, squares, self.compared).row("unedited_gap", **{**base, **counts})

    def _label_rows(self, label: str, base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        sums, steps = self.labels[label], len(self.values)
        yield from self._gap_row(label, base)
        for name, count in zip(FLIPS, self.flips[label], strict=True):
            yield wilson(float(count), self.people).row(f"flip_{name}", **base, unit="share")
        if sums[-1]:
            slope = self._slope(sums, self.people)
            spacing = float(np.diff(self.values).mean())
            yield slope.row("slope", **base, unit=UNIT)
            per_step = slope.map(lambda end: end * spacing)
            yield per_step.row("slope_per_step", **base, unit="share of the centre's rate per step")
            paper = self._line(sums, self.people)
            yield Estimate(paper[0], p=paper[1]).row("paper_slope", **base, unit=UNIT)
            return
        raw = self._raw(sums, self.people)
        yield raw.row("raw_slope", **base, unit="points", note="nobody gets it at the centre: no normalised slope")
        for step, value in enumerate(self.values):
            rate = wilson(float(sums[:steps][step]), self.people)
            yield rate.row("rate", **base, step=f"{value:+.2g}", unit="share", note="absent at the centre")

    def _refused_rows(self, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if not self.refused[: len(self.values)].any():
            return
        base = {**about, "n": self.refused_people}
        for step, value in enumerate(self.values):
            share = wilson(float(self.refused[step]), self.refused_people)
            yield share.row("refused", **base, step=f"{value:+.2g}", unit="share")
        if self.refused[: len(self.values)].sum() < len(self.values) * self.refused_people:
            slope = self._raw(self.refused, self.refused_people)
            yield slope.row("refusal_slope", **base, unit="points", note="refused per unit of the value")

    def _line(self, sums: np.ndarray, people: int) -> tuple[float, float]:
        """Return slope and the paper's p, from the shares at each step."""
        shares = sums[: len(self.values), None] / people
        centre = int(np.flatnonzero(self.values == 0)[0])
        slope, p = line(self.values, normalised(shares, centre))
        return float(slope[0]), float(p[0])

    def _slope(self, sums: np.ndarray, people: int) -> Estimate:
        """Return the normalised slope; no number where nobody has it at the centre."""
        rise, squares, cross, centre, centres, moved, _ = sums[len(self.values) :]
        low, high = ratio_ends(rise, centre, squares, cross, centres, moved)
        return Estimate(self._line(sums, people)[0], low, high)

    def _raw(self, sums: np.ndarray, people: int) -> Estimate:
        """Return the slope of the share itself."""
        rise, squares = sums[len(self.values) :][:2]
        low, high = ratio_ends(rise, people, squares, rise, people, people)
        return Estimate(float(rise / people), low, high)


def _sums(each: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return sums over people, for each label a column.

    The steps; then the rise, its square and its product with the centre; the centre and its square; how many people have
    either, and how many the centre.
    """
    centre = each[:, int(np.flatnonzero(values == 0)[0])]
    rise = rises(each, values)
    of_rise = [rise, rise**2, rise * centre, centre, centre**2, (rise != 0) | (centre != 0), centre > 0]
    return np.vstack([each.sum(axis=0), *(part.sum(axis=0) for part in of_rise)])


def _add(known: dict[str, np.ndarray], names: list[str], sums: np.ndarray) -> None:
    for place, name in enumerate(names):
        known[name] = known[name] + sums[:, place] if name in known else sums[:, place].astype(float)
