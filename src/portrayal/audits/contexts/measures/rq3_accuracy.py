"""RQ3: accuracy of inferred genders in recognised places (Barlas et al. 2020, Section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.audits.contexts.measures.design import Design
from portrayal.audits.contexts.measures.views import BASELINE, Rows, View
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_quantile
from portrayal.stats.intervals.shares import Share, change, clustered_share
from portrayal.text.formatting import percent

LEAST = 0.1  # Table 9 prints NA where fewer places were recognised


def accuracy(view: View, design: Design) -> Rows:
    """Yield `gender_f1`, `gender_f1_change` and `gender_f1_overall` rows."""
    if design.gender not in view.table.columns or not design.describes:
        return
    labelled = view.where(view[design.gender].is_in(list(design.cluster_of))).own
    present = set(labelled[design.gender].unique())
    for cluster, labels in design.genders.items():
        depicted = [label for label in labels if label in present]
        if depicted:
            yield from _of_cluster(labelled, cluster, depicted, design.gender)
    if len(labelled):
        yield _overall(labelled, design)


def f1(answered: View, cluster: str, labels: Sequence[str], gender: str, chosen: np.ndarray | bool = True) -> Share:
    """Return F1 as a ratio of sums over people; NaN without anybody depicted."""
    inferred = answered.inferred(cluster) & chosen
    depicted = answered[gender].is_in(list(labels)).fill_null(False).to_numpy() & chosen
    if not depicted.any():
        return Share(n=0, influence=np.zeros(len(answered.people)))
    hits = answered.counts(2.0 * (inferred & depicted))
    return clustered_share(hits, answered.counts(inferred.astype(float) + depicted))


def _of_cluster(labelled: View, cluster: str, labels: Sequence[str], gender: str) -> Rows:
    name, alone = " or ".join(labels), labelled.alone
    about = {"system": labelled.system, "group": name}

    def unscored(share: Share) -> str:
        return f"NA: no picture of {name} people could be scored" if np.isnan(share.value) else ""

    before = f1(alone.answered, cluster, labels, gender) if len(alone) else None
    if before is not None:
        yield _row("gender_f1", before, unscored(before), alone.answered.count, alone, place=BASELINE, **about)
    for place in labelled.places:
        here, answered = labelled.at[place], labelled.at[place].answered
        seen, count = int((answered.recognised * answered.alike).sum()), answered.count
        after = f1(answered, cluster, labels, gender, answered.recognised)
        note = unscored(after) if count else "NA: no usable answer"
        if count and seen / count < LEAST:
            note = f"NA: the place was recognised in {seen} of {count} pictures, under {percent(LEAST)}"
        yield _row("gender_f1", after, note, seen, here, place=place, **about)
        if before is not None:
            note = note or unscored(before)
            yield _row("gender_f1_change", change(after, before), note, seen, here, place=place, **about)


def _row(measure: str, score: Estimate, note: str, n: int, view: View, **about: str) -> dict[str, Any]:
    (lost, why), score = view.missing, Estimate() if note else score
    return score.row(measure, n=n, n_missing=lost, unit="F1", counted="pictures", note=note or why, **about)


def _overall(labelled: View, design: Design) -> dict[str, Any]:
    placed = len(labelled.placed) > 0
    view = labelled.placed if placed else labelled
    scores = [f1(view.answered, cluster, labels, design.gender) for cluster, labels in design.genders.items()]
    groups = [share for share in scores if not np.isnan(share.value)]
    score, note = (
        _mean_share(groups, len(labelled.people)) if groups else Estimate(),
        f"mean over {len(groups)} depicted groups",
    )
    about = {"system": labelled.system, "place": None if placed else BASELINE, "n": view.answered.count}
    return score.row("gender_f1_overall", n_missing=view.missing[0], unit="F1", counted="pictures", note=note, **about)


def _mean_share(groups: Sequence[Share], people: int) -> Estimate:
    """Return the mean of shares of the same people, with an interval over them."""
    value = float(np.mean([share.value for share in groups]))
    influence = np.mean([share.influence for share in groups], axis=0)
    error = np.sqrt(people / max(people - 1, 1) * np.sum(influence**2))
    if error < 1e-12 or people < 2:
        low, high = np.mean([(share.low, share.high) for share in groups], axis=0).tolist()
        return Estimate(value, low, high)
    half = t_quantile(people - 1) * error
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0))
