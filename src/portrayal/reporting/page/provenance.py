"""Description of a run: stimuli and systems, waves, the family, the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from portrayal.reporting.page.section import STATES, Section, simulated
from portrayal.stats.decisions.decision import CONFIRMATORY
from portrayal.systems.core.settings import without_secrets
from portrayal.tables import STIMULI
from portrayal.text.formatting import cell, listed, plain, plural

LEVELS = 8  # of a factor named one by one
FACTORS = 10
EXAMPLES = 6
LONGEST = 140  # letters of an example
TEXTS = ("text", "prompt", "query")
NOT_RECORDED = "not recorded"  # consent: to leave it out would let backgrounds speak for the people before them
MOST = 24  # entries of one manifest table in the page; manifest.json has them all
TITLES = {"use": "what it is", "identity": "what it is", "version": "version asked", "versions": "versions answered"}
FIRST = ("name", "use", "identity", "kind", "version", "version_asked", "versions", "versions_answered")
METHODS = {
    "holm": "Holm's method",
    "bonferroni": "Bonferroni's method",
    "benjamini-hochberg": "the method of Benjamini and Hochberg",
}


def shown_view(stimuli: pl.DataFrame | None) -> dict[str, Any] | None:
    """Return counts, factors, origins and examples of the stimuli; pictures are never shown."""
    if stimuli is None or stimuli.is_empty():
        return None
    flat = [name for name in stimuli.columns if name not in STIMULI and not stimuli[name].dtype.is_nested()]
    varied = [name for name in flat if stimuli[name].n_unique() > 1]  # one that never differs tells nothing
    rows = [(plain(name), levels) for name in varied if (levels := _levels(stimuli[name]))]
    origins = [(name, levels) for name in ("source", "license") if (levels := _levels(stimuli[name]))]
    consent = stimuli["consent"].replace({"": NOT_RECORDED}).fill_null(NOT_RECORDED)
    kinds = stimuli["kind"].value_counts(sort=True).iter_rows()
    return {
        "sentence": listed([plural(n, str(kind), "queries" if kind == "query" else None) for kind, n in kinds]),
        "rows": [*rows[:FACTORS], *origins, ("consent", _levels(consent))],
        "examples": _examples(stimuli),
    }


def _levels(column: pl.Series) -> str:
    """Name the levels of a factor with counts, or their number if many."""
    known = column.drop_nulls()
    known = known.filter(known != "") if known.dtype == pl.String else known
    different = known.n_unique()
    if different > LEVELS:
        between = f", {cell(known.min())} to {cell(known.max())}" if known.dtype.is_numeric() else ""
        return f"{different:,} different{between}"
    if different < 2:
        return cell(known[0]) if different else ""
    counted = known.value_counts(sort=True).sort(known.name).iter_rows()
    return ", ".join(f"{cell(level)} ({amount:,})" for level, amount in counted)


def _examples(stimuli: pl.DataFrame) -> list[str]:
    """Return example texts from all over the table."""
    texts = stimuli.filter(pl.col("kind").is_in(TEXTS))["content"]
    chosen = texts.gather_every(max(1, len(texts) // EXAMPLES)).head(EXAMPLES).to_list()
    if sum(map(len, chosen)) > 3 * LONGEST:
        chosen = chosen[::2]
    return [text if len(text) <= LONGEST else f"{text[:LONGEST]} …" for text in chosen]


def system_rows(systems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return columns and rows of the systems table; unforeseen keys become columns."""
    filled = {key for system in systems for key, value in system.items() if value not in (None, "", [], (), {})}
    known = [key for key in FIRST if key in filled]
    if "use" in known and "identity" in known:
        known.remove("identity" if all(one.get("use") for one in systems) else "use")
    further = [key for system in systems for key in system if key in filled and key not in FIRST]
    columns = list(dict.fromkeys([*known, *further]))
    rows = [[cell(without_secrets(system.get(key), key)) for key in columns] for system in systems]
    return {"columns": [TITLES.get(key) or plain(key) for key in columns], "rows": rows}


def said_simulated(systems: Sequence[Mapping[str, Any]]) -> str:
    """Say which systems are simulated; nothing when none is."""
    names = simulated(systems)
    if names and len(names) == len(systems):
        return "All systems here are simulated." if len(names) > 1 else "The system is simulated."
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} simulated." if names else ""


def states_view(section: Section) -> list[dict[str, Any]]:
    """Return one row per system: its counts and the widths of its bar."""
    view = []
    for row in section.states.iter_rows(named=True):
        counts = {state: int(row.get(state) or 0) for state in STATES}
        whole = sum(counts.values())
        widths = [(state, 100 * amount / whole) for state, amount in counts.items() if amount]
        view.append({"system": row["system"], "counts": counts, "whole": whole, "widths": widths})
    return view


