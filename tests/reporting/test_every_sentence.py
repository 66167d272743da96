"""Every sentence of the demonstration and of simulated audits says what its row has."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import portrayal
from portrayal.reporting.page.section import find, read_section
from portrayal.reporting.words.conclusions import conclude
from portrayal.run.folder import Run
from portrayal.run.measurement import measure_evidence
from portrayal.study.registry import AUDITS, EXPERIMENTS, SIMULATIONS, get_audit
from reporting.reading_back import faults

EFFECTS = (0.0, 0.3, 0.6, 0.9)
# Audits of each stem: 210, more of those that take little.
SIMULATED = {"associations": 76, "experiments": 76, "search": 20, "counterfactuals": 20, "contexts": 9, "captions": 9}
DEMO = [study for stem in (*AUDITS, *EXPERIMENTS) for study in get_audit(stem).demo]


@pytest.mark.parametrize("stem", SIMULATED)
def test_every_sentence_of_simulated_audits_says_what_its_row_has(stem: str) -> None:
    module = import_module(SIMULATIONS[stem])
    shapes = [shape for shape in module.SHAPES if "large" not in shape]
    assert {*AUDITS, "experiments"} == {*SIMULATED}
    wrong: list[str] = []
    for number in range(SIMULATED[stem]):
        shape, effect = shapes[number % len(shapes)], EFFECTS[number // len(shapes) % len(EFFECTS)]
        made = module.simulate(shape, number, effect)
        measured, audit = measure_evidence(made.study, made.evidence), get_audit(made.study.audit)
        findings = find(made.study, measured)
        conclusions = conclude(audit, measured, findings, [system.name for system in made.study.systems])
        assert findings and conclusions
        wrong += [f"{shape} {number} {effect}: {line}" for line in faults(audit, measured, findings, conclusions)]
    assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("study", DEMO, ids=lambda path: path.stem)
def test_every_sentence_of_the_demonstration_says_what_its_row_has(study: Path, tmp_path: Path) -> None:
    portrayal.audit(study, tmp_path / "run", quiet=True)
    section = read_section(Run(tmp_path / "run"))
    assert section.findings
    wrong = faults(section.audit, section.measured, section.findings, section.conclusions)
    assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong)


def test_the_checker_sees_each_class_of_fault() -> None:
    module = import_module(SIMULATIONS["associations"])
    made = module.simulate("demo", 1, 0.6)
    measured, audit = measure_evidence(made.study, made.evidence), get_audit(made.study.audit)
    findings = find(made.study, measured)
    systems = [system.name for system in made.study.systems]
    conclusions = conclude(audit, measured, findings, systems)
    assert faults(audit, measured, findings, conclusions) == []
    first = findings[0]
    row = measured.results.row(first.row, named=True)
    assert row["decision"] == "found"
    spoiled = {
        "figures": (first.figures, first.figures.replace("d = 1", "d = 2")),
        "counts other units": (f"{row['n']} {row['counted']}", f"{row['n'] + 1} {row['counted']}"),
        "adjusted p": ("adjusted p = .", "adjusted p = .9"),
        "the value is": (f"to {row['attribute']} and", f"to {row['other_attribute']} and"),
        "does not name": (str(row["group"]), "somebody"),
        "does not begin": ("first ties", "It was not found that first ties"),
        "words in": ("ties ", "ties " + "very " * 30),
    }
    for fault, (before, after) in spoiled.items():
        assert before in first.sentence, before
        text, numbers = (part.replace(before, after) for part in (first.sentence, first.figures))
        lines = faults(audit, measured, [replace(first, sentence=text, figures=numbers)], [])
        assert any(fault in line for line in lines), (fault, lines)
    assert any(
        "tests were found" in line for line in faults(audit, measured, [], [replace(conclusions[0], answer="no")])
    )
    beside = measured.results.with_columns(low="value")
    assert any("its own estimate" in line for line in faults(audit, replace(measured, results=beside), [], []))
