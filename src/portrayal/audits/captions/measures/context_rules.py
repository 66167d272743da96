"""Demeaning (3): context-specific harms as rules in a file, section 4.2.3 of [1]_.

A rule names who it is about (an axis and group of the annotation), the words that demean them, and which annotation
stands in for the group. Darker skin tone is not the same as being Black; the rows say so.

Where nobody is annotated on an axis, as in Conceptual Captions, the human captions are the ground truth, as in the paper: a rule is
about the people whom they name so, and counts what they do not say themselves.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
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
    row,
    word_cases,
)
from portrayal.audits.captions.measures.people import is_person, shares
from portrayal.audits.captions.measures.rules import Rule, read_rules
from portrayal.audits.captions.measures.self_identification import NAMED_BY, identity_terms
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.proportions import mean_share
from portrayal.text.words import wordnet

QUANTITY = "any context-specific harm"
TEST = "context_specific_harm"
UNLISTED = (".unknown", ".prep")  # words WordNet does not have
BY_WORDS = "nobody is annotated: about people whom the human captions name so, and what these do not say themselves"


@dataclass(frozen=True)
class Asked:
    """A rule as it is asked of a study: about which images, and what it is compared with, if anything."""

    rule: Rule
    people: frozenset[str]  # images whose person the rule is about
    truth: str | None
    by_words: bool = False  # the human captions say whom it is about

    @property
    def name(self) -> str:
        """The rule's name."""
        return self.rule.name

    @property
    def group(self) -> str:
        """Whom the rule is about, in words."""
        return " and ".join(" or ".join(about.groups) for about in self.rule.about)

    def stand_in(self) -> str:
        """Which annotation, or words, stand in for the group."""
        return BY_WORDS if self.by_words else self.rule.stand_in

    def can_be_asked(self, stage: str) -> bool:
        """Say whether a stage can break the rule: what only the stage itself could tell is left out."""
        wrongly = self.rule.wrongly or self.by_words
        return not (wrongly and self.truth in (None, stage))


