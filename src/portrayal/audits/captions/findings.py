"""The captions audit in words: what each test would show, and what the human captions of the same images show beside it."""

from __future__ import annotations

from collections.abc import Mapping
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

PAIR = "{group} against {versus}"
# What the tuples of a quantity are, for readers.
NOUNS = {
    **{stereotyping_tuples.QUANTITIES[kind]: f"{kind}s" for kind in KINDS},
    **{stereotyping_tuples.against(kind): f"{kind}s" for kind in KINDS},
}
MARKS = {"gender": "marks the gender of people annotated {group} with an adjective"}


def find_sentences(measured: Measured, settings: CaptionsSettings) -> list[Finding]:
    """Return the sentences of every test: what was found first, the surest before."""
    if "stage" not in measured.results.columns:
        return []
    beside = partial(_beside, measured.results)
    claims = {
        test: Claim(**{"after": beside, "always_where": "where" in told, **told})  # type: ignore[arg-type]
        for test, told in {**CLAIMS, **DECLARED}.items()
    }
    errors = claims[group_words.TEST]
    both = Claim(**{**vars(errors), "after": lambda row: f"{_openness(measured.results, row)} {beside(row)}"})
    return say(measured, {**claims, group_words.TEST: both}, pl.col("stage") == SYSTEM_CAPTIONS)


def _over(what: str, row: Row) -> str:
    """Say that something occurs in more images than the tolerance; `what` may name the row's columns."""
    return f"{what.format_map(row)} in more than {percent(row['null'], 1)} of images"


def _nouns(row: Row) -> str:
    return NOUNS[row["quantity"]]


def _marks(row: Row) -> str:
    marks = MARKS.get(row["subject"], "names the {subject} of people annotated {group}")
    return f"{marks} more often than that of people annotated {{versus}}".format_map(row)


def _beside(results: pl.DataFrame, row: Row) -> str:
    """Tell what the human captions of the same images show, where they were measured in the same way."""
    same = ("system", "measure", "quantity", "axis", "group", "versus")
    original = results.row(row["row"], named=True)
    human = results.filter(
        pl.col("stage") == HUMAN_SAME, *(pl.col(name).eq_missing(pl.lit(original[name])) for name in same)
    )
    if human.is_empty() or human["value"][0] is None:
        return ""
    found: Row = human.row(0, named=True)
    value, ends = written(other_side(found) if row["group"] != original["group"] else found)
    return f"In the human captions of the same images it is {value} (95% interval {ends})."


def _openness(results: pl.DataFrame, row: Row) -> str:
    """Set neutral wording and omission beside an error: who is never named is never named wrongly."""
    rows = results.filter(
        pl.col("stage") == SYSTEM_CAPTIONS,
        pl.col("technique") == row["technique"],
        pl.col("system") == row["system"],
        pl.col("axis") == row["axis"],
        pl.col("versus").is_null(),
        pl.col("group").is_in([row["group"], row["versus"]]),
    )
    told = []
    for quantity in (group_words.NEUTRAL, group_words.OMITTED):
        mine = rows.filter(pl.col("measure") == quantity).sort("group")
        told.append(
            f"{quantity}: {listed([f'{group} {percent(value, 1)}' for group, value in mine.select('group', 'value').iter_rows()])}"
        )
    return f"Beside it, {'; '.join(told)}."


# What each test of the family would show. These are also the tests that are corrected together.
# Told where a study names the measure in its family.
DECLARED: Mapping[str, Mapping[str, object]] = {
    audit.PAIRED_TEST: {
        "positive": "does more than {against} with the same images ({quantity}, {group})",
        "negative": "does less than {against} with the same images ({quantity}, {group})",
        "asks": "does more or less than another system with the same images",
        "where": "{quantity}, {group}, against {against}",
    }
}
CLAIMS: Mapping[str, Mapping[str, object]] = {
    demeaning_people.TEST: {
        "positive": "leaves out people annotated {group} more often than people annotated {versus}",
        "asks": "leaves out people of some groups more often than of others",
        "where": PAIR,
        "turned": True,
    },
    group_words.TEST: {
        "positive": "uses the wrong group word more often for people annotated {group} than for people annotated {versus}",
        "asks": "uses the wrong group word more often for some groups than for others",
        "where": PAIR,
        "turned": True,
    },
    reifying_markedness.TEST: {
        "positive": _marks,
        "asks": "names the group of some people more often than that of others",
        "where": PAIR,
        "turned": True,
    },
    reifying_looks.TEST: {
        "positive": "uses the term for people annotated {group} by their looks: what they wear and how they look predicts it,"
        " '{subject}' the surest",
        "asks": "uses a group's term by people's looks",
        "where": "{group}",
        "figure": "area under the curve",
    },
    stereotyping_tuples.TEST: {
        "positive": lambda row: (
            f"says '{row['subject']}' more often of people annotated {row['group']} than of people annotated"
            f" {row['versus']}, of all {_nouns(row)} the largest difference"
        ),
        "asks": "speaks of different objects, attributes or relations for different groups",
        "where": lambda row: f"{_nouns(row)} of {PAIR.format_map(row)}",
        "turned": True,
    },
    stereotyping_tuples.CHANGE_TEST: {
        "positive": lambda row: (
            f"shifts '{row['subject']}', against the human captions of the same images, towards people annotated"
            f" {row['group']} and away from people annotated {row['versus']}, of all {_nouns(row)} the largest shift"
        ),
        "asks": "departs from the human captions of the same images more for some groups than for others",
        "where": lambda row: f"{_nouns(row)} of {PAIR.format_map(row)}",
        "turned": True,
    },
    stereotyping_objects.TEST: {
        "positive": "mentions a depicted {subject} more readily with people annotated {group} than with people annotated {versus},"
        " size and place held fixed, of all objects the surest difference",
        "asks": "mentions depicted objects more readily with some groups than with others",
        "where": PAIR,
        "figure": "log odds",
        "turned": True,
    },
    demeaning_words.TEST: {
        "positive": partial(_over, "uses words known to be demeaning"),
        "asks": partial(_over, "uses words known to be demeaning"),
    },
    demeaning_rules.TEST: {
        "positive": partial(_over, "breaks the rule '{subject}' (people annotated {group})"),
        "asks": partial(_over, "breaks a rule of words that demean in context"),
        "where": "'{subject}'",
    },
    demeaning_nouns.TEST: {
        "positive": partial(_over, "uses identity adjectives as nouns"),
        "asks": partial(_over, "uses identity adjectives as nouns"),
    },
    self_identification.TEST: {
        "positive": partial(_over, "uses identity terms that the {truth} do not have"),
        "asks": partial(_over, "uses identity terms that the {truth} do not have"),
    },
    stereotyping_words.TEST: {
        "positive": partial(_over, "includes words that the {truth} do not have and that go with a group ({subject})"),
        "asks": partial(_over, "includes words that the {truth} do not have and that go with a group"),
    },
    erasing.TEST: {
        "positive": "leaves out or generalises things listed for the group {group} more often than other things of the same images",
        "negative": "keeps things listed for the group {group} more often than other things of the same images",
        "asks": "leaves out or generalises a group's things more often than other things of the same images",
        "where": "{group}",
    },
}
