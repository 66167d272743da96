"""Sentences of the captions audit, one for each test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import polars as pl

from portrayal.audits.captions.measures import (
    audit,
    demeaning_nouns,
    demeaning_people,
    demeaning_rules,
    demeaning_words,
    erasing,
    group_words,
    reifying_looks,
    reifying_markedness,
    self_identification,
    stereotyping_objects,
    stereotyping_tuples,
    stereotyping_words,
)
from portrayal.audits.captions.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS
from portrayal.audits.captions.reading.tuple_counts import KINDS
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.reporting.words.sentences import Claim, Row, other_side, say, written
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed, percent

# What the tuples of a quantity are, for readers.
NOUNS = {
    **{stereotyping_tuples.QUANTITIES[kind]: f"{kind}s" for kind in KINDS},
    **{stereotyping_tuples.against(kind): f"{kind}s" for kind in KINDS},
}
MARKS = {"gender": "marks the gender of people annotated {group} with an adjective"}


def find_sentences(measured: Measured, settings: CaptionsSettings) -> list[Finding]:
    """Return the sentences of every test, findings first and the surest before."""
    if "stage" not in measured.results.columns:
        return []
    beside = partial(_beside, measured.results)
    after = {group_words.TEST: lambda row: f"{_openness(measured.results, row)} {beside(row)}"}
    claims = {
        test: replace(claim, after=after.get(test, beside), always_where=claim.where is not None)
        for test, claim in {**CLAIMS, **DECLARED}.items()
    }
    return say(measured, claims, pl.col("stage") == SYSTEM_CAPTIONS)


def _over(what: str, row: Row) -> str:
    """Return that something occurs in more images than the tolerance; `what` may name columns."""
    return f"{what.format_map(row)} in more than {percent(row['null'], 1)} of images"


def _nouns(row: Row) -> str:
    return NOUNS[row["quantity"]]


def _marks(row: Row) -> str:
    marks = MARKS.get(row["subject"], "names the {subject} of people annotated {group}")
    return f"{marks} more often than that of people annotated {{versus}}".format_map(row)


def _beside(results: pl.DataFrame, row: Row) -> str:
    """Return a sentence on the human captions of the same images, if measured alike."""
    same = ("system", "measure", "quantity", "axis", "group", "versus")
    original = results.row(row["row"], named=True)
    human = results.filter(
        pl.col("stage") == HUMAN_SAME, *(pl.col(name).eq_missing(pl.lit(original[name])) for name in same)
    )
    if human.is_empty() or human["value"][0] is None:
        return ""
    theirs: Row = human.row(0, named=True)
    value, ends = written(other_side(theirs) if row["group"] != original["group"] else theirs)
    return f"In the human captions of the same images it is {value} (95% interval {ends})."


def _openness(results: pl.DataFrame, row: Row) -> str:
    """Return neutral wording and omission, because a group never named is never named wrongly."""
    rows = results.filter(
        pl.col("stage") == SYSTEM_CAPTIONS,
        pl.col("technique") == row["technique"],
        pl.col("system") == row["system"],
        pl.col("axis") == row["axis"],
        pl.col("versus").is_null(),
        pl.col("group").is_in([row["group"], row["versus"]]),
    )
    parts = []
    for quantity in (group_words.NEUTRAL, group_words.OMITTED):
        mine = rows.filter(pl.col("measure") == quantity).sort("group").select("group", "value")
        parts.append(f"{quantity}: {listed([f'{group} {percent(value, 1)}' for group, value in mine.iter_rows()])}")
    return f"Beside it, {'; '.join(parts)}."


def _count(positive: str, asks: str = "", where: str | None = None) -> Claim:
    """Return the claim of a count of images, against the tolerance."""
    return Claim(partial(_over, positive), partial(_over, asks or positive), where=where)


_pair = partial(Claim, where="{group} against {versus}", turned=True)
_tuples = partial(Claim, where=lambda row: f"{_nouns(row)} of {row['group']} against {row['versus']}", turned=True)
# Told where a study names the measure in its family.
DECLARED: Mapping[str, Claim] = {
    audit.PAIRED_TEST: Claim(
        "does more than {against} with the same images ({quantity}, {group})",
        "does more or less than another system with the same images",
        negative="does less than {against} with the same images ({quantity}, {group})",
        where="{quantity}, {group}, against {against}",
    )
}
# What each test of the family would show. These are also the tests that are corrected together.
CLAIMS: Mapping[str, Claim] = {
    demeaning_people.TEST: _pair(
        "leaves out people annotated {group} more often than people annotated {versus}",
        "leaves out people of some groups more often than of others",
    ),
    group_words.TEST: _pair(
        "uses the wrong group word more often for people annotated {group} than for people annotated {versus}",
        "uses the wrong group word more often for some groups than for others",
    ),
    reifying_markedness.TEST: _pair(_marks, "names the group of some people more often than that of others"),
    reifying_looks.TEST: Claim(
        "uses the term for people annotated {group} by their looks: what they wear and how they look predicts it,"
        " '{subject}' the surest",
        "uses a group's term by people's looks",
        where="{group}",
        figure="area under the curve",
    ),
    stereotyping_tuples.TEST: _tuples(
        lambda row: (
            f"says '{row['subject']}' more often of people annotated {row['group']} than of people annotated"
            f" {row['versus']}, of all {_nouns(row)} the largest difference"
        ),
        "speaks of different objects, attributes or relations for different groups",
    ),
    stereotyping_tuples.CHANGE_TEST: _tuples(
        lambda row: (
            f"shifts '{row['subject']}', against the human captions of the same images, towards people annotated"
            f" {row['group']} and away from people annotated {row['versus']}, of all {_nouns(row)} the largest shift"
        ),
        "departs from the human captions of the same images more for some groups than for others",
    ),
    stereotyping_objects.TEST: _pair(
        "mentions a depicted {subject} more readily with people annotated {group} than with people annotated {versus},"
        " size and place held fixed, of all objects the surest difference",
        "mentions depicted objects more readily with some groups than with others",
        figure="log odds",
    ),
    demeaning_words.TEST: _count("uses words known to be demeaning"),
    demeaning_rules.TEST: _count(
        "breaks the rule '{subject}' (people annotated {group})",
        "breaks a rule of words that demean in context",
        where="'{subject}'",
    ),
    demeaning_nouns.TEST: _count("uses identity adjectives as nouns"),
    self_identification.TEST: _count("uses identity terms that the {truth} do not have"),
    stereotyping_words.TEST: _count(
        "includes words that the {truth} do not have and that go with a group ({subject})",
        "includes words that the {truth} do not have and that go with a group",
    ),
    erasing.TEST: Claim(
        "leaves out or generalises things listed for the group {group} more often than other things of the same images",
        "leaves out or generalises a group's things more often than other things of the same images",
        negative="keeps things listed for the group {group} more often than other things of the same images",
        where="{group}",
    ),
}
