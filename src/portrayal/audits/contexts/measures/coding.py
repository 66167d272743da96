"""Tags nobody has put in a cluster yet: a queue for people, and what their decisions come to.

A decision is a Reviews row: item (the tag), question `cluster`, reviewer, judgment (cluster names, several joined by `;`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.raters.agreement import cohen_kappa
from portrayal.tables import REVIEWS
from portrayal.text.words.tag_spelling import normalise

QUESTION = "cluster"


def queue(unknown: pl.DataFrame, most: int = 500) -> pl.DataFrame:
    """Return the unknown tags (from `unknown_tags`) as Reviews that wait for a judgment, most frequent first."""
    rows = [
        {"item": tag, "question": QUESTION, "reviewer": None, "judgment": None, "note": f"{count} times: {systems}"}
        for tag, count, systems in unknown.head(most).iter_rows()
    ]
    return pl.DataFrame(rows, schema=dict(REVIEWS))


def decisions(reviews: pl.DataFrame | None) -> pl.DataFrame:
    """Return the judged cluster questions, clusters sorted so that their order does not matter."""
    if reviews is None:
        return pl.DataFrame(schema=dict(REVIEWS))
    judged = reviews.filter((pl.col("question") == QUESTION) & pl.col("judgment").is_not_null())
    return judged.with_columns(
        pl.col("item").map_elements(normalise, return_dtype=pl.String),
        pl.col("judgment").map_elements(_sorted, return_dtype=pl.String),
    )


def extend(typology: pl.DataFrame, reviews: pl.DataFrame | None) -> pl.DataFrame:
    """Return the typology with what all coders of a tag agree on in place of what it said; where they differ it stays."""
    judged = decisions(reviews)
    if judged.is_empty():
        return typology
    agreed = judged.group_by("item").agg(
        pl.col("judgment").unique(), pl.col("reviewer").fill_null("somebody").unique().sort().str.join(", ")
    )
    places = _places(typology)
    added = [
        {"tag": tag, "super_cluster": above, "sub_cluster": below, "source": f"coded by {coders}"}
        for tag, choices, coders in agreed.filter(pl.col("judgment").list.len() == 1).iter_rows()
        for above, below in (_place(name, places) for name in choices[0].split(";"))
    ]
    schema = {name: typology.schema[name] for name in ("tag", "super_cluster", "sub_cluster", "source")}
    coded = pl.DataFrame(added, schema=schema).sort("tag")
    kept = typology.select(*schema).join(coded, on="tag", how="anti", maintain_order="left")
    return pl.concat([kept, coded])


def agreement(reviews: pl.DataFrame | None, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield `coding_agreement` rows for each pair of coders: the share of equal decisions, and Cohen's kappa."""
    judged = decisions(reviews).drop_nulls("reviewer")
    coders = judged["reviewer"].unique().sort().to_list()
    for place, first in enumerate(coders):
        for second in coders[place + 1 :]:
            both = judged.filter(reviewer=first).join(judged.filter(reviewer=second), on="item")
            if both.height:
                yield from _pair(first, second, both, seed)


def _pair(first: str, second: str, both: pl.DataFrame, seed: int) -> Iterator[dict[str, Any]]:
    equal = int((both["judgment"] == both["judgment_right"]).sum())
    choices = sorted(set(both["judgment"]) | set(both["judgment_right"]))
    codes = [np.array([choices.index(text) for text in both[side]], float) for side in ("judgment", "judgment_right")]
    about = {"system": "coders", "group": first, "versus": second, "n": both.height, "counted": "tags"}
    share, kappa = wilson(equal, both.height), Estimate(note="not defined: both coders used a single cluster")
    if len(choices) > 1:
        kappa = cohen_kappa(codes[0], codes[1], seed=seed)
    yield share.row("coding_agreement", unit="share", **about)
    yield kappa.row("coding_agreement", unit="Cohen's kappa", **about)


def _sorted(text: str) -> str:
    return ";".join(sorted(part.strip() for part in text.split(";") if part.strip()))


def _places(typology: pl.DataFrame) -> dict[str, tuple[str, str | None]]:
    """Cluster name to (super, sub); a super-cluster's own name stands for itself."""
    pairs = typology.select("super_cluster", "sub_cluster").unique().rows()
    subs = {below: (above, below) for above, below in pairs if below}
    return {**{above: (above, None) for above, _ in pairs}, **subs}


def _place(name: str, places: dict[str, tuple[str, str | None]]) -> tuple[str, str | None]:
    if name not in places:
        raise PortrayalError(
            f"a review puts a tag in {name!r}.{nearest(name, places)} Known: {', '.join(sorted(places))}."
        )
    return places[name]
