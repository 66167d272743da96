"""Provenance on the page: waves, money, the family, the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from portrayal.stats.decisions.decision import CONFIRMATORY
from portrayal.systems.core.settings import without_secrets
from portrayal.text.formatting import cell, listed, plain, plural

MOST = 24  # entries of one manifest table in the page; manifest.json has them all
METHODS = {
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "benjamini-hochberg": "the method of Benjamini and Hochberg",
}


def asked(manifest: Mapping[str, Any]) -> str:
    """Say when the systems were asked, and what it cost."""
    waves, starts, ends = _moments([manifest])
    until = f" to {ends[-1]}" if starts and ends and ends[-1] != starts[0] else ""
    said = f"Asked in {plural(waves, 'wave')}, {starts[0]}{until} UTC." if starts else ""
    dollars = manifest.get("dollars") or 0
    return f"{said} Spent: {dollars:,.2f} US dollars.".strip() if dollars else said


def recorded(manifests: Sequence[Mapping[str, Any]]) -> str:
    """Say under the title when the answers were recorded and with which Portrayal."""
    _, starts, ends = _moments(manifests)
    days = sorted({moment[:10] for moment in [*starts, *ends]})
    versions = {(one.get("versions") or {}).get("portrayal") for one in manifests} - {None}
    said = f"Answers recorded {' to '.join(dict.fromkeys([days[0], days[-1]]))}" if days else ""
    made = f"measured with Portrayal {listed(sorted(map(str, versions)))}" if versions else ""
    return "; ".join(filter(None, (said, made)))


def last_day(manifests: Sequence[Mapping[str, Any]]) -> str:
    """Return the last day on which answers were recorded, or nothing."""
    _, starts, ends = _moments(manifests)
    return max((moment[:10] for moment in [*starts, *ends]), default="")


def family(manifest: Mapping[str, Any], results: pl.DataFrame, names: Mapping[str, str]) -> str:
    """Say over which tests p was adjusted, and which hypotheses were declared."""
    return " ".join(filter(None, (_adjusted(manifest, results, names), _hypotheses(manifest, results))))


def _hypotheses(manifest: Mapping[str, Any], results: pl.DataFrame) -> str:
    """Say which rows the study's hypotheses name, and when these were noted."""
    noted = manifest.get("hypotheses")
    named = noted.get("named") if isinstance(noted, Mapping) else None
    if not isinstance(noted, Mapping) or not isinstance(named, list) or not named:
        return ""
    said = f"{plural(len(named), 'hypothesis', 'hypotheses')} ({'; '.join(map(str, named))})"
    if (results["family"] == CONFIRMATORY).any():
        when = f" ({noted['declared']})" if noted.get("declared") else ""
        rows = plural(results.filter(pl.col("family") == CONFIRMATORY).height, "test")
        return f"Confirmatory: {rows} of {said}, written in the study before anything was asked{when}; all else is exploratory."
    return f"Nothing here is confirmatory: no row of {said} was tested as written before anything was asked. All of it is exploratory."


def _adjusted(manifest: Mapping[str, Any], results: pl.DataFrame, names: Mapping[str, str]) -> str:
    """Say over which tests p was adjusted, and how."""
    declared = manifest.get("family")
    tested = results.filter(pl.col("p_adjusted").is_not_null())
    if not isinstance(declared, Mapping) or tested.is_empty():
        return ""
    if declared.get("method") == "none":
        return "p is not adjusted: the study declared no correction."
    method = METHODS.get(str(declared.get("method")), str(declared.get("method")))
    found = tested["measure"].unique(maintain_order=True).to_list()
    measures = "; ".join(names.get(name) or plain(name) for name in found)
    tests = plural(tested.height, "test")
    if len(measures) > 240:
        return f"p is adjusted by {method} over the declared family of {tests} of {len(found)} measures."
    return f"p is adjusted by {method} over the declared family of {tests}: {measures}."


def manifest_rows(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the manifest as names and lines; long tables are cut."""
    clean = without_secrets(dict(manifest))
    return [{"name": plain(name), **_lines(value)} for name, value in clean.items()]


def _lines(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        lines = [(str(key), cell(inner)) for key, inner in value.items()]
    elif isinstance(value, (list, tuple)):
        lines = [("", cell(inner)) for inner in value]
    else:
        lines = [("", cell(value) if not isinstance(value, float) else repr(value))]
    return {"lines": lines[:MOST], "more": max(0, len(lines) - MOST)}


def _moments(manifests: Sequence[Mapping[str, Any]]) -> tuple[int, list[str], list[str]]:
    """Return the number of waves and their starts and ends, in order."""
    waves = [wave for one in manifests for wave in one.get("waves") or [] if isinstance(wave, Mapping)]
    starts = sorted(filter(None, (_time(wave, "started", "start") for wave in waves)))
    ends = sorted(filter(None, (_time(wave, "ended", "end") for wave in waves)))
    return len(waves), starts, ends


def _time(wave: Mapping[str, Any], *names: str) -> str:
    """Return '2026-01-05 10:00' from an ISO time, or the text as it stands."""
    text = next((str(wave[name]) for name in names if wave.get(name)), "")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment.strftime("%Y-%m-%d %H:%M")
