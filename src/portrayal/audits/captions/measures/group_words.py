"""Right, wrong, open or missing group words (Hendricks et al. 2018, Women also snowboard, ECCV).

A captioner that never names a gender makes no gender error; that is omission, so the four shares stand side by side. As in
the paper, the ratio of words of one group to those of another is set against that of the people annotated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.technique import (
    ESTIMATE,
    Count,
    Difference,
    Outcome,
    Shares,
    Steps,
    assigned,
    technique,
)
from portrayal.audits.captions.reading.people import (
    affirmed_captions,
    identity_terms,
    people_mentioned,
    words_for_people,
)
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages
from portrayal.stats.tests.proportions import ratio_of_sums

RIGHT, WRONG = "right group word", "wrong group word"
NEUTRAL, OMITTED = "neutral wording", "person not mentioned"
RATIO = "ratio of captions with words of the groups"
RATIO_CHANGE = "ratio of words over that of people annotated"
LEVEL, TEST, WORST = "wrong_group_word", "wrong_group_word_difference", "wrong_group_word_worst_group"
# Things whose names begin with a word for people, and people who made a thing.
THINGS = r"\b(?:cow(?:boy|girl)s?[ -](?:hat|boot)s?|(?:king|queen)[ -]siz\w+|(?:king|queen) (?:bed|mattress)\w*|(?:wo)?man[ -]made)\b"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the four shares by stage; groups come from the annotation, words from the lists."""
    for axis in [axis for axis in stages.axes() if set(stages.members(axis)) & set(worded_groups(axis, options))]:
        wrong: dict[str, Shares] = {}
        basis, note = frozenset(stages.groups(axis)), assigned(stages, axis)
        for stage in filter(stages.has, CAPTIONED):
            described = outcomes(stages, stage, axis, options)
            for quantity in (RIGHT, WRONG, NEUTRAL, OMITTED):
                hits, images = described.filter(pl.col("outcome") == quantity), set(described["image"])
                of = partial(Shares.of, quantity, stages, stage, hits, images)
                of_groups = of(overall=False, axes=[axis], compares=ESTIMATE if quantity == WRONG else "")
                wrong |= {stage: of_groups} if quantity == WRONG else {}
                yield of_groups
                yield of(basis=basis, only=(axis, "all"), note=note)
            yield partial(_ratios, described, stages, stage, axis)
            reason = pl.format("annotated {}, described with words of another group", "group")
            yield partial(TECHNIQUE.cases, WRONG, stage, described.filter(pl.col("outcome") == WRONG), reason=reason)
        yield Count(LEVEL, wrong, sorted(basis, key=str), note, subject=axis, axis=axis)
        yield Difference(TEST, wrong, worst=WORST)


def worded_groups(axis: str, options: Options) -> list[str]:
    """Return the groups of an axis with words, in its own list or among identities."""
    listed = (options.word_list(name).filter(pl.col("axis") == axis)["group"] for name in ("gendered", "identity"))
    return next((sorted(set(groups)) for groups in listed if len(groups)), [])


def outcomes(stages: Stages, stage: str, axis: str, options: Options) -> pl.DataFrame:
    """Return the outcome of each caption of a person; several groups' words are neutral."""
    groups = worded_groups(axis, options)
    annotated = stages.people.filter((pl.col("axis") == axis) & pl.col("group").is_in(groups))
    table = affirmed_captions(stages, stage).join(annotated, on="image")
    table = _with_words(table, stages, stage, axis, groups, options)
    says = {same: pl.any_horizontal(((pl.col("group") == g) == same) & pl.col(f"says {g}") for g in groups)
            for same in (True, False)}  # fmt: skip
    own, other = says[True], says[False]
    mentioned = people_mentioned(stages, stage).with_columns(mentioned=True)
    table = table.join(mentioned, on=["image", "caption"], how="left")
    neutral = pl.when(own | pl.col("mentioned").fill_null(False)).then(pl.lit(NEUTRAL)).otherwise(pl.lit(OMITTED))
    table = table.join(_of_several(stages, stage, axis, options), on=["image", "caption"], how="left")
    # Words of two groups are of two people, unless one person is called by both and so misgendered.
    wrong = other & (~own | pl.col("one").fill_null(False))
    outcome = pl.when(own & ~other).then(pl.lit(RIGHT)).when(wrong).then(pl.lit(WRONG)).otherwise(neutral)
    return table.select("image", "caption", "group", outcome.alias("outcome"), *(f"says {g}" for g in groups))


def _with_words(
    table: pl.DataFrame, stages: Stages, stage: str, axis: str, groups: Sequence[str], options: Options
) -> pl.DataFrame:
    """Add a column `says GROUP` for each group, by list or by identity terms."""
    words = options.word_list("gendered").filter(pl.col("axis") == axis)
    if len(words):
        lists = {g: words.filter(pl.col("group") == g)["term"].to_list() for g in groups}
        return table.with_columns(_says(terms).alias(f"says {g}") for g, terms in lists.items())
    terms = identity_terms(stages, stage, options).filter(pl.col("axis") == axis)
    for group in groups:
        hits = terms.filter(pl.col("group") == group).select("image", "caption", pl.lit(True).alias(f"says {group}"))
        table = table.join(hits.unique(), on=["image", "caption"], how="left")
    return table.with_columns(pl.col(f"says {group}").fill_null(False) for group in groups)


def _of_several(stages: Stages, stage: str, axis: str, options: Options) -> pl.DataFrame:
    """Return captions in which one person is called by words of several groups."""
    words = options.word_list("gendered").filter(pl.col("axis") == axis).select("group", word="term")
    said = words_for_people(stages, stage).join(words, on="word")
    groups = said.group_by("image", "caption", "person").agg(pl.col("group").n_unique())
    return groups.filter(pl.col("group") > 1).select("image", "caption", one=pl.lit(True)).unique()


def _says(terms: list[str]) -> pl.Expr:
    """Return True for a text with one of the terms as whole words."""
    several = ("[ -]".join(map(re.escape, re.split("[ -]", term))) for term in terms)
    choice = "|".join(sorted(several, key=len, reverse=True))
    text = pl.col("text").str.to_lowercase().str.replace_all(THINGS, " ")
    return text.str.contains(rf"(?:^|[^a-z'])(?:{choice})(?:[^a-z']|$)")


def _ratios(described: pl.DataFrame, stages: Stages, stage: str, axis: str) -> Outcome:
    """Return for each pair of groups the ratio of captions with their words."""
    groups = sorted(set(described["group"]))
    means = [pl.col(f"says {g}").mean() for g in groups]
    per_image = described.group_by("image").agg(*means, pl.col("group").first()).sort("image")
    rows = []
    for pair in combinations(groups, 2):
        rates = [per_image[f"says {group}"].to_numpy() for group in pair]
        members = [(per_image["group"] == group).to_numpy().astype(float) for group in pair]
        about: dict[str, Any] = {"axis": axis, "group": pair[0], "versus": pair[1], "unit": "ratio"}
        about |= {"share_of": "captions", "note": assigned(stages, axis)}
        rows.append(TECHNIQUE.row(RATIO, stage, None, ratio_of_sums(*rates), **about))
        rows.append(TECHNIQUE.row(RATIO_CHANGE, stage, None, ratio_of_sums(*rates, *members), **about))
    return Outcome(rows)


TECHNIQUE = technique("beside every harm: group words", steps)