def asked(rule: Rule, stages: Stages, options: Options) -> Asked:
    """Return a rule with its people: those annotated, or named by the human captions on an axis nobody is annotated on."""
    found, by_words = set(stages.images), False
    for about in rule.about:
        if about.axis in stages.axes() or not stages.has(HUMAN_CAPTIONS):
            groups = stages.groups(about.axis)
            found &= {image for image, group in groups.items() if group in about.groups}
        else:
            by_words = True
            terms = identity_terms(stages, HUMAN_CAPTIONS, options)
            named = (pl.col("axis") == NAMED_BY.get(about.axis, about.axis)) & pl.col("group").is_in(about.groups)
            found &= set(terms.filter(named)["image"])
    truth = HUMAN_CAPTIONS if by_words else stages.truth() if rule.wrongly else None
    return Asked(rule, frozenset(found), truth, by_words)


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each rule, and for all together, the share of captions of the people it is about."""
    rules = [asked(rule, stages, options) for rule in read_rules(options.rules)]
    rows, cases, left_out = [], [], []
    by_rule: dict[str, dict[str, dict[str, float]]] = {rule.name: {} for rule in rules}
    together: dict[str, dict[str, float]] = {}
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if not stages.has(stage) or not (stages.axes() or stages.has(HUMAN_CAPTIONS)):
            continue
        kept = [rule for rule in rules if rule.can_be_asked(stage)]
        # Of a rule whose people the human captions name, these can break nothing, and nothing is missing.
        skipped = [rule for rule in rules if rule not in kept and not rule.by_words]
        found = {rule.name: _broken(rule, stages, stage) for rule in kept}
        for rule in kept:
            values = _of_people(rule, shares(stages, stage, found[rule.name]))
            by_rule[rule.name][stage] = values
            rows.append(_rule_row(rule, stages, stage, values))
            reason = f"{rule.name} ({rule.stand_in()})"
            cases += word_cases(TECHNIQUE, QUANTITY, found[rule.name], stage, reason, rule.name)
        rows += [_left_out_row(rule, stage) for rule in skipped]
        left_out += [_left_out(rule, stage) for rule in skipped]
        if found:
            together[stage] = _any(stages, stage, found)
            rows += _any_rows(stages, stage, together[stage], skipped)
    for rule in rules if stages.axes() or stages.has(HUMAN_CAPTIONS) else ():
        rows += count_tests(
            TECHNIQUE, TEST, rule.name, rule.truth, by_rule[rule.name], sorted(rule.people), options.tolerance,
            partial(_note, rule, stages), bound=UPPER, group=rule.group, subject=rule.name,
        )  # fmt: skip
    missing = "; ".join(left_out) if rows else TECHNIQUE.missing
    against = compared(TECHNIQUE, QUANTITY, None, together, bound=UPPER)
    return Outcome(rows, cases_table(cases), missing=missing, compared=against)


def _any(stages: Stages, stage: str, found: dict[str, pl.DataFrame]) -> dict[str, float]:
    hits = pl.concat([table.select("image", "caption") for table in found.values()])
    return shares(stages, stage, hits)


def _any_rows(stages: Stages, stage: str, values: dict[str, float], skipped: list[Asked]) -> list[dict[str, Any]]:
    """Return the rows of all rules together; where some could not be asked, the note names them."""
    note = "; ".join([*(_left_out(rule, stage) for rule in skipped), sentence(stages, stage)])
    return by_group(TECHNIQUE, QUANTITY, stages, stage, None, values, bound=UPPER, note=note)


def _left_out(rule: Asked, stage: str) -> str:
    return f"{rule.name!r} is left out at {stage}: no other stage tells whether it is wrongly mentioned"


def _left_out_row(rule: Asked, stage: str) -> dict[str, Any]:
    """Return a row without a value, so that a rule nobody could ask does not look like one nobody breaks."""
    nothing = Estimate(
        n=0, n_missing=len(rule.people), unit="share", note=_left_out(rule, stage),
        decision=NOT_MEASURABLE, reason="no other stage tells whether it is wrongly mentioned",
    )  # fmt: skip
    about = {"group": rule.group, "subject": rule.name, "bound": UPPER, "share_of": "images"}
    return row(TECHNIQUE, rule.name, stage, None, nothing, TEST, **about)


def _broken(rule: Asked, stages: Stages, stage: str) -> pl.DataFrame:
    """Return the object mentions that break the rule."""
    said = stages.at(stage, "object").filter(pl.col("image").is_in(list(rule.people)))
    words = said.select("word", "synset").unique()
    hits = [word for word, synset in words.iter_rows() if _matches(rule.rule, word, synset)]
    found = said.filter(pl.col("word").is_in(hits))
    return found if rule.truth is None else _not_there(rule.rule, found, stages.at(rule.truth, "object"))


def _not_there(rule: Rule, found: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
    """Leave out what the truth has: anything the rule matches, or anything of the kind that was said."""
    known: dict[str, set[tuple[str, str | None]]] = {}
    asked = there.filter(pl.col("image").is_in(found["image"].unique().to_list()))
    for image, word, synset in asked.select("image", "word", "synset").iter_rows():
        known.setdefault(image, set()).add((word, synset))
    wrong = [
        not any(_matches(rule, *thing) or _is_a(*thing, synset) for thing in known.get(image, ()))
        for image, synset in found.select("image", "synset").iter_rows()
    ]
    return found.filter(pl.Series(wrong, dtype=pl.Boolean))


def _matches(rule: Rule, word: str, synset: str | None) -> bool:
    return word.split()[-1] in rule.words or any(_is_a(word, synset, root) for root in rule.under)


def _is_a(word: str, synset: str | None, root: str | None) -> bool:
    """Say whether a thing is of a kind; a person is of no kind of animal, whatever WordNet says of `human`."""
    if synset is None or root is None or root.endswith(UNLISTED) or synset.endswith(UNLISTED):
        return False
    if is_person(word, synset) and not is_person("-", root):
        return False
    return wordnet.load().is_a(synset, root)


def _of_people(rule: Asked, values: dict[str, float]) -> dict[str, float]:
    return {image: value for image, value in values.items() if image in rule.people}


def _rule_row(rule: Asked, stages: Stages, stage: str, values: dict[str, float]) -> dict[str, Any]:
    """Return the share of captions of the people a rule is about that break it."""
    missing = len(rule.people - stages.covered(stage))
    found = mean_share(np.array(list(values.values()), dtype=float))
    about = {"group": rule.group, "subject": rule.name, "bound": UPPER, "unit": "share", "share_of": "captions"}
    return row(
        TECHNIQUE, rule.name, stage, rule.truth, found,
        n_missing=missing, note=_note(rule, stages, stage), **about,
    )  # fmt: skip


def _note(rule: Asked, stages: Stages, stage: str) -> str:
    return "; ".join(part for part in (rule.stand_in(), rule.rule.why, sentence(stages, stage)) if part)


TECHNIQUE = Technique(
    "demeaning",
    "context-specific harms",
    "captions, and people annotated on the axes the rules name, or named in human captions",
    "without annotated people or human captions no rule can tell whom a word is about",
    measure,
)
