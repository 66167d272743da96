"""Share of captions of people that name a group; the technique is ours.

A difference between groups shows who is marked and who is the default (definition: Wang et al. 2022, section 3.2).
"""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.technique import Difference, Outcome, Shares, Steps, Technique
from portrayal.audits.captions.reading.people import NAMED_BY, identity_terms, people_mentioned
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages

TEST = "group_named_difference"
WITH_PERSON = "captions that mention a person"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share of captions naming each annotated group, with tests and cases."""
    nameable = set(options.word_list("identity")["axis"])
    for axis in stages.axes():
        named = NAMED_BY.get(axis, axis)
        if named not in nameable:
            continue
        by_stage: dict[str, Shares] = {}
        for stage in filter(stages.has, CAPTIONED):
            hits = _naming(stages, stage, named, options)
            shown = set(people_mentioned(stages, stage)["image"])
            by_stage[stage] = Shares.of(
                f"{named} named", stages, stage, hits, among=shown,
                share_of=WITH_PERSON, note="technique of this project", overall=False, axes=[axis],
            )  # fmt: skip
            yield by_stage[stage]
            yield partial(_cases, stage, named, hits)
        yield Difference(TEST, by_stage, subject=named)


def _naming(stages: Stages, stage: str, named: str, options: Options) -> pl.DataFrame:
    """Return the terms of an axis; nouns of gender are the default, adjectives mark."""
    hits = identity_terms(stages, stage, options).filter(pl.col("axis") == named)
    if named != "gender":
        return hits
    adjectives = options.word_list("identity").filter(pl.col("part") == "a")["term"].to_list()
    return hits.filter(pl.col("term").is_in(adjectives))


def _cases(stage: str, named: str, hits: pl.DataFrame) -> Outcome:
    reason = pl.lit(f"{named} is named")
    return TECHNIQUE.cases(f"{named} named", stage, hits, tuple=pl.col("term"), reason=reason)


TECHNIQUE = Technique(
    "reifying",
    "markedness",
    "captions, and annotated people",
    "without annotated people nothing tells whose group is named",
    steps,
)
