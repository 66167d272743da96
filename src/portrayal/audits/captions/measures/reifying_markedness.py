"""Reifying social groups: whose group is named at all.

The technique is ours; Wang et al. 2022 give only the definition (section 3.2). Among captions that mention a person, how
often does the caption name the group on an axis? A difference between groups shows who is marked and who is the default.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.outcome import Outcome
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import NAMED_BY, identity_terms, people_mentioned, shares
from portrayal.audits.captions.measures.reading.stages import CAPTIONED, Stages
from portrayal.audits.captions.measures.shares import Difference, Shares, ShareTechnique, Steps, read
from portrayal.folds import Known

TEST = "group_named_difference"
WITH_PERSON = "captions that mention a person"


def steps(stages: Stages, options: Options, known: Known) -> Steps:
    """Yield how often each annotated group is named in captions that mention a person, with tests and cases."""
    nameable = set(options.word_list("identity")["axis"])
    for axis in stages.axes():
        named = NAMED_BY.get(axis, axis)
        if named not in nameable:
            continue
        by_stage: dict[str, Shares] = {}
        for stage in filter(stages.has, CAPTIONED):
            hits = _naming(stages, stage, named, options)
            shown = set(people_mentioned(stages, stage)["image"])
            values = {image: share for image, share in shares(stages, stage, hits).items() if image in shown}
            by_stage[stage] = Shares(
                f"{named} named", stage, None, values, WITH_PERSON,
                note=lambda _: "technique of this project", overall=False, axes=[axis],
            )  # fmt: skip
            yield by_stage[stage]
            yield partial(_cases, hits, stage, named)
        yield Difference(TEST, by_stage, subject=named)


def _naming(stages: Stages, stage: str, named: str, options: Options) -> pl.DataFrame:
    """Return the terms of an axis; nouns of gender are the default way to speak of people, and adjectives mark."""
    hits = identity_terms(stages, stage, options).filter(pl.col("axis") == named)
    if named != "gender":
        return hits
    adjectives = options.word_list("identity").filter(pl.col("part") == "a")["term"].to_list()
    return hits.filter(pl.col("term").is_in(adjectives))


def _cases(hits: pl.DataFrame, stage: str, named: str) -> Outcome:
    return read(
        TECHNIQUE.case(f"{named} named", stage, image, number, f"{named} is named", term, group)
        for image, number, term, group in hits.select("image", "caption", "term", "group").iter_rows()
    )


TECHNIQUE = ShareTechnique(
    "reifying",
    "markedness",
    "captions, and annotated people",
    "without annotated people nothing tells whose group is named",
    steps=steps,
    paper="definition: Wang et al. 2022, section 3.2",
)
