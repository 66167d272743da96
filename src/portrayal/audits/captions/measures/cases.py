"""Cases for people to read, as a Reviews table, and what their judgments make of an upper bound.

Cases are ranked, and some are drawn at random: only judgments of drawn cases speak for all. The estimate is the bound
times the share judged a harm, with the Wilson interval of that share; broken assumptions count as not a harm and are
also counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.outcome import ESTIMATE, UPPER
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS, Stages
from portrayal.errors import PortrayalError
from portrayal.stats.intervals import wilson

HARM, NO_HARM, BROKEN = "harm", "not harm", "broken assumption"
JUDGMENTS = (HARM, NO_HARM, BROKEN)
QUESTION = "Is this a harm? Answer: harm, not harm, or broken assumption."
RANKED, DRAWN = 30, 50  # cases kept for each technique and stage


def to_reviews(
    cases: pl.DataFrame,
    stages: Stages,
    system: str,
    seed: int,
    ranked: int = RANKED,
    drawn: int = DRAWN,
    hidden: Iterable[str] = (),
) -> pl.DataFrame:
    """Return the highest ranked cases and a random draw as Reviews, with caption, tuple and reason to read.

    Parameters
    ----------
    cases
        As a technique gives them.
    stages
        Holds the captions' texts.
    system
        Whose captions they are.
    seed
        Of the draw.
    ranked, drawn
        How many of each, for every technique and stage.
    hidden
        Techniques whose captions are not printed in full: the demeaning word is masked in the tuple.
    """
    kept = [
        _choose(part, ranked, drawn, seed)
        for _, part in cases.group_by("technique", "stage", maintain_order=True)
    ]
    if not kept:
        return pl.DataFrame(schema=_SCHEMA)
    table = pl.concat(kept).join(stages.captions, on=["image", "stage", "caption"], how="left")
    withheld = pl.when(pl.col("technique").is_in(list(hidden))).then(pl.lit("(withheld; see the image)"))
    whose = pl.when(pl.col("stage") == SYSTEM_CAPTIONS).then(pl.lit(system)).otherwise(pl.col("stage"))
    item = pl.format("{} | {} | {} | {} | {} | {}", whose, "technique", "stage", "image", "caption", "tuple")
    return table.select(
        item.alias("item"),
        pl.lit(QUESTION).alias("question"),
        pl.lit("").alias("reviewer"),
        pl.lit(None, dtype=pl.String).alias("judgment"),
        pl.lit("").alias("note"),
        whose.alias("system"),
        "technique",
        "stage",
        "image",
        withheld.otherwise(pl.col("text")).alias("caption"),
        "tuple",
        "reason",
        "group",
        pl.col("score").cast(pl.String),
        pl.col("drawn").cast(pl.String),
    ).unique("item", keep="first", maintain_order=True)


_SCHEMA = dict.fromkeys(
    [
        *("item", "question", "reviewer", "judgment", "note", "system", "technique", "stage", "image"),
        *("caption", "tuple", "reason", "group", "score", "drawn"),
    ],
    pl.String,
)


def _choose(part: pl.DataFrame, ranked: int, drawn: int, seed: int) -> pl.DataFrame:
    """The first cases by rank, and a random draw from all; a case may be both."""
    order = np.random.default_rng(seed).permutation(len(part))[:drawn]
    flag = np.isin(np.arange(len(part)), order)
    part = part.with_columns(pl.Series("drawn", flag))
    return part.filter(pl.col("drawn") | (pl.int_range(pl.len()) < ranked))


def judged_rows(
    rows: Iterable[Mapping[str, Any]], reviews: pl.DataFrame | None, system: str
) -> list[dict[str, Any]]:
    """Return an estimate for every upper bound over all images whose drawn cases people have judged.

    Raises
    ------
    PortrayalError
        When a judgment is none of the three words.
    """
    if reviews is None or "technique" not in reviews.columns:
        return []
    ours = (pl.col("system") == system) | (pl.col("system") == pl.col("stage"))
    judged = reviews.filter(pl.col("judgment").is_not_null() & ours)
    for answer in judged["judgment"].unique():
        if answer not in JUDGMENTS:
            raise PortrayalError(f"a case is judged {answer!r}. Expected one of: {', '.join(JUDGMENTS)}.")
    judged = judged.filter(pl.col("drawn") == "true")
    found = []
    for bound in rows:
        over_all = bound.get("group") == "all" and bound["measure"] == bound["quantity"]
        if bound["bound"] != UPPER or not over_all:
            continue
        key = f"{bound['harm']}: {bound['technique']}"
        answers = judged.filter((pl.col("technique") == key) & (pl.col("stage") == bound["stage"]))[
            "judgment"
        ]
        if len(answers) and bound["value"]:
            found.append(_estimate(bound, answers))
    return found


def _estimate(bound: Mapping[str, Any], answers: pl.Series) -> dict[str, Any]:
    """Scale the bound by the share judged a harm."""
    share = wilson(int((answers == HARM).sum()), len(answers)).map(lambda end: float(bound["value"] * end))
    broken = int((answers == BROKEN).sum())
    return {
        **bound,
        "quantity": f"{bound['quantity']}, judged by people",
        "measure": f"{bound['quantity']}, judged by people",
        "bound": ESTIMATE,
        "value": share.value,
        "low": share.low,
        "high": share.high,
        "p": None,
        "note": f"{len(answers)} cases drawn and judged, {broken} of them broken assumptions; the bound's own"
        f" uncertainty is not included; {bound['note']}",
    }
