"""Judgments by people of tags and places (Barlas et al. 2020, Sections 4.1 to 4.5.1).

Reviews of a place have the questions `gendered` (0 feminine to 10 masculine), `place` (correct, partial or wrong; the
note keeps the rater's words) and `rater_gender`. Reviews of a tag have the question `cluster` (names joined by `;`).
"""

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
from portrayal.text.formatting import plural
from portrayal.text.words.tag_spelling import normalise

QUESTION = "cluster"
QUESTIONS = ("gendered", "place", "rater_gender")
CODES = ("correct", "partial", "wrong")
NEITHER = 5  # of ratings: neither feminine nor masculine


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


def agreement(reviews: pl.DataFrame | None) -> Iterator[dict[str, Any]]:
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
            kappa = cohen_kappa(codes[0], codes[1])
        about = {"system": "coders", "group": first, "versus": second, "n": both.height, "counted": "tags"}
        share = wilson(int((codes[0] == codes[1]).sum()), both.height)
        yield share.row("coding_agreement", unit="share", **about)
        yield kappa.row("coding_agreement", unit="Cohen's kappa", **about)


def ratings(reviews: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield `place_rating` rows (medians, also by rater gender) and `place_named` rows (shares)."""
    for (place,), part in _wide(reviews).sort("item").group_by("item", maintain_order=True):
        about = {"system": "raters", "place": place, "counted": "raters"}
        coded = part.filter(pl.col("place") != "not coded")
        for code in CODES:
            share = wilson(int((coded["place"] == code).sum()), coded.height)
            yield share.row("place_named", unit="share", code=code, n_missing=part.height - coded.height, **about)
        used = part.filter((pl.col("place") != "wrong") & pl.col("score").is_not_null())
        wrong = int((part["place"] == "wrong").sum())
        note = f"without {plural(wrong, 'rater')} who got the place wrong" if wrong else ""
        about |= {"unit": "0 feminine to 10 masculine"}
        lost = part.height - used.height
        yield median(used["score"].to_numpy()).row("place_rating", group=None, n_missing=lost, note=note, **about)
        known = used.drop_nulls("rater_gender").sort("rater_gender")
        for (who,), some in known.group_by("rater_gender", maintain_order=True):
            yield median(some["score"].to_numpy()).row("place_rating", group=who, n_missing=0, **about)


def rating_table(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return one row per place and rater: place, words (their free text), code, rating, rater_gender."""
    words = reviews.filter(pl.col("question") == "place").select("item", "reviewer", words="note")
    wide = _wide(reviews).join(words, on=["item", "reviewer"], how="left", nulls_equal=True)
    table = wide.select("words", "rater_gender", place="item", code="place", rating="score")
    return table.select("place", "words", "code", "rating", "rater_gender").sort("place", "words", "rating")


def _wide(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return one row per place and rater: score, code, the rater's gender."""
    chosen = reviews.filter(pl.col("question").is_in(QUESTIONS) & pl.col("judgment").is_not_null())
    wide = chosen.pivot("question", index=["item", "reviewer"], values="judgment", aggregate_function="first")
    wide = wide.with_columns(pl.lit(None, dtype=pl.String).alias(q) for q in QUESTIONS if q not in wide.columns)
    if strange := sorted(set(wide["place"].drop_nulls()) - set(CODES)):
        raise PortrayalError(f"a place is coded {strange[0]!r}. Expected one of {', '.join(CODES)}.")
    scored = wide.with_columns(pl.col("gendered").cast(pl.Float64, strict=False).alias("score"))
    outside = scored.filter(~pl.col("score").is_between(0, 10))
    if outside.height:
        raise PortrayalError(f"a place is rated {outside['score'][0]}. Expected 0 (feminine) to 10 (masculine).")
    return scored.with_columns(pl.col("place").fill_null("not coded"))


def median(values: np.ndarray, level: float = 0.95) -> Estimate:
    """Return the median and the order statistics that hold it at this level."""
    from scipy import stats

    n = len(values)
    if n == 0:
        return Estimate(n=0)
    values = np.sort(values)
    below = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    ends = (float(values[below - 1]), float(values[n - below])) if below else (np.nan, np.nan)
    return Estimate(float(np.median(values)), *ends, n=n)
