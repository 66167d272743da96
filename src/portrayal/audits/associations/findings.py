"""Findings of an associations audit in words, and further tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.associations.measures.declaration import CHECK
from portrayal.audits.associations.published import beside_published
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.shipped import TEXTS, titled
from portrayal.audits.associations.stimulus_sets import first_of
from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.stats.decisions.specification import support
from portrayal.study.audit import Finding, Measured, ReportTable
from portrayal.text.formatting import listed, p_value

PAIRS: Mapping[str, list[str]] = TEXTS[
    "pairs"
]  # what each measure compares, and the same against the direction of the test
MEASURES = tuple(PAIRS)
CHOICES = {"prompt": "with the prompt {!r}", "article": "with the {} article", "without": "without {!r}"}
NAMED, ROOM = 3, 18  # specifications that do not show a finding, named in its sentence, and the words there is room for
AS_IT_IS = "as the study has it"


def is_check(row: Row) -> bool:
    """Tell whether a row checks the instrument: flowers and insects, for example."""
    return bool(row["harm"] == CHECK)


def findings(measured: Measured, settings: AssociationsSettings) -> list[Finding]:
    """Return the findings of each test; harms stand before checks of the instrument."""
    sentences = say(measured, {measure: _claim(measured, *pairs) for measure, pairs in PAIRS.items()})
    return sorted(sentences, key=lambda one: measured.results["harm"][one.row] in (None, CHECK))


def tables(measured: Measured, settings: AssociationsSettings) -> list[ReportTable]:
    """Return the specifications in support, stimuli without a vector, and the published effect sizes."""
    named = {"missing": measured.tables["missing"], "published": beside_published(measured)}
    if "specifications" in measured.tables:
        named = {"support": curves(measured.tables["specifications"]), **named}
    return [ReportTable(name, *titled(name), table) for name, table in named.items() if not table.is_empty()]


def curves(specifications: pl.DataFrame) -> pl.DataFrame:
    """Return the specifications of each system and test, those in support, and the joint p."""
    by = ["system", "test"]
    joint = specifications.group_by(by, maintain_order=True).agg(pl.col("joint_p").first())
    return support(specifications, by).join(joint, on=by, maintain_order="left")


def _claim(measured: Measured, pairs: str, turned: str) -> Claim:
    return Claim(
        positive=f"ties {pairs}",
        negative=f"ties {turned}, against the direction of the test",
        asks=f"ties {pairs}",
        several="ties groups to attributes",
        where="{test}",
        after=lambda row: " ".join(filter(None, [_sign(row), _support(measured, row), _missing(measured, row)])),
        figure="d =",
    )


def _sign(row: Row) -> str:
    """Name the harm that a row in its test's direction shows."""
    if not row["harm"] or row["value"] < (row["null"] or 0.0):
        return ""
    return f"It is {row['harm']} that concerns no people." if is_check(row) else f"It is a sign of {row['harm']}."


def _support(measured: Measured, row: Row) -> str:
    """Return in how many specifications it holds, and name those in which it does not."""
    table = measured.tables.get("specifications")
    mine = None if table is None else table.filter(system=row["system"], test=row["test"])
    if mine is None or mine.is_empty():
        return ""
    joint, failing = p_value(mine["joint_p"][0]), mine.filter(~pl.col("supports")).iter_rows(named=True)
    names = [name for one in failing if (name := _choice(one, mine)) != AS_IT_IS]  # which was found, exactly
    kept = mine.height - len(names)
    holds = (
        f"It holds in {kept or 'none'} of {mine.height} variants tried"
        if names
        else f"It holds in all {kept} variants tried"
    )
    ways = [f", but not {first_of(names, most)}" for most in range(NAMED, 0, -1)] if names and kept else []
    but = next((way for way in ways if len(way.split()) <= ROOM), "")
    return f"{holds}{but} (joint test of all: p {joint if joint[0] in '<>' else f'= {joint}'})."


def _choice(one: Mapping[str, Any], all_of_them: pl.DataFrame) -> str:
    """Name what was chosen where specifications differ: "with the prompt 'a [stimulus]'"."""
    made = [
        words.format(one[name])
        for name, words in CHOICES.items()
        if one[name] is not None and one[name] != "all" and all_of_them[name].n_unique() > 1
    ]
    return " ".join(made) or AS_IT_IS


def _missing(measured: Measured, row: Row) -> str:
    """Say how many stimuli of which side have no vector."""
    mine = measured.tables["missing"].filter(system=row["system"], test=row["test"])
    sides = mine.group_by("set", maintain_order=True).agg(pl.len(), pl.col("of").first())
    lost = [f"{absent} of {of} {side}" for side, absent, of in sides.iter_rows()]
    return f"It has no vector for {listed(lost)}." if lost else ""
