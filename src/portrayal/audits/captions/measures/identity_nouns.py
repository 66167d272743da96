"""Demeaning (4): identity adjectives used as nouns, section 4.2.4 of [1]_: 'a female crosses the street'.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from portrayal.audits.captions.measures.compared import compared
from portrayal.audits.captions.measures.diversity import sentence
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import (
    UPPER,
    Outcome,
    Technique,
    by_group,
    cases_table,
    count_tests,
    word_cases,
)
from portrayal.audits.captions.measures.people import shares
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages

QUANTITY = "any identity adjective used as a noun"
TEST = "identity_adjective_as_noun"


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the share of captions for all listed adjectives together and for each that occurs."""
    terms = options.word_list("identity_nouns")["term"].to_list()
    rows, cases = [], []
    by_stage: dict[str, dict[str, float]] = {}
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if not stages.has(stage):
            continue
        said = stages.at(stage, "object").filter(pl.col("word").is_in(terms))
        note = f"the tagger may take an adjective for a noun; {sentence(stages, stage)}"
        for quantity in (QUANTITY, *sorted(said["word"].unique())):
            hits = said if quantity == QUANTITY else said.filter(pl.col("word") == quantity)
            values = shares(stages, stage, hits)
            rows += by_group(TECHNIQUE, quantity, stages, stage, None, values, bound=UPPER, note=note)
            by_stage |= {stage: values} if quantity == QUANTITY else {}
        reason = "'{word}' stands as a noun: the person is reduced to it"
        cases += word_cases(TECHNIQUE, QUANTITY, said, stage, reason)
    rows += count_tests(
        TECHNIQUE, TEST, QUANTITY, None, by_stage, stages.images, options.tolerance, partial(sentence, stages),
        bound=UPPER,
    )  # fmt: skip
    against = compared(TECHNIQUE, QUANTITY, None, by_stage, bound=UPPER)
    return Outcome(rows, cases_table(cases), missing="" if rows else TECHNIQUE.missing, compared=against)


TECHNIQUE = Technique(
    "demeaning",
    "identity adjectives used as nouns",
    "human or system captions",
    "without captions there are no words to read",
    measure,
)
