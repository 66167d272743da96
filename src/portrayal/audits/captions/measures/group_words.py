"""Beside every harm: whether the group word is right, wrong, left open, or the person not mentioned at all.

A captioner that never names a gender makes no gender error; that is not fairness but omission, so the four
shares stand side by side for every group, and sum to one. The words of gender are those of Hendricks et al. [1]_, looked for in
the text; those of other axes are the identity terms said of a person. As there, the error over all groups stands beside them,
and the ratio of captions with words of one group to those with words of another, over that of the people annotated.

References
----------
.. [1] Hendricks, Burns, Saenko, Darrell, Rohrbach (2018), Women also snowboard: overcoming bias in captioning models, ECCV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.compared import Compared, compared
from portrayal.audits.captions.measures.kept_shares import kept
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import Outcome, Technique, by_group, cases_table, difference_tests, row
from portrayal.audits.captions.measures.people import people_mentioned, shares
from portrayal.audits.captions.measures.self_identification import identity_terms
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.stats.tests.proportions import mean_share, ratio_of_sums

RIGHT, WRONG = "right group word", "wrong group word"
NEUTRAL, OMITTED = "neutral wording", "person not mentioned"
RATIO = "ratio of captions with words of the groups"
RATIO_CHANGE = "ratio of words over that of people annotated"
TEST = "wrong_group_word_difference"


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the four shares by group and stage; groups come from the annotation, words from the lists."""
    rows: list[dict[str, Any]] = []
    cases: list[dict] = []
    against: list[Compared] = []
    for axis in worded_axes(stages, options):
        wrong: dict[str, dict[str, float]] = {}
        for stage in filter(stages.has, (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)):
            described = outcomes(stages, stage, axis, options)
            about = set(described["image"])
            for quantity in (RIGHT, WRONG, NEUTRAL, OMITTED):
                flagged = described.filter(pl.col("outcome") == quantity)
                values = {i: v for i, v in shares(stages, stage, flagged).items() if i in about}
                rows += by_group(TECHNIQUE, quantity, stages, stage, None, values, overall=False, axes=[axis])
                rows.append(_overall(stages, stage, axis, quantity, values))
                wrong |= {stage: values} if quantity == WRONG else {}
            rows += _ratios(described, stages, stage, axis)
            cases += _cases(described, stage)
        rows += difference_tests(
            TECHNIQUE, TEST, WRONG, stages, None, wrong, options.permutations, options.seed, axes=[axis]
        )
        against += compared(TECHNIQUE, WRONG, None, wrong, axis=axis)
    missing = "" if rows else TECHNIQUE.missing
    return Outcome(rows, cases_table(cases), missing=missing, compared=against)


def worded_axes(stages: Stages, options: Options) -> list[str]:
    """Return the annotated axes on which an annotated group has words."""
    return [axis for axis in stages.axes() if set(stages.groups(axis).values()) & set(worded_groups(axis, options))]


def worded_groups(axis: str, options: Options) -> list[str]:
    """Return the groups of an axis that have words: of its own list, else among the identity terms."""
    listed = (options.word_list(name).filter(pl.col("axis") == axis)["group"] for name in ("gendered", "identity"))
    return next((sorted(set(groups)) for groups in listed if len(groups)), [])


def outcomes(stages: Stages, stage: str, axis: str, options: Options) -> pl.DataFrame:
    """Return image, caption, group, outcome and `says GROUP` of each caption of a person whose group has words.

    A caption with words of several groups, or of none, leaves the group open.
    """
    groups = worded_groups(axis, options)
    annotated = stages.people.filter((pl.col("axis") == axis) & pl.col("group").is_in(groups))
    table = stages.captions.filter(pl.col("stage") == stage).join(annotated, on="image")
    table = _with_words(table, stages, stage, axis, groups, options)
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
    ).select("image", "caption", "group", "outcome", *(f"says {g}" for g in groups))


def _with_words(
    table: pl.DataFrame, stages: Stages, stage: str, axis: str, groups: Sequence[str], options: Options
) -> pl.DataFrame:
    """Add a column `says GROUP` for each group: from the text on an axis with a list of its own, else from what is said of people."""
    words = options.word_list("gendered").filter(pl.col("axis") == axis)
    if len(words):
        lists = {g: words.filter(pl.col("group") == g)["term"].to_list() for g in groups}
        return table.with_columns(_says(terms).alias(f"says {g}") for g, terms in lists.items())
    terms = identity_terms(stages, stage, options).filter(pl.col("axis") == axis)
    for group in groups:
        said = terms.filter(pl.col("group") == group).select("image", "caption").unique()
        said = said.with_columns(pl.lit(True).alias(f"says {group}"))
        table = table.join(said, on=["image", "caption"], how="left")
    return table.with_columns(pl.col(f"says {group}").fill_null(False) for group in groups)


def _overall(stages: Stages, stage: str, axis: str, quantity: str, values: Mapping[str, float]) -> dict[str, Any]:
    """Return a share over all groups of an axis together."""
    missing = len(set(stages.groups(axis)) - stages.covered(stage))
    about: dict[str, Any] = {"axis": axis, "group": "all", "unit": "share", "share_of": "captions"}
    about |= {"n_missing": missing, "note": f"{axis} assigned by {stages.assigned_by(axis)}"}
    own = np.array(list(values.values()))
    return row(TECHNIQUE, quantity, stage, None, mean_share(own), **about, **kept(own))


def _ratios(described: pl.DataFrame, stages: Stages, stage: str, axis: str) -> list[dict[str, Any]]:
    """Return for each pair of groups how many captions have words of one for each with words of the other."""
    groups = sorted(set(described["group"]))
    means = [pl.col(f"says {g}").mean() for g in groups]
    per_image = described.group_by("image").agg(*means, pl.col("group").first()).sort("image")
    rows = []
    for first, second in combinations(groups, 2):
        said = [per_image[f"says {group}"].to_numpy() for group in (first, second)]
        shown = [(per_image["group"] == group).to_numpy().astype(float) for group in (first, second)]
        about: dict[str, Any] = {"axis": axis, "group": first, "versus": second, "unit": "ratio"}
        about["share_of"] = "captions"
        about["note"] = f"{axis} assigned by {stages.assigned_by(axis)}"
        rows.append(row(TECHNIQUE, RATIO, stage, None, ratio_of_sums(*said), **about))
        rows.append(row(TECHNIQUE, RATIO_CHANGE, stage, None, ratio_of_sums(*said, *shown), **about))
    return rows


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
    "captions, and people annotated on an axis whose groups have words",
    "without annotated people nothing tells which group word would be right",
    measure,
)
