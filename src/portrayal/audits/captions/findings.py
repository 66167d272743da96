"""The captions audit in words: findings with the mitigation of section 5.2, and the tables to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.audit import measure_name
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS, mitigation, where_it_arises
from portrayal.audits.captions.measures.techniques import TECHNIQUES
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.report.words import number, percent
from portrayal.runs.audit import Finding, Measured, ReportTable

# Shares over all images that are findings when their interval lies above chance.
SHARES = {
    measure_name(*parts): what
    for parts, what in (
        (
            ("demeaning", "context-specific harms", "any context-specific harm"),
            "use a word that demeans the person in this context",
        ),
        (
            ("demeaning", "identity adjectives used as nouns", "any identity adjective used as a noun"),
            "reduce a person to an adjective",
        ),
        (("demeaning", "demeaning words", "demeaning word"), "use a word known to be demeaning"),
        (
            ("denying self-identification", "identity terms imposed", "identity term imposed on any axis"),
            "impose an identity the human captions do not have",
        ),
        (
            ("stereotyping", "words included wrongly", "word correlated with a group included wrongly"),
            "include a word that is not there and goes with a group",
        ),
        (
            (
                "erasing",
                "artifacts not recognised",
                "not recognised, beyond other objects of the same images",
            ),
            "do not recognise a group's artifacts, beyond what they leave out of other things",
        ),
    )
}
FLOOR = 0.005
MOST_ROWS = 60  # of each system in a table of the report
# The techniques' own tables: title and what to know of it.
SHOWN = {
    "faults": (
        "Captions and boxes that are not as they should be",
        "Counted and named; the first image of each.",
    ),
    "objects": (
        "Objects correctly mentioned",
        "Ranked by test accuracy; the interval over splits is the paper's and too narrow.",
    ),
    "tuples": (
        "Tuples that differ most between groups",
        "Shares of captions that mention a person, Holm-corrected.",
    ),
    "looks": ("What goes with the group term", "Log odds of the term for each visible characteristic."),
    "overlaps": ("How the scenarios of wrong inclusions overlap", "A case is counted once, in this order."),
}


def find_sentences(measured: Measured, settings: CaptionsSettings) -> list[Finding]:
    """Return a sentence for each finding: who is harmed, how much, where it can have arisen, what may be done."""
    table = measured.results.with_row_index("row")
    found = [*_omissions(table), *_shares(table), *_errors(table), *_differences(table), *_stereotypes(table)]
    found.sort(key=lambda finding: -_size(measured.results, finding.row))
    with_findings = {measured.results["system"][finding.row] for finding in found}
    return [*found, *_nothing(table, with_findings)]


def _size(results: pl.DataFrame, row: int) -> float:
    return abs(results["value"][row] or 0.0)


def _at_system(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("note").str.starts_with(SYSTEM_CAPTIONS))


def _omissions(table: pl.DataFrame) -> Iterator[Finding]:
    measure = measure_name("demeaning", "people not mentioned", "person not mentioned")
    for r in _significant(_at_system(table), measure):
        said = _more_often(r, "leaves out people annotated {more} more often than people annotated {less}")
        yield Finding(f"{said} {_advice(r)}", r["row"])


def _errors(table: pl.DataFrame) -> Iterator[Finding]:
    measure = measure_name("beside every harm", "group words", "wrong group word")
    what = "uses the wrong group word more often for people annotated {more} than for people annotated {less}"
    for r in _significant(_at_system(table), measure):
        yield Finding(f"{_more_often(r, what)} {_silence(table, r['system'])} {_advice(r)}", r["row"])


def _silence(table: pl.DataFrame, system: str) -> str:
    """Neutral wording and omission beside the error."""
    parts = []
    for quantity in ("neutral wording", "person not mentioned"):
        measure = measure_name("beside every harm", "group words", quantity)
        rows = _at_system(table).filter(
            (pl.col("measure") == measure) & (pl.col("system") == system) & pl.col("contrast").is_null()
        )
        figures = ", ".join(
            f"{group.partition(': ')[2]} {percent(value, 1)}"
            for group, value in rows.select("group", "value").iter_rows()
        )
        parts.append(f"{quantity}: {figures}")
    return f"Beside it, {'; '.join(parts)}."


def _differences(table: pl.DataFrame) -> Iterator[Finding]:
    for measure, what in (
        (measure_name("reifying", "markedness", "race named"), "names the race"),
        (measure_name("reifying", "markedness", "gender named"), "marks the gender with an adjective"),
    ):
        for r in _significant(_at_system(table), measure):
            whose = "of people annotated {more} more often than of people annotated {less}"
            yield Finding(f"{_more_often(r, f'{what} {whose}')} {_advice(r)}", r["row"])


def _stereotypes(table: pl.DataFrame) -> Iterator[Finding]:
    """Objects, tuples and looks that go with the group beyond chance."""
    pair = {
        measure_name(
            "stereotyping", "objects correctly mentioned", "objects whose mention depends on the group"
        ): (
            "mentions depicted objects more readily for one group than for the other, their size and place held fixed"
        ),
        **{
            measure_name(
                "stereotyping", "differing tuples", f"{kind} tuples"
            ): f"speaks of different {kind}s for the two groups"
            for kind in ("object", "attribute", "relation")
        },
    }
    for measure, what in pair.items():
        for r in _significant(_at_system(table), measure):
            groups = r["contrast"].replace(" minus ", " and ")
            yield Finding(f"{r['system']} {what} ({groups}, n = {r['n']}). {_advice(r)}", r["row"])
    looks = measure_name("reifying", "looks predict the group term", "looks predict the group term")
    p = pl.coalesce("p_adjusted", "p")
    for r in _at_system(table).filter((pl.col("measure") == looks) & (p < 0.05)).iter_rows(named=True):
        group = r["group"].partition(": ")[2]
        yield Finding(
            f"{r['system']} uses the term for people annotated {group} by their looks: visible characteristics predict it with an"
            f" area under the curve of {number(0.5 + r['value'])} (n = {r['n']}). {_advice(r)}",
            r["row"],
        )


def _nothing(table: pl.DataFrame, with_findings: set[str]) -> Iterator[Finding]:
    """Say so where no technique found anything, and what that does not mean."""
    rows = _at_system(table).unique("system", keep="first", maintain_order=True)
    for r in rows.filter(~pl.col("system").is_in(list(with_findings))).iter_rows(named=True):
        yield Finding(
            f"No technique found a harm above chance in the captions of {r['system']}; the upper bounds remain to be read"
            " by people.",
            r["row"],
        )


def _shares(table: pl.DataFrame) -> Iterator[Finding]:
    for measure, what in SHARES.items():
        chosen = _at_system(table).filter(
            (pl.col("measure") == measure) & pl.col("contrast").is_null() & (pl.col("low") > FLOOR)
        )
        for r in chosen.iter_rows(named=True):
            group = str(r["group"])
            if group != "all" and "erasing" not in measure:
                continue
            whose = "" if group == "all" else f" ({group.partition(': ')[2]})"
            bound = "at most " if "upper bound" in r["note"] else ""
            yield Finding(
                f"Captions of {r['system']} {what}{whose} in {bound}{percent(r['value'], 1)} of cases ({_interval(r)})."
                f" {_advice(r)}",
                r["row"],
            )


def _significant(table: pl.DataFrame, measure: str) -> list[dict[str, Any]]:
    p = pl.coalesce("p_adjusted", "p")
    chosen = table.filter((pl.col("measure") == measure) & pl.col("contrast").is_not_null() & (p < 0.05))
    return chosen.to_dicts()


def _more_often(r: dict[str, Any], what: str) -> str:
    """Say what a system does more often for one group; `what` names the two of 'a minus b' as {more} and {less}."""
    first, _, second = r["contrast"].partition(" minus ")
    more, less = (first, second) if r["value"] > 0 else (second, first)
    size = f"{percent(abs(r['value']), 1)} of captions more ({_interval(r)})"
    return f"{r['system']} {what.format(more=more, less=less)}: {size}."


def _interval(r: dict[str, Any]) -> str:
    return f"95% interval {percent(r['low'], 1)} to {percent(r['high'], 1)}, n = {r['n']}"


def _advice(r: dict[str, Any]) -> str:
    """Where it can have arisen, and what section 5.2 suggests for this pair of stages."""
    head = r["note"].partition(";")[0]
    stage, _, truth = head.partition(" against ")
    arises = where_it_arises(stage, truth or None)
    return f"{arises[0].upper()}{arises[1:]}. {mitigation(stage, truth or None)}"


def report_tables(measured: Measured, settings: CaptionsSettings) -> list[ReportTable]:
    """Return the needs of every technique, the cases to read, faults, and the techniques' own tables."""
    tables = {name: measured.tables.get(name, pl.DataFrame()) for name in SHOWN}
    return [_needs(measured.tables.get("missing"))] + [
        _shown(name, table) for name, table in tables.items() if len(table)
    ]


