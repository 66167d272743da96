"""Ratings of the places by people (Barlas et al. 2020, CSCW3, Sections 4.1 and 4.2, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.text.formatting import plural

QUESTIONS = ("gendered", "place", "rater_gender")
CODES = ("correct", "partial", "wrong")
NEITHER = 5  # of ratings: neither feminine nor masculine


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
        about["unit"] = "0 feminine to 10 masculine"
        yield median(used["score"].to_numpy()).row(
            "place_rating", group=None, n_missing=part.height - used.height, note=note, **about
        )
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
