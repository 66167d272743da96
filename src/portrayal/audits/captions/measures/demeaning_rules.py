"""Context-specific harms, as rules in a file (Wang et al. 2022, section 4.2.3).

Where nobody is annotated on an axis, as in Conceptual Captions, a rule is about the people whom the human captions name so, and
counts what these do not say themselves.
"""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl
from pydantic import Field

from portrayal.audits.captions.measures.technique import UPPER, Count, Outcome, Shares, Steps, technique
from portrayal.audits.captions.reading.people import NAMED_BY, identity_terms, is_person
from portrayal.audits.captions.reading.stages import CAPTIONED, HUMAN_CAPTIONS, Options, Stages
from portrayal.edges.sizes import LARGEST_TOML, check_size
from portrayal.errors import PortrayalError
from portrayal.settings import Settings, validate
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.stats.estimate import Estimate
from portrayal.text.captions.senses import UNLISTED
from portrayal.text.lexicons import FOLDER
from portrayal.text.words import wordnet

QUANTITY = "any context-specific harm"
TEST = "context_specific_harm"
_UNTOLD = "no other stage tells whether it is wrongly mentioned"
BY_WORDS = "nobody is annotated: about people whom the human captions name so, and what these do not say themselves"


class About(Settings):
    """An axis and the groups on it that a rule is about."""

    axis: str
    groups: list[str] = Field(min_length=1)


class Rule(Settings):
    """One context-specific harm."""

    name: str = Field(min_length=1)
    about: list[About] = Field(min_length=1)  # all of these axes must have one of their groups
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
        check_size(path, LARGEST_TOML)
        text = path.read_text(encoding="utf-8")
        read_rules(text, path.name)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PortrayalError(f"{path} cannot be read as a rule file: {error}.") from None
    return text


def read_rules(text: str | None = None, name: str = "the rules") -> list[Rule]:
    """Return the rules of a TOML text, or the four rules of the paper."""
    shipped = FOLDER / "caption_rules.toml"
    data = tomllib.loads(shipped.read_text(encoding="utf-8") if text is None else text)
    rules = validate(Rules, data, name).rules
    for rule in rules:
        for synset in rule.under:
            wordnet.load().number(synset)  # refuses one that does not exist
        if not rule.words and not rule.under:
            raise PortrayalError(f"rule {rule.name!r} has no words. Add `words` or `under`.")
    return rules


class Applied(NamedTuple):
    """Rule of one study: its images, and the stage it is compared with."""

    rule: Rule
    name: str
    group: str  # the people the rule is about, in words
    people: frozenset[str]  # images whose person the rule is about
    truth: str | None
    by_words: bool  # the human captions say whom it is about
    stand_in: str  # which annotation, or words, stand in for the group

    def can_break(self, stage: str) -> bool:
        """Return False where only the stage itself could tell."""
        return not ((self.rule.wrongly or self.by_words) and self.truth in (None, stage))

    def left_out(self, stage: str) -> str:
        """Return why a stage cannot break the rule."""
        return f"{self.name!r} is left out at {stage}: {_UNTOLD}"

    def note(self, stages: Stages, stage: str) -> str:
        """Return the stand-in for the group, the reason, and the captions' diversity."""
        return "; ".join(part for part in (self.stand_in, self.rule.why, stages.diversity(stage)) if part)


