"""Demeaning (3): context-specific harms as rules in a file, section 4.2.3 of [1]_.

A rule names who it is about (an axis and group of the annotation), the words that demean them, and which annotation
stands in for the group. Darker skin tone is not the same as being Black; the rows say so.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import polars as pl
from pydantic import Field

from portrayal.errors import PortrayalError
from portrayal.language import wordnet
from portrayal.measures.captions.options import Options
from portrayal.measures.captions.outcome import UPPER, Outcome, Technique, by_group, cases_table, word_cases
from portrayal.measures.captions.people import shares
from portrayal.measures.captions.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.study import Settings, validate

QUANTITY = "any context-specific harm"


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


def read_rules(path: Path | None = None) -> list[Rule]:
    """Read a rule file, or the four rules of the paper."""
    source = path or Path(str(files("portrayal.language") / "lexicons" / "caption_rules.toml"))
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{source} cannot be read as a rule file: {error}.") from None
    rules = validate(Rules, data, source.name).rules
    for rule in rules:
        for synset in rule.under:
            wordnet.load().number(synset)
        if not rule.words and not rule.under:
            raise PortrayalError(f"rule {rule.name!r} has no words. Add `words` or `under`.")
    return rules


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each rule, and for all together, the share of captions of the people it is about."""
    rules = read_rules(options.rules)
    rows, cases = [], []
    for stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
        if not stages.has(stage) or stages.people.is_empty():
            continue
        found = {rule.name: _broken(rule, stages, stage) for rule in rules}
        for rule in rules:
            rows += _rule_rows(rule, stages, stage, found[rule.name])
            cases += word_cases(TECHNIQUE.key, found[rule.name], stage, f"{rule.name} ({rule.stand_in})")
        hits = pl.concat([table.select("image", "caption") for table in found.values()])
        rows += by_group(
            TECHNIQUE,
            QUANTITY,
            stages,
            stage,
            stages.truth(),
            shares(stages, stage, hits),
            "share of captions",
            UPPER,
        )
    return Outcome(rows, cases_table(cases), missing="" if rows else TECHNIQUE.missing)


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
    if rule.wrongly and truth is not None and truth != stage:
        there = stages.at(truth, "object")
        matching = [s for w, s in there.select("word", "synset").unique().iter_rows() if _matches(rule, w, s)]
        depicted = there.filter(pl.col("synset").is_in([s for s in matching if s]))["image"].unique()
        found = found.filter(~pl.col("image").is_in(depicted.to_list()))
    return found


def _matches(rule: Rule, word: str, synset: str | None) -> bool:
    if word.split()[-1] in rule.words:
        return True
    if synset is None or synset.endswith((".unknown", ".prep")):
        return False
    return any(wordnet.load().is_a(synset, root) for root in rule.under)


def _rule_rows(rule: Rule, stages: Stages, stage: str, broken: pl.DataFrame) -> list[dict]:
    about = people_of(rule, stages)
    values = {i: v for i, v in shares(stages, stage, broken).items() if i in about}
    only = [image for image in stages.images if image in about]
    inner = Stages(only, stages.mentions, stages.captions)
    note = f"{rule.stand_in}; {rule.why}" if rule.why else rule.stand_in
    rows = by_group(
        TECHNIQUE, rule.name, inner, stage, stages.truth(), values, "share of captions", UPPER, note
    )
    return [{**r, "group": " and ".join("/".join(a.groups) for a in rule.about)} for r in rows]


TECHNIQUE = Technique(
    "demeaning",
    "context-specific harms",
    "captions, and people annotated on the axes the rules name",
    "without annotated people no rule can tell whom a word is about",
    measure,
    QUANTITY,
)
