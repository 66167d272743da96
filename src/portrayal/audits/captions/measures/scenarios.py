"""The three scenarios of a word included wrongly: non-imageable, too specific, hallucinated.

Objects are compared as synsets. Attributes and relations are compared only where they speak of the same object (and
subject), that is where the nouns' Leacock-Chodorow similarity is at least `Options.same_object`. A word more general
than the ground truth's is right, and so is one of the same synset.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.stages import Stages
from portrayal.text import wordnet
from portrayal.text.harm_lists import synsets_of

NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED = "non-imageable", "too specific", "hallucinated"
SCENARIOS = (NON_IMAGEABLE, TOO_SPECIFIC, HALLUCINATED)


def scenarios(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    """Return the mentions of a stage with a column for each scenario, and `scenario`, the first that fits.

    Only images the ground truth covers are judged, and attributes and relations only where any are labelled.
    """
    if options.lists:  # the user's lists are not part of the name
        return _scenarios(stages, stage, truth, options)
    name = (stage, truth, str(options.same_object))
    return stages.once("scenarios", name, lambda _: _scenarios(stages, stage, truth, options))


def _scenarios(stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    said = stages.at(stage).filter(pl.col("image").is_in(list(stages.covered(truth)))).with_row_index("row")
    known = stages.at(truth)
    objects = _compare_objects(said.filter(pl.col("kind") == "object"), known)
    others = [
        _compare_tuples(said.filter(pl.col("kind") == kind), known.filter(pl.col("kind") == kind), options)
        for kind in ("attribute", "relation")
    ]
    table = pl.concat([objects, *others]).join(_non_imageable(said, options), on="row", how="left")
    table = table.with_columns(pl.col(NON_IMAGEABLE).fill_null(False)).sort("row")
    table = _only_judged(table, stages, truth)
    first = pl.coalesce(pl.when(pl.col(name)).then(pl.lit(name)) for name in SCENARIOS)
    return table.with_columns(first.alias("scenario"))


def _only_judged(table: pl.DataFrame, stages: Stages, truth: str) -> pl.DataFrame:
    """Take back what was said to be wrong of a kind that nobody labelled in that image."""
    judged = pl.any_horizontal(
        (pl.col("kind") == kind) & pl.col("image").is_in(list(stages.judges(truth, kind)))
        for kind in ("object", "attribute", "relation")
    )
    return table.with_columns(pl.col(TOO_SPECIFIC) & judged, pl.col(HALLUCINATED) & judged)


def _non_imageable(said: pl.DataFrame, options: Options) -> pl.DataFrame:
    listed = options.word_list("nonimageable")
    nouns = synsets_of(listed, "n")
    adjectives = listed.filter(pl.col("part") == "a")["term"].to_list()
    verbs = options.word_list("visual_verbs")["term"].to_list()
    verb = pl.col("word").str.split(" ").list.first()
    flag = (
        ((pl.col("kind") == "object") & pl.col("synset").is_in(list(nouns)))
        | (
            (pl.col("kind") == "attribute")
            & pl.col("word").is_in(adjectives)
            & pl.col("subject").is_in(_people(said))
        )
        | ((pl.col("kind") == "relation") & ~pl.col("synset").str.ends_with(".prep") & ~verb.is_in(verbs))
    )
    return said.select("row", flag.fill_null(False).alias(NON_IMAGEABLE))


def _people(said: pl.DataFrame) -> list[str]:
    """The list describes people, so its adjectives count for people only: a 'local' bus is imageable enough."""
    from portrayal.audits.captions.measures.people import is_person

    pairs = said.select("subject", "subject_synset").unique().drop_nulls("subject")
    return [word for word, synset in pairs.iter_rows() if is_person(word, synset)]


def _compare_objects(said: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Flag objects under a known synset as too specific, and those beside all known ones as hallucinated."""
    there = known.filter(pl.col("kind") == "object").select("image", "synset").unique()
    same = there.with_columns(pl.lit(True).alias("same"))
    below = _explode(there).rename({"above": "synset"}).unique().with_columns(pl.lit(True).alias("general"))
    above = (
        _explode(said.select("row", "image", "synset"))
        .join(there, left_on=["image", "above"], right_on=["image", "synset"])
        .select("row")
        .unique()
        .with_columns(pl.lit(True).alias("specific"))
    )
    table = said.join(same, on=["image", "synset"], how="left").join(
        below, on=["image", "synset"], how="left"
    )
    table = table.join(above, on="row", how="left")
    right = pl.col("same").fill_null(False) | pl.col("general").fill_null(False)
    specific = ~right & pl.col("specific").fill_null(False)
    return _flagged(table, specific, ~right & ~specific, said.columns)


