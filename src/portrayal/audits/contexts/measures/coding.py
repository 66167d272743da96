"""Coding of tags in no cluster, and ratings of places (Barlas et al. 2020, Sections 4.1, 4.2, 4.5.1, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.raters import cohen_kappa
from portrayal.tables import REVIEWS
from portrayal.text.words.tag_spelling import normalise

QUESTION = "cluster"


def queue(unknown: pl.DataFrame, most: int = 500) -> pl.DataFrame:
    """Return the unknown tags as Reviews that wait for a judgment."""
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
    parts = pl.col("judgment").str.split(";").list.eval(pl.element().str.strip_chars())
    clusters = parts.list.filter(pl.element() != "").list.sort().list.join(";")
    return judged.with_columns(pl.col("item").map_elements(normalise, return_dtype=pl.String), clusters)


def extend(typology: pl.DataFrame, reviews: pl.DataFrame | None) -> pl.DataFrame:
    """Return the typology, with the clusters that all coders of a tag agree on."""
    judged = decisions(reviews)
    if judged.is_empty():
        return typology
    coders = pl.col("reviewer").fill_null("somebody").unique().sort().str.join(", ")
    agreed = judged.group_by("item").agg(pl.col("judgment").unique(), coders)
    pairs = typology.select("super_cluster", "sub_cluster").unique().rows()
    # A super-cluster's own name stands for itself.
    places = {above: (above, None) for above, _ in pairs} | {below: (above, below) for above, below in pairs if below}
    columns = {name: typology.schema[name] for name in ("tag", "super_cluster", "sub_cluster", "source")}
    added = []
    for tag, choices, who in agreed.filter(pl.col("judgment").list.len() == 1).iter_rows():
        for name in choices[0].split(";"):
            if name not in places:
                known = f"Known: {', '.join(sorted(places))}."
                raise PortrayalError(f"a review puts a tag in {name!r}.{nearest(name, places)} {known}")
            added.append((tag, *places[name], f"coded by {who}"))
    coded = pl.DataFrame(added, columns, orient="row").sort("tag")
    rest = typology.select(*columns).join(coded, on="tag", how="anti", maintain_order="left")
    return pl.concat([rest, coded])


def agreement(reviews: pl.DataFrame | None, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield `coding_agreement` rows: each pair's share of equal decisions and Cohen's kappa."""
    judged = decisions(reviews).drop_nulls("reviewer")
    for first, second in combinations(judged["reviewer"].unique().sort().to_list(), 2):
        both = judged.filter(reviewer=first).join(judged.filter(reviewer=second), on="item")
        if both.is_empty():
            continue
        sides = [both[name].to_list() for name in ("judgment", "judgment_right")]
        choices = sorted({*sides[0], *sides[1]})
        codes = [np.array([choices.index(text) for text in side], float) for side in sides]
        kappa = Estimate(note="not defined: both coders used a single cluster")
        if len(choices) > 1:
            kappa = cohen_kappa(*codes, seed=seed)
        about = {"system": "coders", "group": first, "versus": second, "n": both.height, "counted": "tags"}
        share = wilson(int((codes[0] == codes[1]).sum()), both.height)
        yield share.row("coding_agreement", unit="share", **about)
        yield kappa.row("coding_agreement", unit="Cohen's kappa", **about)
