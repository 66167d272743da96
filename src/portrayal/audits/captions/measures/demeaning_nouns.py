"""Identity adjectives used as nouns, as in 'a female crosses' (Wang et al. 2022, 4.2.4)."""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.technique import UPPER, Count, Difference, Shares, Steps, technique
from portrayal.audits.captions.reading.people import identities_as_nouns
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages

QUANTITY = "any identity adjective used as a noun"
TEST, BETWEEN = "identity_adjective_as_noun", "identity_adjective_as_noun_difference"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share of captions for all listed adjectives together and for each that occurs."""
    together: dict[str, Shares] = {}
    word = pl.col("word")
    about = {
        "tuple": word,
        "within": word,
        "reason": pl.format("'{}' stands as a noun: the person is reduced to it", word),
    }
    for stage in filter(stages.has, CAPTIONED):
        hits = identities_as_nouns(stages, stage, options)
        of = partial(Shares.of, stages=stages, stage=stage, bound=UPPER, note=partial(_note, stages))
        together[stage] = of(QUANTITY, hits=hits, compares=UPPER)
        yield together[stage]
        for term in sorted(hits["word"].unique()):  # not in parts: a word's rows are missing where no part has it
            yield partial(of, term, hits=hits.filter(word == term))
        yield partial(TECHNIQUE.cases, QUANTITY, stage, hits, **about)
    yield Count(TEST, together, stages.images, stages.diversity)
    yield Difference(BETWEEN, together, partial(_note, stages))


def _note(stages: Stages, stage: str) -> str:
    return f"the tagger may take an adjective for a noun; {stages.diversity(stage)}"


TECHNIQUE = technique("demeaning: identity adjectives used as nouns", steps)
