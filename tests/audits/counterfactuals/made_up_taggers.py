"""Small audits by hand: series of a few people before taggers that are functions of person and value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.inputs import references
from portrayal.flow import audit_evidence
from portrayal.pictures.series.values import steps
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.study.audit import Evidence
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer
from portrayal_faces.series.checks import COLUMNS

# What a tagger does with a person's face at a value: labels, or the state of a question without an answer.
Tagger = Callable[..., list[str] | str]  # of person, attribute, value, and the poles where a test has several pairs


def audit_of(
    taggers: Mapping[str, Tagger], people: int = 12, attributes: Sequence[str] = ("gender",), **further: Any
) -> tuple[pl.DataFrame, list[str]]:
    """Return results and sentences of taggers before these people, by the way recorded answers take."""
    study, evidence = evidence_of(taggers, people, attributes, **further)
    results, findings = audit_evidence(study, evidence)
    return results, [finding.sentence for finding in findings]


def evidence_of(
    taggers: Mapping[str, Tagger],
    people: int = 12,
    attributes: Sequence[str] = ("gender",),
    start: Callable[[int], str] | None = None,
    checks: pl.DataFrame | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> tuple[Study, Evidence]:
    """Return a study and the answers of its taggers."""
    study = make_study(
        {"name": "by hand", "audit": "counterfactuals", "counterfactuals": {"series": "none"},
         "systems": [{"name": name, "use": "replay:none.csv"} for name in taggers]}
    )  # fmt: skip
    asked: list[tuple[Any, ...]] = [
        (p, a, float(v), *pair)
        for a in attributes
        for pair in ([(pair,) for pair in pairs] if a == "race" and pairs else [()])
        for p in range(people)
        for v in steps("race" if a == "race" else "gender")
    ]
    stimuli = pl.DataFrame([_stimulus(start, *one) for one in asked])
    entries = [_entry(name, tagger, *one) for name, tagger in taggers.items() for one in asked]
    evidence = Evidence(stimuli, read_responses(entries, stimuli, "tagger"), references(study))
    return study, evidence if checks is None else replace(evidence, inputs={**evidence.inputs, "checks": checks})


def check_table(**passed: bool | None) -> pl.DataFrame:
    """Return manipulation checks, one of the perceived age for each attribute: passed, failed or not done."""
    rows = [
        {"check": "perceived age stays", "attribute": attribute, "value": {True: 1.0, False: 7.3, None: None}[verdict],
         "n": 12, "unit": "years, highest less lowest", "needs": "under 5 in size", "passed": verdict,
         "note": "not done: no reader" if verdict is None else ""}
        for attribute, verdict in passed.items()
    ]  # fmt: skip
    return pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in rows], schema=COLUMNS)


def _name(person: int, attribute: str, value: float, poles: Sequence[str] = ()) -> str:
    return "_".join((str(person), attribute, *poles, f"{value:+.2f}"))


def _stimulus(
    start: Callable[[int], str] | None, person: int, attribute: str, value: float, poles: Sequence[str] = ()
) -> dict[str, Any]:
    name = _name(person, attribute, value, poles)
    return {
        "stimulus": name, "kind": "image", "content": name, "hash": name, "source": "made up", "license": "CC0-1.0",
        "consent": "generated", "picture": f"{person}", "person": f"{person}", "attribute": attribute,
        "condition": "edited", "value": value, **({} if start is None else {"start": start(person)}),
        **dict(zip(("pole_low", "pole_high"), poles, strict=False)),
    }  # fmt: skip


def _entry(system: str, tagger: Tagger, *asked: Any) -> Entry:
    name, said = _name(*asked), tagger(*asked)
    if said in ("failed", "refused"):
        return Entry(name, system, name, 0, "tagger", "plain", {}, str(said), None, "no answer")
    raw = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    return Entry(name, system, name, 0, "tagger", "plain", {}, "done", Answer(raw), None)
