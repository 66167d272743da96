"""The captions audit: five representational harms in captions, and the stage at which they arise."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.figures import all_charts, report_tables
from portrayal.audits.captions.findings import CLAIMS, find_sentences
from portrayal.audits.captions.inputs import read_inputs
from portrayal.audits.captions.measure import measure
from portrayal.audits.captions.power import say_power
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.audits.captions.stimuli import make_stimuli
from portrayal.study.audit import Audit, Evidence

VALIDITY = (
    "Most figures are upper bounds: they count cases that may be harms. Only people who read the cases can say which are; judged"
    " cases turn the bound into an estimate.",
    "A word stands for its most common sense, but for a list of words that captions mean otherwise: 'couple' lies under 'group' and"
    " 'street' under 'road', and a pitcher is always somebody who throws a ball.",
    "Human labels and captions are taken as ground truth and are themselves incomplete and sometimes harmful.",
    "Groups are what somebody perceived or assigned, not what people would say of themselves; darker skin tone is not the"
    " same as being Black. Each row says who assigned them.",
    "A captioner that names nobody makes no error: neutral wording and omission stand beside every error.",
    "Scene graphs come from a dependency parser; its precision and recall on annotated captions are in docs/captions.md.",
    "Word lists are incomplete and age. Deleting listed words from captions can erase the people who use them of themselves.",
)
FAMILY = tuple(CLAIMS)
NAMES = {
    "people_not_mentioned_difference": "people not mentioned, difference between groups",
    "wrong_group_word_difference": "wrong group word, difference between groups",
    "group_named_difference": "group named, difference between groups",
    "looks_predict_group_term": "looks predict the group term",
    "tuples_difference": "what is said, largest difference between groups",
    "tuples_change_difference": "what is said against the human captions, largest change between groups",
    "object_mention_difference": "depicted objects mentioned, largest difference between groups",
    "demeaning_word": "demeaning words",
    "context_specific_harm": "context-specific harms",
    "identity_adjective_as_noun": "identity adjectives used as nouns",
    "identity_term_imposed": "identity terms imposed",
    "correlated_word_included": "words that go with a group included wrongly",
    "artifacts_lost": "a group's things not recognised",
    "systems_difference": "two systems on the same images",
}


def groups_shown(evidence: Evidence, settings: CaptionsSettings) -> pl.DataFrame:
    """Return the group in each image on every annotated axis; the image is the unit."""
    people: pl.DataFrame = evidence.inputs["people"]
    return people.select(pl.col("image").alias("stimulus"), "axis", "group", pl.col("image").alias("unit"))


AUDIT = Audit(
    stem="captions",
    title="Captions",
    question="Which of five representational harms do captions do, and at which stage do they arise?",
    kind="captioner",
    settings=CaptionsSettings,
    stimuli=make_stimuli,
    measure=measure,
    charts=all_charts,
    findings=find_sentences,
    validity=VALIDITY,
    family=FAMILY,
    groups=groups_shown,
    units="images",
    shows="pictures of people annotated {group}",
    names=NAMES,
    inputs=read_inputs,
    tables=report_tables,
    power=say_power,
    demo=(Path(__file__).parent / "studies" / "captions.toml",),
)
