"""Share of captions of people that name a group, by a technique of ours."""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.technique import Difference, Shares, Steps, technique
from portrayal.audits.captions.reading.people import NAMED_BY, identity_terms, people_mentioned
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages

TEST = "group_named_difference"
WITH_PERSON = "captions that mention a person"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share of captions naming each annotated group, with tests and cases."""
    listed = options.word_list("identity")
    adjectives = listed.filter(pl.col("part") == "a")["term"].to_list()
    about = {"share_of": WITH_PERSON, "note": "technique of this project", "overall": False}
    for axis in stages.axes():
        named = NAMED_BY.get(axis, axis)
        if named not in set(listed["axis"]):
            continue
        by_stage: dict[str, Shares] = {}
        for stage in filter(stages.has, CAPTIONED):
            hits = identity_terms(stages, stage, options).filter(pl.col("axis") == named)
            if named == "gender":  # nouns of gender are the default way to speak of people, and adjectives mark
                hits = hits.filter(pl.col("term").is_in(adjectives))
            images = set(people_mentioned(stages, stage)["image"])
            by_stage[stage] = Shares.of(f"{named} named", stages, stage, hits, images, axes=[axis], **about)
            yield by_stage[stage]
            reason = pl.lit(f"{named} is named")
            yield partial(TECHNIQUE.cases, f"{named} named", stage, hits, tuple=pl.col("term"), reason=reason)
        yield Difference(TEST, by_stage, subject=named)


TECHNIQUE = technique("reifying: markedness", steps)
