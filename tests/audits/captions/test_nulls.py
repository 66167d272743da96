"""Whole audits without a harm, through the text: few print a finding; and planted ones are found as `plan` says."""

from __future__ import annotations

from scipy import stats

from audits.planned_power import assert_plans_are_kept
from portrayal.audits.captions import FAMILY
from portrayal.audits.captions.power import planned_tests, say_power
from portrayal.audits.captions.simulation import SHAPES, simulate
from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits

# `make calibrate` runs ten times as many.
FEW = {"demo": 40, "small": 40, "clustered": 40, "large": 10}


def test_few_audits_without_a_harm_print_a_finding() -> None:
    cells = null_audits("captions", FEW, 0, audit_evidence)
    assert [cell["shape"] for cell in cells] == list(SHAPES)
    # An instrument that is wrong in 5% goes beyond this in 0.1% of tries: 7 of 40, 4 of 10.
    assert all(cell["found"] <= stats.binom.ppf(0.999, cell["audits"], 0.05) for cell in cells), cells
    # Of all 130 together at 5%: 14 or more come about in 1% of tries.
    assert sum(cell["found"] for cell in cells) <= 13, cells


def test_the_captions_of_a_simulated_audit_are_sentences_and_hold_every_technique() -> None:
    simulated = simulate("demo", 1, 0.0)
    results, _ = audit_evidence(simulated.study, simulated.evidence)
    assert simulated.evidence.responses["caption"].str.ends_with(".").all()
    tested = set(results.filter(results["family"] == "confirmatory")["measure"])
    assert tested == set(FAMILY)
    sizes = results.filter(family="confirmatory").group_by("system").len()["len"]  # each system's tests are a family
    assert len(sizes) == 2 and all(0.8 < size / planned("demo") < 1.25 for size in sizes)


def planned(shape: str) -> int:
    sizes = {"gender": {"female": 1, "male": 1}, "skin": {"darker": 1, "lighter": 1}}
    return planned_tests(sizes, simulate(shape, 0, 0.0).study.settings)


def test_plan_says_what_is_found_under_the_correction() -> None:
    simulated = simulate("demo", 0, 0.0)
    lines = say_power(simulated.study, simulated.evidence.stimuli)
    assert lines == [
        "about 33 tests are corrected together: the strongest must have p under .002, where one test alone would need .05; adding a"
        " system costs nothing",
        "gender, 109 images annotated female and 131 male: a group left out 20 percentage points more often than one left out"
        " in 10% of captions is found in 80 of 100 audits",
        "skin, 109 images annotated darker and 131 lighter: a group left out 20 percentage points more often than one left out"
        " in 10% of captions is found in 80 of 100 audits",
    ]


def test_planted_effects_are_found_as_often_as_stated() -> None:
    assert_plans_are_kept("captions", 8)