def _shown(name: str, table: pl.DataFrame) -> ReportTable:
    """Cut a table system by system, so that the first does not crowd out the others, and say what was cut."""
    title, text = SHOWN[name]
    cut = [
        f"{system} {len(part) - MOST_ROWS}"
        for (system,), part in table.group_by("system", maintain_order=True)
        if len(part) > MOST_ROWS
    ]
    if cut:
        text = f"{text} The first {MOST_ROWS} rows of each system; rows cut: {', '.join(cut)}."
    return ReportTable(name, title, text, table.group_by("system", maintain_order=True).head(MOST_ROWS))


def _needs(missing: pl.DataFrame | None) -> ReportTable:
    """What every technique needs, and for which systems a stage was absent, in whole or in part."""
    absent: dict[str, list[str]] = {}
    for system, technique, why in [] if missing is None else missing.iter_rows():
        absent.setdefault(technique, []).append(f"{system}: {why}")
    table = pl.DataFrame(
        [
            {
                "technique": t.key,
                "needs": t.needs,
                "a missing stage means": t.missing,
                "not measured here": "; ".join(absent.get(t.key, [])),
            }
            for t in TECHNIQUES.values()
        ]
    )
    return ReportTable(
        "needs", "What each technique needs", "And what it means when a stage is absent.", table
    )