def _explode(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each synset above; the top of the hierarchy says nothing and is left out."""
    distinct = table["synset"].unique().drop_nulls()
    up = pl.DataFrame(
        {"synset": distinct, "above": [sorted(ancestors(s)) for s in distinct]},
        schema={"synset": pl.String, "above": pl.List(pl.String)},
    )
    return table.join(up.explode("above", empty_as_null=True).drop_nulls(), on="synset").drop("synset")


TOO_HIGH = frozenset(
    [
        "entity.n.01",
        "physical_entity.n.01",
        "object.n.01",
        "whole.n.02",
        "artifact.n.01",
        "abstraction.n.06",
        "matter.n.03",
        "instrumentality.n.03",
        "living_thing.n.01",
        "organism.n.01",
        "causal_agent.n.01",
        "attribute.n.02",
        "unit.n.03",
    ]
)


@lru_cache(maxsize=100_000)
def ancestors(synset: str) -> frozenset[str]:
    """Return the synsets above, without those too high to compare; unknown words have none."""
    if synset.endswith((".unknown", ".prep")):
        return frozenset()
    return wordnet.load().ancestors(synset) - TOO_HIGH


def _compare_tuples(said: pl.DataFrame, known: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Compare attributes and relations that speak of the same nouns; where none of the truth does, all is invented."""
    pairs = said.join(
        known.select(
            "image",
            pl.col("synset").alias("known"),
            pl.col("subject_synset").alias("known_subject"),
            pl.col("object_synset").alias("known_object"),
        ),
        on="image",
    )
    nouns = ["subject_synset", "known_subject", "object_synset", "known_object"]
    pairs = _judged(pairs, nouns, "same", pl.Boolean, lambda *four: about_same(*four, options.same_object))
    pairs = pairs.filter(pl.col("same"))
    judged = _judged(pairs, ["synset", "known"], "how", pl.String, _relation)
    best = judged.group_by("row").agg(
        (pl.col("how") == "right").any().alias("right"), (pl.col("how") == "specific").any().alias("specific")
    )
    table = said.join(best, on="row", how="left")
    right, specific = pl.col("right").fill_null(False), pl.col("specific").fill_null(False)
    return _flagged(table, ~right & specific, ~right & ~specific, said.columns)


def _judged(
    pairs: pl.DataFrame, columns: list[str], name: str, kind: Any, judge: Callable[..., Any]
) -> pl.DataFrame:
    """Add a column judged from others; each distinct combination is judged once."""
    distinct = pairs.select(columns).unique(maintain_order=True)
    judged = pl.Series(name, [judge(*values) for values in distinct.iter_rows()], dtype=kind)
    return pairs.join(distinct.with_columns(judged), on=columns, nulls_equal=True, how="left")


@lru_cache(maxsize=500_000)
def about_same(
    subject: str | None, known_subject: str | None, target: str | None, known_target: str | None, least: float
) -> bool:
    """Say whether two tuples speak of the same nouns."""
    return _same_noun(subject, known_subject, least) and _same_noun(target, known_target, least)


@lru_cache(maxsize=500_000)
def _same_noun(first: str | None, second: str | None, least: float) -> bool:
    if first == second:
        return True
    if first is None or second is None or not (first[-5:-2] == second[-5:-2] == ".n."):
        return False
    if second in ancestors(first) or first in ancestors(second):
        return True
    similar = wordnet.load().similarity(first, second)
    return similar is not None and similar >= least


@lru_cache(maxsize=500_000)
def _relation(word: str, known: str) -> str:
    if word == known or word in ancestors(known):
        return "right"
    if known in ancestors(word) or known in ancestors(_noun_of(word)):  # red is under color as a noun only
        return "specific"
    return "other"


def _noun_of(synset: str) -> str:
    lemma = synset.partition(".")[0]
    found = wordnet.load().synsets(lemma, "n")
    return found[0] if found else synset


def _flagged(table: pl.DataFrame, specific: pl.Expr, invented: pl.Expr, columns: list[str]) -> pl.DataFrame:
    return table.select(*columns, specific.alias(TOO_SPECIFIC), invented.alias(HALLUCINATED))
