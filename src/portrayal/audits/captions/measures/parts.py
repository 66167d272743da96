"""Captions measured part by part: the rows that are means over images, joined over parts of the images.

Each part is a `Stages` of its own images. What a row says of a part is kept as the distinct values of its images and how many have
each; those add up, and from the sums come the same mean, interval and difference as of all images at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures import (
    demeaning_words,
    erasing,
    group_words,
    identity_nouns,
    people_mentioned,
    reifying,
    self_identification,
    words_included,
)
from portrayal.audits.captions.measures.all_parts import collecting, using_all
from portrayal.audits.captions.measures.erasing_people import anybody_annotated
from portrayal.audits.captions.measures.kept_shares import ALONE, SHARES, keeping
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import FACETS, ROWS, Technique
from portrayal.audits.captions.measures.scenarios import SCENARIOS, people_said
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, HUMAN_SAME, LABELS, SYSTEM_CAPTIONS, Stages
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import over_tolerance
from portrayal.stats.tests.proportions import mean_share, mean_share_difference

# Techniques whose rows are means over images, each image's value its own.
SUMS: dict[str, Technique] = {
    technique.key: technique
    for technique in (
        words_included.TECHNIQUE,
        demeaning_words.TECHNIQUE,
        people_mentioned.TECHNIQUE,
        identity_nouns.TECHNIQUE,
        erasing.TECHNIQUE,
        self_identification.TECHNIQUE,
        reifying.MARKED,
        group_words.TECHNIQUE,
    )
}
# A row for each word that occurs is missing where none does; the row of all words together is there always. Which words go
# with a group is known of all images together.
_ONLY = {
    identity_nouns.TECHNIQUE.key: {identity_nouns.QUANTITY},
    words_included.TECHNIQUE.key: {words_included.ANY, *(f"{name} word" for name in SCENARIOS)},
}
# Those that decide over all images which words mean things or people: their parts are read twice.
_TWICE = (words_included.TECHNIQUE.key, erasing.TECHNIQUE.key)
_KEY = ("measure", *FACETS, "group")
Name = tuple[str | None, ...]


def measure_parts(parts: Callable[[], Iterable[Stages]], options: Options, names: Sequence[str] = ()) -> pl.DataFrame:
    """Return the rows of the techniques that are sums (all of `SUMS` by default), over all parts.

    A part may lack a stage that others have: its `known` are the stages of all parts. Notes of a part (how diverse its
    captions are) are left out, and so are tests that permute images over groups.
    """
    joined: dict[Name, dict[str, Any]] = {}
    with collecting() as known:
        for stages in parts() if set(names or SUMS) & set(_TWICE) else ():
            _collect(stages, options)
    with using_all(known):
        for stages in parts():
            for row in _rows(stages, options, names):
                _add(joined, row)
    rows = list(_estimates(joined.values(), options))
    return pl.DataFrame([{name: row.get(name) for name in ROWS} for row in rows], schema=ROWS)


def _collect(stages: Stages, options: Options) -> None:
    """Ask a part what is decided over all of them: who is a person, what is a thing, and whether anybody is annotated."""
    truth = stages.truth()
    anybody_annotated(stages)
    if truth is None:
        return
    erasing.things_there(stages, truth, options)
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if stages.has(stage) and stage != truth:
            people_said(stages, stage, truth)


def _rows(stages: Stages, options: Options, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a part that can be joined."""
    with keeping():
        for key in names or SUMS:
            if key not in SUMS:
                raise PortrayalError(f"{key!r} is no sum over images. Known: {', '.join(SUMS)}.")
            for row in SUMS[key].measure(stages, options).rows:
                if SHARES in row and _is_sum(key, row):
                    yield row


def _is_sum(key: str, row: Mapping[str, Any]) -> bool:
    """Say whether a row is there in every part; which terms labels could have named hangs on all labels together."""
    if row["stage"] == HUMAN_SAME or row["quantity"] not in _ONLY.get(key, {row["quantity"]}):
        return False
    return key != self_identification.TECHNIQUE.key or row["truth"] not in LABELS


def _add(joined: dict[Name, dict[str, Any]], row: Mapping[str, Any]) -> None:
    name = tuple(row.get(column) for column in _KEY)
    known = joined.setdefault(name, {**row, "n_missing": 0, "note": "", SHARES: Counter()})
    known["n_missing"] += row["n_missing"]
    known[SHARES].update(row[SHARES])


def _estimates(rows: Iterable[Mapping[str, Any]], options: Options) -> Iterator[dict[str, Any]]:
    """Yield the rows with their estimates worked out anew, and the differences between the groups of an axis."""
    groups: dict[Name, list[Mapping[str, Any]]] = {}
    for row in rows:
        values = _values(row)
        if row["measure"] != row["quantity"]:
            found = over_tolerance(int(values.sum()), len(values), options.tolerance)
            why = {} if len(values) else {"decision": row["decision"], "reason": row["reason"]}
            yield _with(row, found, unit="share", **why)
            continue
        yield _with(row, mean_share(values), unit="share")
        if row.get("axis") and row["group"] != "all" and not row[ALONE]:
            groups.setdefault(tuple(row.get(column) for column in _KEY[:-1]), []).append(row)
    for members in groups.values():
        yield from _pairs(sorted(members, key=lambda row: row["group"]))


def _pairs(members: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for first, second in combinations(members, 2):
        gap = mean_share_difference(_values(first), _values(second), tested=False)
        missing = first["n_missing"] + second["n_missing"]
        about = {"versus": second["group"], "n_missing": missing, "unit": "points"}
        yield _with(first, replace(gap, p=np.nan, p_floor=np.nan), **about)


def _with(row: Mapping[str, Any], found: Any, **columns: Any) -> dict[str, Any]:
    own = {"n_missing": row["n_missing"], "counted": "images", "note": ""}
    return {**row, **found.columns(), **own, **columns}


def _values(row: Mapping[str, Any]) -> np.ndarray:
    """Return the values of a row's images, smallest first."""
    shares = sorted(row[SHARES].items())
    return np.repeat([float(value) for value, _ in shares], [count for _, count in shares])
