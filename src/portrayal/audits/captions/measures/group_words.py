"""Beside every harm: whether the group word is right, wrong, left open, or the person not mentioned at all.

A captioner that never names a gender makes no gender error; that is not fairness but omission, so the four
shares stand side by side for every group, and sum to one.
"""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import (
    Outcome,
    Technique,
    by_group,
    cases_table,
    difference_tests,
)
from portrayal.audits.captions.measures.people import people_mentioned, shares
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages

RIGHT, WRONG = "right group word", "wrong group word"
NEUTRAL, OMITTED = "neutral wording", "person not mentioned"
TEST = "wrong_group_word_difference"


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the four shares by group and stage; groups come from the annotation, words from the list."""
    words = options.word_list("gendered")
    rows, cases = [], []
    for axis in sorted(set(words["axis"]) & set(stages.axes())):
        wrong: dict[str, dict[str, float]] = {}
        for stage in filter(stages.has, (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)):
            described = outcomes(stages, stage, axis, words.filter(pl.col("axis") == axis))
            about = set(described["image"])
            for quantity in (RIGHT, WRONG, NEUTRAL, OMITTED):
                flagged = described.filter(pl.col("outcome") == quantity)
                values = {i: v for i, v in shares(stages, stage, flagged).items() if i in about}
                rows += by_group(TECHNIQUE, quantity, stages, stage, None, values, overall=False, axes=[axis])
                wrong |= {stage: values} if quantity == WRONG else {}
            cases += _cases(described, stage)
        rows += difference_tests(
            TECHNIQUE, TEST, WRONG, stages, None, wrong, options.permutations, options.seed, axes=[axis]
        )
    missing = "" if rows else TECHNIQUE.missing
    return Outcome(rows, cases_table(cases), missing=missing)


def outcomes(stages: Stages, stage: str, axis: str, words: pl.DataFrame) -> pl.DataFrame:
    """Return image, caption, text, group and outcome of each caption of a person whose group has words.

    A caption with words of several groups, or of none, leaves the group open.
    """
    groups = sorted(set(words["group"]))
    annotated = stages.people.filter((pl.col("axis") == axis) & pl.col("group").is_in(groups))
    table = stages.captions.filter(pl.col("stage") == stage).join(annotated, on="image")
    lists = {g: words.filter(pl.col("group") == g)["term"].to_list() for g in groups}
    table = table.with_columns(_says(terms).alias(f"says {g}") for g, terms in lists.items())
    own = pl.any_horizontal((pl.col("group") == g) & pl.col(f"says {g}") for g in groups)
    other = pl.any_horizontal((pl.col("group") != g) & pl.col(f"says {g}") for g in groups)
    mentioned = people_mentioned(stages, stage).with_columns(pl.lit(True).alias("mentioned"))
    table = table.join(mentioned, on=["image", "caption"], how="left")
    return table.with_columns(
        pl.when(own & ~other)
        .then(pl.lit(RIGHT))
        .when(other & ~own)
        .then(pl.lit(WRONG))
        .when(own | pl.col("mentioned").fill_null(False))
        .then(pl.lit(NEUTRAL))
        .otherwise(pl.lit(OMITTED))
        .alias("outcome")
    ).select("image", "caption", "text", "group", "outcome")


def _says(terms: list[str]) -> pl.Expr:
    """Whole words of letters and apostrophes, in lower case."""
    choice = "|".join(sorted(terms, key=len, reverse=True))
    return pl.col("text").str.to_lowercase().str.contains(rf"(?:^|[^a-z'])(?:{choice})(?:[^a-z']|$)")


def _cases(described: pl.DataFrame, stage: str) -> list[dict]:
    wrong = described.filter(pl.col("outcome") == WRONG)
    reason = "annotated {}, described with words of another group"
    return [
        TECHNIQUE.case(WRONG, stage, image, number, reason.format(group), group=group)
        for image, number, group in wrong.select("image", "caption", "group").iter_rows()
    ]


TECHNIQUE = Technique(
    "beside every harm",
    "group words",
    "captions, and people annotated on an axis with a word list",
    "without annotated people nothing tells which group word would be right",
    measure,
)
