"""Demeaning (3): context-specific harms as rules in a file, section 4.2.3 of [1]_.

A rule names who it is about (an axis and group of the annotation), the words that demean them, and which annotation
stands in for the group. Darker skin tone is not the same as being Black; the rows say so.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

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
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.errors import PortrayalError
from portrayal.settings import Settings, validate
from portrayal.stats.decision import NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.stats.proportions import mean_share
from portrayal.text import wordnet
from portrayal.text.lexicons import FOLDER

QUANTITY = "any context-specific harm"
TEST = "context_specific_harm"
UNLISTED = (".unknown", ".prep")  # words WordNet does not have


class About(Settings):
    """The annotated group a rule is about: all of these axes must have one of their groups."""

    axis: str
    groups: list[str] = Field(min_length=1)


class Rule(Settings):
    """One context-specific harm."""

    name: str = Field(min_length=1)
    about: list[About] = Field(min_length=1)
    words: list[str] = []  # nouns, as lemmas
    under: list[str] = []  # or everything under these synsets
    wrongly: bool = False  # only where the ground truth does not have it
    stand_in: str = Field(min_length=1)  # which annotation stands in for the group, in words
    why: str = ""


class Rules(Settings):
    """A rule file."""

    rules: list[Rule] = Field(min_length=1)


def rules_text(path: Path) -> str:
    """Read a rule file and check it; its text is what a run keeps."""
    try:
        text = path.read_text(encoding="utf-8")
        read_rules(text, path.name)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{path} cannot be read as a rule file: {error}.") from None
    return text


def read_rules(text: str | None = None, name: str = "the rules") -> list[Rule]:
    """Return the rules of a TOML text, or the four rules of the paper."""
    shipped = FOLDER / "caption_rules.toml"
    data = tomllib.loads(shipped.read_text(encoding="utf-8") if text is None else text)
    rules = validate(Rules, data, name).rules
    for rule in rules:
        for synset in rule.under:
            wordnet.load().number(synset)
        if not rule.words and not rule.under:
            raise PortrayalError(f"rule {rule.name!r} has no words. Add `words` or `under`.")
    return rules


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each rule, and for all together, the share of captions of the people it is about."""
    rules = read_rules(options.rules)
    rows, cases, left_out = [], [], []
    by_rule: dict[str, dict[str, dict[str, float]]] = {rule.name: {} for rule in rules}
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if not stages.has(stage) or stages.people.is_empty():
            continue
        kept = [rule for rule in rules if not (rule.wrongly and _unchecked(stages, stage))]
        skipped = [rule for rule in rules if rule not in kept]
        found = {rule.name: _broken(rule, stages, stage) for rule in kept}
        for rule in kept:
            values = _of_people(rule, stages, shares(stages, stage, found[rule.name]))
            by_rule[rule.name][stage] = values
            rows.append(_rule_row(rule, stages, stage, values))
            reason = f"{rule.name} ({rule.stand_in})"
            cases += word_cases(TECHNIQUE, QUANTITY, found[rule.name], stage, reason, rule.name)
        rows += [_left_out_row(rule, stages, stage) for rule in skipped]
        rows += _any_rows(stages, stage, found, skipped)
        left_out += [_left_out(rule, stage) for rule in skipped]
    for rule in rules:
        about = sorted(people_of(rule, stages))
        rows += count_tests(
            TECHNIQUE, TEST, rule.name, _truth(rule, stages), by_rule[rule.name], about, options.tolerance,
            partial(_note, rule, stages), bound=UPPER, group=_group(rule), subject=rule.name,
        )  # fmt: skip
    return Outcome(rows, cases_table(cases), missing="; ".join(left_out) if rows else TECHNIQUE.missing)


def _truth(rule: Rule, stages: Stages) -> str | None:
    """Return what a rule is compared with: nothing, unless it counts only what is wrongly mentioned."""
    return stages.truth() if rule.wrongly else None


def _any_rows(
    stages: Stages, stage: str, found: dict[str, pl.DataFrame], skipped: list[Rule]
) -> list[dict[str, Any]]:
    """Return the rows of all rules together; where some could not be asked, the note names them."""
    if not found:
        return []
    hits = pl.concat([table.select("image", "caption") for table in found.values()])
    values = shares(stages, stage, hits)
    note = "; ".join([*(_left_out(rule, stage) for rule in skipped), sentence(stages, stage)])
    return by_group(TECHNIQUE, QUANTITY, stages, stage, None, values, bound=UPPER, note=note)


def _unchecked(stages: Stages, stage: str) -> bool:
    """Say whether nothing but the stage itself could tell what is wrongly mentioned at it."""
    return stages.truth() in (None, stage)


def _left_out(rule: Rule, stage: str) -> str:
    return f"{rule.name!r} is left out at {stage}: no other stage tells whether it is wrongly mentioned"


def _left_out_row(rule: Rule, stages: Stages, stage: str) -> dict[str, Any]:
    """Return a row without a value, so that a rule nobody could ask does not look like one nobody breaks."""
    nothing = Estimate(
        n=0, n_missing=len(people_of(rule, stages)), unit="share", note=_left_out(rule, stage),
        decision=NOT_MEASURABLE, reason="no other stage tells whether it is wrongly mentioned",
    )  # fmt: skip
    about = {"group": _group(rule), "subject": rule.name, "bound": UPPER, "share_of": "images"}
    return row(TECHNIQUE, rule.name, stage, None, nothing, TEST, **about)


def people_of(rule: Rule, stages: Stages) -> set[str]:
    """Return the images whose person the rule is about."""
    found = set(stages.images)
    for about in rule.about:
        groups = stages.groups(about.axis)
        found &= {image for image, group in groups.items() if group in about.groups}
    return found


def _broken(rule: Rule, stages: Stages, stage: str) -> pl.DataFrame:
    """Return the object mentions that break the rule."""
    said = stages.at(stage, "object").filter(pl.col("image").is_in(list(people_of(rule, stages))))
    words = said.select("word", "synset").unique()
    hits = [word for word, synset in words.iter_rows() if _matches(rule, word, synset)]
    found = said.filter(pl.col("word").is_in(hits))
    truth = stages.truth()
    return _not_there(rule, found, stages.at(truth, "object")) if rule.wrongly and truth else found


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


def _of_people(rule: Rule, stages: Stages, values: dict[str, float]) -> dict[str, float]:
    about = people_of(rule, stages)
    return {image: value for image, value in values.items() if image in about}


def _rule_row(rule: Rule, stages: Stages, stage: str, values: dict[str, float]) -> dict[str, Any]:
    """Return the share of captions of the people a rule is about that break it."""
    missing = len(people_of(rule, stages) - stages.covered(stage))
    found = mean_share(np.array(list(values.values()), dtype=float))
    about = {
        "group": _group(rule),
        "subject": rule.name,
        "bound": UPPER,
        "unit": "share",
        "share_of": "captions",
    }
    return row(
        TECHNIQUE, rule.name, stage, _truth(rule, stages), found,
        n_missing=missing, note=_note(rule, stages, stage), **about,
    )  # fmt: skip


def _note(rule: Rule, stages: Stages, stage: str) -> str:
    return "; ".join(part for part in (rule.stand_in, rule.why, sentence(stages, stage)) if part)


def _group(rule: Rule) -> str:
    return " and ".join(" or ".join(about.groups) for about in rule.about)


TECHNIQUE = Technique(
    "demeaning",
    "context-specific harms",
    "captions, and people annotated on the axes the rules name",
    "without annotated people no rule can tell whom a word is about",
    measure,
)
