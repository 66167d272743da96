"""How a synset goes with a group at the ground-truth stage: P(group, synset) - P(group) P(synset)."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.stages import Stages


def groups_of_truth(stages: Stages, truth: str, options: Options) -> pl.DataFrame:
    """Return (image, axis, group): the annotation where there is one, else the group words at the truth stage."""
    inside = list(stages.covered(truth))
    if len(stages.people):
        return stages.people.filter(pl.col("image").is_in(inside)).select("image", "axis", "group")
    words = options.word_list("identity").filter(pl.col("part") == "n").select("term", "axis", "group")
    said = stages.at(truth, "object").with_columns(pl.col("word").str.split(" ").list.last().alias("term"))
    return said.join(words, on="term").select("image", "axis", "group").unique()


def covariances(stages: Stages, truth: str, groups: pl.DataFrame) -> pl.DataFrame:
    """Return kind, synset, covariance, its error and group: for each synset the group it goes with most.

    Probabilities are shares of the images the truth covers.
    """
    total = len(stages.covered(truth))
    schema = {
        "kind": pl.String,
        "synset": pl.String,
        "covariance": pl.Float64,
        "error": pl.Float64,
        "group": pl.String,
    }
    if not total or groups.is_empty():
        return pl.DataFrame(schema=schema)
    said = stages.at(truth).select("image", "kind", "synset").drop_nulls().unique()
    joint = said.join(groups, on="image").group_by("kind", "synset", "axis", "group").len("both")
    of_synset = said.group_by("kind", "synset").len("of_synset")
    of_group = groups.group_by("axis", "group").agg(pl.col("image").n_unique().alias("of_group"))
    table = joint.join(of_synset, on=["kind", "synset"]).join(of_group, on=["axis", "group"])
    of_s, of_g = pl.col("of_synset") / total, pl.col("of_group") / total
    # The standard error of the covariance when synset and group are independent.
    error = (of_s * (1 - of_s) * of_g * (1 - of_g) / total).sqrt()
    return (
        table.with_columns((pl.col("both") / total - of_s * of_g).alias("covariance"), error.alias("error"))
        .sort("covariance", "axis", "group", descending=[True, False, False])
        .unique(["kind", "synset"], keep="first", maintain_order=True)
        .select(*schema)
    )
