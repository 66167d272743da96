"""Findings of an associations audit in words, and further tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.associations.published import published_tables
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.stats.decisions.specification import support
from portrayal.study.audit import Finding, Measured, ReportTable
from portrayal.text.formatting import listed, p_value

MEASURES = ("eat", "scweat")
BOUND = 2.0  # of d, for sides of equal size
CHECK = "a check of the instrument that concerns no people"
CHOICES = {"prompt": "with the prompt {!r}", "article": "with the {} article", "without": "without {!r}"}
NAMED = 4  # specifications that do not show a finding, named in its sentence


def findings(measured: Measured, settings: AssociationsSettings) -> list[Finding]:
    """Return the findings of each test; harms stand before checks of the instrument."""
    # d has a bound: an effect beyond it could not have been found, and no sentence may name it.
    possible = pl.when(pl.col("detectable") < BOUND).then(pl.col("detectable"))
    told = replace(measured, results=measured.results.with_columns(detectable=possible))
    said = say(told, {measure: _claim(measured, pairs) for measure, pairs in PAIRS.items()})
    return sorted(said, key=lambda one: not measured.results["harm"][one.row])


def tables(measured: Measured, settings: AssociationsSettings) -> list[ReportTable]:
    """Return how many specifications support each claim, and the stimuli without a vector."""
    shown = []
    if "specifications" in measured.tables:
        shown.append(
            ReportTable(
                "support",
                "How many ways of asking support each claim",
                "A specification supports the claim when its d has the claimed sign and its p is under .05 by itself. "
                "joint_p is the p of the median d over all specifications, whose sides were rearranged together.",
                curves(measured.tables["specifications"]),
            )
        )
    if not measured.tables["missing"].is_empty():
        shown.append(
            ReportTable(
                "missing",
                "Stimuli without a vector",
                "They were left out of the tests; `of` says how many stimuli their set has.",
                measured.tables["missing"],
            )
        )
    return [*shown, *published_tables(measured)]


def curves(specifications: pl.DataFrame) -> pl.DataFrame:
    """Return the specifications of each system and test, those in support, and the joint p."""
    by = ["system", "test"]
    joint = specifications.group_by(by, maintain_order=True).agg(pl.col("joint_p").first())
    return support(specifications, by).join(joint, on=by, maintain_order="left")


def _claim(measured: Measured, pairs: str) -> Claim:
    return Claim(
        positive=lambda row: f"ties {pairs.format(**row)}, {_sign(row)}",
        negative=lambda row: f"ties {pairs.format(**_turned(row))}, against the direction of the test",
        asks=lambda row: f"ties {pairs.format(**row)}",
        several="ties groups to attributes",
        where="{test}",
        after=lambda row: " ".join(filter(None, [_held(measured, row), _missing(measured, row)])),
        figure="d =",
    )


PAIRS: Mapping[str, str] = {
    "eat": "{group} to {attribute} and {versus} to {other_attribute}",
    "scweat": "{group} to {attribute} rather than to {other_attribute}",
}


def _sign(row: Row) -> str:
    return f"a sign of {row['harm']}" if row["harm"] else CHECK


def _turned(row: Row) -> dict[str, Any]:
    return {**row, "attribute": row["other_attribute"], "other_attribute": row["attribute"]}


def _held(measured: Measured, row: Row) -> str:
    """Return in how many specifications it holds, and name those in which it does not."""
    table = measured.tables.get("specifications")
    mine = None if table is None else _of(table, row)
    if mine is None or mine.is_empty():
        return ""
    joint, failing = p_value(mine["joint_p"][0]), mine.filter(~pl.col("supports"))
    held = f"{mine.height - failing.height} of {mine.height} ways of asking show it by themselves"
    named = [_choice(one, mine) for one in failing.head(NAMED).iter_rows(named=True)]
    more = [f"{failing.height - NAMED} more"] if failing.height > NAMED else []
    but = f", but not {listed([*named, *more])}" if named else ""
    return f"{held}{but} (joint test of all: p {joint if joint[0] in '<>' else f'= {joint}'})."


def _choice(one: Mapping[str, Any], all_of_them: pl.DataFrame) -> str:
    """Name what was chosen where specifications differ: "with the prompt 'a [stimulus]'"."""
    made = [
        words.format(one[name])
        for name, words in CHOICES.items()
        if one[name] is not None and one[name] != "all" and all_of_them[name].n_unique() > 1
    ]
    return " ".join(made) or "as the study has it"


def _missing(measured: Measured, row: Row) -> str:
    """Say how many stimuli of which side have no vector."""
    mine = _of(measured.tables["missing"], row)
    sides = mine.group_by("set", maintain_order=True).agg(pl.len(), pl.col("of").first())
    told = [f"{lost} of {of} {side}" for side, lost, of in sides.iter_rows()]
    return f"It has no vector for {listed(told)}." if told else ""


def _of(table: pl.DataFrame, row: Row) -> pl.DataFrame:
    return table.filter(pl.col("system") == row["system"], pl.col("test") == row["test"])