def apply(rule: Rule, stages: Stages, options: Options) -> Applied:
    """Return a rule with its people: annotated, or named by human captions."""
    people, by_words = set(stages.images), False
    for about in rule.about:
        if about.axis in stages.axes() or not stages.has(HUMAN_CAPTIONS):
            people &= {image for image, group in stages.groups(about.axis).items() if group in about.groups}
        else:
            by_words = True
            named = (pl.col("axis") == NAMED_BY.get(about.axis, about.axis)) & pl.col("group").is_in(about.groups)
            people &= set(identity_terms(stages, HUMAN_CAPTIONS, options).filter(named)["image"])
    truth = HUMAN_CAPTIONS if by_words else stages.truth() if rule.wrongly else None
    group = " and ".join(" or ".join(about.groups) for about in rule.about)
    return Applied(rule, rule.name, group, frozenset(people), truth, by_words, BY_WORDS if by_words else rule.stand_in)


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the share of captions of its people for each rule, and for all together."""
    if not stages.axes() and not stages.has(HUMAN_CAPTIONS):
        return
    rules = [apply(rule, stages, options) for rule in read_rules(options.rules)]
    by_rule: dict[str, dict[str, Shares]] = {rule.name: {} for rule in rules}
    for stage in filter(stages.has, CAPTIONED):
        broken = {rule.name: _broken(rule, stages, stage) for rule in rules if rule.can_break(stage)}
        for rule in (rule for rule in rules if rule.name in broken):
            hits, note = broken[rule.name], partial(rule.note, stages)
            about = {"truth": rule.truth, "basis": rule.people, "only": (None, rule.group), "subject": rule.name}
            of_rule = Shares.of(rule.name, stages, stage, hits, rule.people, bound=UPPER, note=note, **about)
            by_rule[rule.name][stage] = of_rule
            yield of_rule
            reason, within = pl.lit(f"{rule.name} ({rule.stand_in})"), pl.lit(rule.name)
            yield TECHNIQUE.cases(QUANTITY, stage, hits, tuple=pl.col("word"), reason=reason, within=within)
        # Of a rule whose people the human captions name, these can break nothing, and nothing is missing.
        unasked = [rule for rule in rules if rule.name not in broken and not rule.by_words]
        yield from (_left_out(rule, stage) for rule in unasked)
        if broken:
            hits = pl.concat([table.select("image", "caption") for table in broken.values()])
            # Where some could not be asked, the note names them.
            named = "; ".join([*(rule.left_out(stage) for rule in unasked), stages.diversity(stage)])
            yield Shares.of(QUANTITY, stages, stage, hits, bound=UPPER, note=named, compares=UPPER)
    for rule in rules:
        note = partial(rule.note, stages)
        yield Count(TEST, by_rule[rule.name], sorted(rule.people), note, rule.group, subject=rule.name)


def _left_out(rule: Applied, stage: str) -> Outcome:
    """Return a row without a value for a rule that nobody could ask."""
    why = rule.left_out(stage)
    nothing = Estimate(n=0, n_missing=len(rule.people), unit="share", note=why, decision=NOT_MEASURABLE, reason=_UNTOLD)
    about = {"group": rule.group, "subject": rule.name, "bound": UPPER, "share_of": "images"}
    return Outcome([TECHNIQUE.row(rule.name, stage, None, nothing, TEST, **about)], missing=why)


def _broken(rule: Applied, stages: Stages, stage: str) -> pl.DataFrame:
    """Return the object mentions that break the rule."""
    objects = stages.at(stage, "object").filter(pl.col("image").is_in(list(rule.people)))
    words = objects.select("word", "synset").unique().iter_rows()
    hits = [word for word, synset in words if _matches(rule.rule, word, synset)]
    broken = objects.filter(pl.col("word").is_in(hits))
    return broken if rule.truth is None else _not_there(rule.rule, broken, stages.at(rule.truth, "object"))


def _not_there(rule: Rule, broken: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
    """Drop mentions that the truth has, by the rule or by their kind."""
    known: dict[str, set[tuple[str, str | None]]] = {}
    there = there.filter(pl.col("image").is_in(broken["image"].unique().to_list()))
    for image, word, synset in there.select("image", "word", "synset").iter_rows():
        known.setdefault(image, set()).add((word, synset))
    wrong = [
        not any(_matches(rule, *thing) or _is_a(*thing, synset) for thing in known.get(image, ()))
        for image, synset in broken.select("image", "synset").iter_rows()
    ]
    return broken.filter(pl.Series(wrong, dtype=pl.Boolean))


def _matches(rule: Rule, word: str, synset: str | None) -> bool:
    return word.split()[-1] in rule.words or any(_is_a(word, synset, root) for root in rule.under)


def _is_a(word: str, synset: str | None, root: str | None) -> bool:
    """Return True if a thing is of a kind; people are no animals."""
    if synset is None or root is None or root.endswith(UNLISTED) or synset.endswith(UNLISTED):
        return False
    if is_person(word, synset) and not is_person("-", root):
        return False
    return wordnet.load().is_a(synset, root)


TECHNIQUE = technique("demeaning: context-specific harms", steps)
