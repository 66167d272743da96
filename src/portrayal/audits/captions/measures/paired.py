"""Systems compared on the same images: what one does less what another does, image by image.

One row for each pair of systems, quantity and group. These are outside the declared family unless a study names the measure
in `[family] measures`: with many systems there are many pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.audits.captions.measures.compared import Compared
from portrayal.audits.captions.measures.outcome import row
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.paired import paired_difference

TEST = "systems_difference"
NOTE = "the same images under both; signs of the images' differences flipped, which is McNemar's exact test with one caption each"
Values = Mapping[str, Sequence[Compared]]  # by system


def paired_rows(values: Values, stages: Stages, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of every pair of systems, with the columns of ROWS and `system`."""
    for first, second in combinations(sorted(values), 2):
        others = {(one.technique.key, one.quantity, one.axis): one for one in values[second]}
        for one in values[first]:
            other = others.get((one.technique.key, one.quantity, one.axis))
            if other is not None:
                yield from _of_quantity(one, other, stages, first, second, seed)


def _of_quantity(
    one: Compared, other: Compared, stages: Stages, first: str, second: str, seed: int
) -> Iterator[dict[str, Any]]:
    both = sorted(one.values.keys() & other.values.keys())
    missing = len(one.values.keys() ^ other.values.keys())
    for axis, group, images in [(one.axis, "all", both), *_groups(stages, both, one.axis)]:
        mine, theirs = (np.array([side.values[image] for image in images]) for side in (one, other))
        found = paired_difference(mine, theirs, seed)
        about = {"axis": axis, "group": group, "against": second, "n_missing": missing if group == "all" else None}
        about |= {"unit": "points", "share_of": "captions", "note": NOTE, "bound": one.bound, "family": None}
        told = row(one.technique, one.quantity, SYSTEM_CAPTIONS, one.truth, found, TEST, **about)
        yield {**told, "system": first}


def _groups(stages: Stages, images: Sequence[str], only: str | None) -> Iterator[tuple[str, str, list[str]]]:
    for axis in [only] if only else stages.axes():
        groups = stages.groups(axis)
        for group in sorted({groups[image] for image in images if image in groups}):
            yield axis, group, [image for image in images if groups.get(image) == group]
