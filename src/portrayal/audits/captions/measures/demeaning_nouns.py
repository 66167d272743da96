"""Wang et al. 2022, section 4.2.4: identity adjectives used as nouns, 'a female crosses the street'."""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.outcome import UPPER
from portrayal.audits.captions.measures.reading.diversity import sentence
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import shares
from portrayal.audits.captions.measures.reading.stages import CAPTIONED, Stages
from portrayal.audits.captions.measures.shares import Count, Shares, ShareTechnique, Steps, read
from portrayal.folds import Known

QUANTITY = "any identity adjective used as a noun"
TEST = "identity_adjective_as_noun"


def steps(stages: Stages, options: Options, known: Known) -> Steps:
    """Yield the share of captions for all listed adjectives together and for each that occurs."""
    terms = options.word_list("identity_nouns")["term"].to_list()
    together: dict[str, Shares] = {}
    for stage in filter(stages.has, CAPTIONED):
        said = stages.at(stage, "object").filter(pl.col("word").is_in(terms))
        together[stage] = _shares(stages, stage, QUANTITY, said)
        yield together[stage]
        # A word's rows are missing where no part has it.
        for word in sorted(said["word"].unique()):
            yield partial(_shares, stages, stage, word, said.filter(pl.col("word") == word))
        reason = "'{word}' stands as a noun: the person is reduced to it"
        yield partial(lambda *about: read(TECHNIQUE.word_cases(*about)), QUANTITY, said, stage, reason)
    yield Count(TEST, together, stages.images, partial(sentence, stages))


def _shares(stages: Stages, stage: str, quantity: str, said: pl.DataFrame) -> Shares:
    values = shares(stages, stage, said)
    return Shares(
        quantity,
        stage,
        None,
        values,
        bound=UPPER,
        note=partial(_note, stages),
        compares=UPPER if quantity == QUANTITY else "",
    )


def _note(stages: Stages, stage: str) -> str:
    return f"the tagger may take an adjective for a noun; {sentence(stages, stage)}"


TECHNIQUE = ShareTechnique(
    "demeaning",
    "identity adjectives used as nouns",
    "human or system captions",
    "without captions there are no words to read",
    steps=steps,
    paper="Wang et al. 2022, section 4.2.4",
)
