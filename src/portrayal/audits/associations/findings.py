"""What a report shows of an associations audit: findings in words, further tables."""

from __future__ import annotations

from typing import Any

from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.report.words import row_in_words
from portrayal.runs.audit import Finding, Measured, ReportTable
from portrayal.stats.multiplicity import is_significant
from portrayal.stats.specification import support

MEASURES = ("eat", "scweat")


def findings(measured: Measured, settings: AssociationsSettings) -> list[Finding]:
    """Say for each test what was found, supported harms first, then harms without support, then checks."""
    declared = {row["test"]: row for row in measured.tables["tests"].iter_rows(named=True)}
    shares = _shares(measured)
    said = []
    for index, row in enumerate(measured.results.iter_rows(named=True)):
        if row["measure"] in MEASURES and row["value"] is not None:
            test = declared[row["group"]]
            sentence = _sentence(row, test, shares.get((row["system"], row["group"])))
            said.append(
                (not test["harm"], not is_significant(row), -abs(row["value"]), Finding(sentence, index))
            )
    return [finding for *_, finding in sorted(said, key=lambda item: item[:3])]


def tables(measured: Measured, settings: AssociationsSettings) -> list[ReportTable]:
    """Show which share of specifications supports each claim, and which stimuli have no vector."""
    shown = []
    if "specifications" in measured.tables:
        shown.append(
            ReportTable(
                "support",
                "How many specifications support each claim",
                "A specification supports the claim when its p is under .05, before correction.",
                support(measured.tables["specifications"], ["system", "test"]),
            )
        )
    if not measured.tables["missing"].is_empty():
        shown.append(
            ReportTable(
                "missing",
                "Stimuli without a vector",
                "They were left out of the tests; each test's note says how many stimuli were left.",
                measured.tables["missing"],
            )
        )
    return shown


def _shares(measured: Measured) -> dict[tuple[str, str], dict[str, Any]]:
    table = measured.tables.get("specifications")
    if table is None:
        return {}
    rows = support(table, ["system", "test"]).iter_rows(named=True)
    return {(row["system"], row["test"]): row for row in rows}


def _sentence(row: dict[str, Any], test: dict[str, Any], share: dict[str, Any] | None) -> str:
    """Say what was tied to whom, how much, in how many specifications, and the harm it is a sign of."""
    found, sign = is_significant(row), f"a sign of {test['harm']}" if test["harm"] else ""
    if found and row["value"] < 0:
        claim, sign = f"ties {_pairs(row, test, turned=True)}, against the direction of the test", ""
    elif found:
        claim = f"ties {_pairs(row, test)}"
        sign = sign or "a check of the instrument that concerns no people"
    else:
        claim = f"was not found to tie {_pairs(row, test)}"
        sign = f"it would have been {sign}" if sign else ""
    return (
        "; ".join(
            part
            for part in (f"{row['system']} {claim}: d = {row_in_words(row)}", _supported(share), sign)
            if part
        )
        + "."
    )


def _pairs(row: dict[str, Any], test: dict[str, Any], turned: bool = False) -> str:
    near, far = (test["b_name"], test["a_name"]) if turned else (test["a_name"], test["b_name"])
    if row["measure"] == "scweat":
        return f"{test['x_name']} to {near} rather than to {far}"
    return f"{test['x_name']} to {near} and {test['y_name']} to {far}"


def _supported(share: dict[str, Any] | None) -> str:
    if share is None:
        return ""
    return f"p is under .05 in {share['supporting']} of {share['specifications']} specifications"