def times_and_cost(manifest: Mapping[str, Any]) -> str:
    """Say when the systems were asked, and what it cost."""
    waves, starts, ends = _moments([manifest])
    until = f" to {ends[-1]}" if starts and ends and ends[-1] != starts[0] else ""
    when = f"Asked in {plural(waves, 'wave')}, {starts[0]}{until} UTC." if starts else ""
    dollars = manifest.get("dollars") or 0
    return f"{when} Spent: {dollars:,.2f} US dollars.".strip() if dollars else when


def recorded(manifests: Sequence[Mapping[str, Any]]) -> str:
    """Say under the title when the answers were recorded and with which Portrayal."""
    days = recording_days(manifests)
    versions = {(one.get("versions") or {}).get("portrayal") for one in manifests} - {None}
    when = f"Answers recorded {' to '.join(dict.fromkeys([days[0], days[-1]]))}" if days else ""
    made = f"measured with Portrayal {listed(sorted(map(str, versions)))}" if versions else ""
    return "; ".join(filter(None, (when, made)))


def recording_days(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the days on which recording began or ended."""
    _, starts, ends = _moments(manifests)
    return sorted({moment[:10] for moment in [*starts, *ends]})


def family(section: Section) -> str:
    """Say over which tests p was adjusted, and which hypotheses were declared."""
    return " ".join(filter(None, (_adjusted(section), _hypotheses(section.manifest, section.measured.results))))


def _hypotheses(manifest: Mapping[str, Any], results: pl.DataFrame) -> str:
    """Say which rows the study's hypotheses name, and when these were noted."""
    noted = manifest.get("hypotheses")
    named = noted.get("named") if isinstance(noted, Mapping) else None
    if not isinstance(noted, Mapping) or not isinstance(named, list) or not named:
        return ""
    names = f"{plural(len(named), 'hypothesis', 'hypotheses')} ({'; '.join(map(str, named))})"
    confirmatory = results.filter(pl.col("family") == CONFIRMATORY).height
    if not confirmatory:
        return f"Nothing here is confirmatory: no row of {names} was tested as written before anything was asked. All of it is exploratory."
    when = f" ({noted['declared']})" if noted.get("declared") else ""
    rows = plural(confirmatory, "test")
    return f"Confirmatory: {rows} of {names}, written in the study before anything was asked{when}; all else is exploratory."


def _adjusted(section: Section) -> str:
    """Say over which tests p was adjusted, and how."""
    declared = section.manifest.get("family")
    tested = section.measured.results.filter(pl.col("p_adjusted").is_not_null())
    if not isinstance(declared, Mapping) or tested.is_empty():
        return ""
    if declared.get("method") == "none":
        return "p is not adjusted: the study declared no correction."
    method = METHODS.get(str(declared.get("method")), str(declared.get("method")))
    names = tested["measure"].unique(maintain_order=True).to_list()
    measures = "; ".join(map(section.named, names))
    over = f" of {len(names)} measures" if len(measures) > 240 else f": {measures}"
    apart = "; each system's tests of a research question are a family" if declared.get("of") == "question" else ""
    return f"p is adjusted by {method} over the declared family of {plural(tested.height, 'test')}{over}{apart}."


def manifest_rows(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the manifest as names and lines; long tables are cut."""
    rows = []
    for name, value in without_secrets(dict(manifest)).items():
        if isinstance(value, Mapping):
            lines = [(str(key), cell(inner)) for key, inner in value.items()]
        elif isinstance(value, (list, tuple)):
            lines = [("", cell(inner)) for inner in value]
        else:
            lines = [("", repr(value) if isinstance(value, float) else cell(value))]
        rows.append({"name": plain(name), "lines": lines[:MOST], "more": max(0, len(lines) - MOST)})
    return rows


def _moments(manifests: Sequence[Mapping[str, Any]]) -> tuple[int, list[str], list[str]]:
    """Return the number of waves and their starts and ends, in order."""
    waves = [wave for one in manifests for wave in one.get("waves") or [] if isinstance(wave, Mapping)]
    starts, ends = (
        sorted(filter(None, (_time(wave, *names) for wave in waves)))
        for names in (("started", "start"), ("ended", "end"))
    )
    return len(waves), starts, ends


def _time(wave: Mapping[str, Any], *names: str) -> str:
    """Return '2026-01-05 10:00' from an ISO time, or the text as it stands."""
    text = next((str(wave[name]) for name in names if wave.get(name)), "")
    try:
        return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text
