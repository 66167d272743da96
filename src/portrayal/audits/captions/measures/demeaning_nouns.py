"""Identity adjectives used as nouns, as in 'a female crosses' (Wang et al. 2022, 4.2.4)."""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.technique import UPPER, Count, Outcome, Shares, Steps, Technique
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages

QUANTITY = "any identity adjective used as a noun"
TEST = "identity_adjective_as_noun"


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share of captions for all listed adjectives together and for each that occurs."""
    terms = options.word_list("identity_nouns")["term"].to_list()
    together: dict[str, Shares] = {}
    for stage in filter(stages.has, CAPTIONED):
        said = stages.at(stage, "object").filter(pl.col("word").is_in(terms))
        together[stage] = _shares(stages, stage, QUANTITY, said)
        yield together[stage]
        for word in sorted(said["word"].unique()):  # not in parts: a word's rows are missing where no part has it
            yield partial(_shares, stages, stage, word, said.filter(pl.col("word") == word))
        yield partial(_cases, stage, said)
    yield Count(TEST, together, stages.images, stages.diversity)


def _shares(stages: Stages, stage: str, quantity: str, said: pl.DataFrame) -> Shares:
    compares = UPPER if quantity == QUANTITY else ""
    return Shares.of(quantity, stages, stage, said, bound=UPPER, note=partial(_note, stages), compares=compares)


def _note(stages: Stages, stage: str) -> str:
    return f"the tagger may take an adjective for a noun; {stages.diversity(stage)}"


def _cases(stage: str, said: pl.DataFrame) -> Outcome:
    reason = pl.format("'{}' stands as a noun: the person is reduced to it", "word")
    return TECHNIQUE.cases(QUANTITY, stage, said, tuple=pl.col("word"), reason=reason, within=pl.col("word"))


TECHNIQUE = Technique(
    "demeaning",
    "identity adjectives used as nouns",
    "human or system captions",
    "without captions there are no words to read",
    steps,
    "Wang et al. 2022, section 4.2.4",
)
