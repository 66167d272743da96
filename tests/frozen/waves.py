"""Waves of one study held against each other, rules, exports, packs and asking again: what commands print and write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozen import tables
from frozen.association_studies import WEAT6
from frozen.counterfactual_studies import draw
from frozen.places import made, simulated, table, written
from frozen.runs import command, of_run, places_of
from frozen.series import chance
from frozen.tables import Tables

RULES = """
[[rules]]
name = "nothing is found"
never = ["found"]

[[rules]]
name = "nearly everything is answered"
where = { measure = "answered" }
value_least = 0.95

[[rules]]
name = "slopes are small"
where = { measure = ["slope", "eat"] }
high_most = 0.5
low_least = -0.5
may_be_absent = true

[[rules]]
name = "something that is not there"
where = { measure = "nothing of this name" }
always = ["not found"]
"""
DRIFT = """
[[rules]]
name = "nothing moved"
drift = true
never = ["found"]
"""
# What differs from one making to the next without a number moving: when, where and by which versions a wave was made.
NOT_FROZEN = {"versions", "packages", "folder", "folders", "path", "started", "ended", "made", "dates", "portrayal"}


def words(folder: Path, wave: int) -> dict[str, Any]:
    """Return a study of words whose planted association is gone in the second wave."""
    planted = simulated("phantom:associations", "planted", **WEAT6, d=1.7 if wave == 0 else 0.0)
    systems = [planted, made("encoder", "even"), made("flaky_encoder", "flaky")]
    return {
        "name": "waves",
        "audit": "associations",
        "systems": systems,
        "associations": {"tests": ["weat6"], "variants": []},
    }


def series(folder: Path, wave: int) -> dict[str, Any]:
    """Return a study of drawn series whose tagger leans further in each wave."""
    draw(folder / "series", people=14)
    systems = [made("face_tagger", "mine", slope=0.05 + 0.5 * wave), made("face_tagger", "shy", slope=0.1, shy=True)]
    return {
        "name": "waves",
        "audit": "counterfactuals",
        "systems": systems,
        "counterfactuals": {"series": "series", "attributes": ["gender"]},
    }


def labels(folder: Path, wave: int) -> dict[str, Any]:
    """Return a study of recorded labels that are worse in each wave."""
    often = {"woman": 0.3 + 0.4 * wave, "man": 0.1}
    rows = [
        (group, seed, "answered", "sexy" if chance(group, seed, wave) < share else "neutral")
        for group, share in often.items()
        for seed in range(70)
    ]
    table(folder / "labels.csv", ("group", "seed", "status", "label"), rows)
    systems = [simulated("label_table", "mine", path="labels.csv")]
    return {
        "name": "waves",
        "audit": "associations/labels",
        "systems": systems,
        "associations": {"table": "labels.csv"},
    }


def held(study: Callable[[Path, int], dict[str, Any]], folder: Path, waves: int = 2) -> Tables:
    """Audit waves by command, hold them against each other and against rules."""
    found: Tables = {}
    for wave in range(waves):
        place = folder / f"study{wave}"
        place.mkdir()
        path = written(place, study(place, wave))
        told = command("audit", path, "--out", folder / f"wave{wave}", "--quiet", folder=folder)
        found[f"audit{wave}"] = told["lines"]
        found |= {
            f"wave{wave}/{name}": each
            for name, each in of_run(folder / f"wave{wave}").items()
            if name in ("results", "findings")
        }
    runs = [folder / f"wave{wave}" for wave in range(waves)]
    found["diff"] = command("diff", *runs, "--out", folder / "diff", folder=folder)["lines"]
    told = json.loads((folder / "diff" / "diff.json").read_text(encoding="utf-8"))
    parts = [
        (name, tables.masked(_without(told[name]), places_of(folder)))
        for name in sorted(told)
        if name not in NOT_FROZEN
    ]
    found["diff.json"] = {"part": [name for name, _ in parts], "told": [value for _, value in parts]}
    (folder / "rules.toml").write_text(RULES)
    (folder / "drift.toml").write_text(DRIFT)
    found["gate"] = command("gate", runs[0], "--rules", folder / "rules.toml", folder=folder)["lines"]
    found["drift"] = command("gate", runs[-1], "--rules", folder / "drift.toml", "--against", runs[0], folder=folder)[
        "lines"
    ]
    return found


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(each) for name, each in value.items() if name not in NOT_FROZEN}
    return [_without(each) for each in value] if isinstance(value, list) else value


def asked(folder: Path) -> Tables:
    """Plan, try, export, audit, ask again, tell the state of, pack, verify and redact one study of words."""
    path = written(folder / "study", words(folder, 0))
    run = folder / "run"
    found = {
        "plan": command("plan", path, folder=folder),
        "try": command("try", path, "--questions", "2", folder=folder),
        "export": command("export", path, "--out", folder / "stimuli", folder=folder),
        "record": command("audit", path, "--out", run, "--quiet", folder=folder),
        "retry": command("retry", run, "--quiet", folder=folder),
        "status": command("status", run, folder=folder),
        "measure": command("measure", run, folder=folder),
        "pack": command("pack", run, "--out", folder / "run.zip", folder=folder),
        "verify": command("verify", folder / "run.zip", folder=folder),
        "redact": command("redact", run, "--out", folder / "redacted", folder=folder),
    }
    exported = (folder / "stimuli" / "stimuli.csv").read_text(encoding="utf-8").splitlines()
    lines = {name: {"line": list(map(_steady, table["lines"]["line"]))} for name, table in found.items()}
    lines["try"] = {
        "line": [line for line in lines["try"]["line"] if not line.startswith("  answered")]
    }  # as it is kept
    return {**lines, "exported": {"line": tables.masked(exported, places_of(folder))}, **of_run(run)}


def _steady(line: str) -> str:
    """Return a line without the number of files a run is made of, which may grow."""
    return re.sub(r"\d+ files", "N files", line)


STUDIES: dict[str, Callable[[Path], Tables]] = {
    "waves_words": lambda folder: held(words, folder),
    "waves_series": lambda folder: held(series, folder, waves=3),
    "waves_labels": lambda folder: held(labels, folder),
    "asked": asked,
}
