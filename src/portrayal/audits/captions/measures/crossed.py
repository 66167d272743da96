"""Groups that two axes make together (Buolamwini, Gebru 2018, Gender shades, FAT*)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.audits.captions.reading.stages import SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.tests.max_t import worst_group
from portrayal.stats.tests.proportions import mean_share, mean_share_difference


def crossings(stages: Stages, axes: Sequence[str] | None = None) -> Mapping[str, Mapping[str, str]]:
    """Return two axes as one, with the group of each image on both ('darker female')."""
    crossed = {}
    for pair in combinations(stages.axes(), 2):
        if axes is None or set(pair).intersection(axes):
            first, second = map(stages.groups, pair)
            crossed[" and ".join(pair)] = {i: f"{second[i]} {group}" for i, group in first.items() if i in second}
    return crossed


def worst_rows(
    row: Callable[..., dict[str, Any]], stages: Stages, test: str, beside: Sequence[tuple[str, Any]], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield each crossed group's share, and the test of the worst against the others."""
    for axis, groups in crossings(stages, beside[0][1].axes).items() if beside else ():
        own: dict[str, Any] = {}
        for stage, shares in beside:  # the system, then people on the same images
            images = [image for image in groups if image in shares.values]
            values = np.array([shares.values[image] for image in images])
            labels = np.array([groups[image] for image in images])
            place, about = (shares.quantity, stage, shares.truth), {"axis": axis, "share_of": shares.share_of}
            about |= {"bound": shares.bound, "n_missing": len(groups) - len(images)}
            if stage == SYSTEM_CAPTIONS:
                names, codes = np.unique(labels, return_inverse=True)
                named = {**about, "unit": "share", "family": EXPLORATORY}
                for group in names.tolist():
                    each = mean_share(values[labels == group])
                    yield row(*place, each, f"{shares.quantity} of crossed groups", group=group, **named)
                worst = worst_group(values, codes, seed)
                own = {"group": str(names[worst.group]), "p": worst.p, "p_floor": worst.floor} if worst else {}
            if own:  # else all do alike, which the tests of either axis say
                mine = labels == own["group"]
                gap = mean_share_difference(values[mine], values[~mine], tested=False)
                about |= own if stage == SYSTEM_CAPTIONS else {"group": own["group"]}
                yield row(*place, gap, test, **about, versus="the others", unit="points")
