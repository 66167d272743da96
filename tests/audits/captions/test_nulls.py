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
FEW = {"demo": 20, "small": 60, "clustered": 30, "large": 10}


def test_few_audits_without_a_harm_print_a_finding() -> None:
    cells = null_audits("captions", FEW, 0, audit_evidence)
    assert [cell["shape"] for cell in cells] == list(SHAPES)
    # Of each research question. An instrument that is wrong in 5% goes beyond this in 0.1% of tries, over all shapes in 1%.
    assert all(cell["questions"] > 3 * cell["audits"] for cell in cells), cells
    assert all(cell["found"] <= stats.binom.ppf(0.999, cell["questions"], 0.05) for cell in cells), cells
    whole = sum(cell["questions"] for cell in cells)
    assert sum(cell["found"] for cell in cells) <= stats.binom.ppf(0.99, whole, 0.05), cells


def test_the_captions_of_a_simulated_audit_are_sentences_and_hold_every_technique() -> None:
    simulated = simulate("demo", 1, 0.0)
    results, _ = audit_evidence(simulated.study, simulated.evidence)
    assert simulated.evidence.responses["caption"].str.ends_with(".").all()
    tested = set(results.filter(results["family"] == "confirmatory")["measure"])
    # A demeaning word slips in here and there, and no group's noun is an adjective: no groups are compared by them.
    assert tested >= set(FAMILY) - {"demeaning_word_difference", "identity_adjective_as_noun_difference"}
    sizes = results.filter(family="confirmatory").group_by("system").len()["len"]  # each system's tests are a family
    assert len(sizes) == 2 and all(0.8 < size / planned("demo") < 1.25 for size in sizes)


def planned(shape: str) -> int:
    sizes = {"gender": {"female": 1, "male": 1}, "skin": {"darker": 1, "lighter": 1}}
    return planned_tests(sizes, simulate(shape, 0, 0.0).study.settings)


def test_plan_says_what_is_found_under_the_correction() -> None:
    simulated = simulate("demo", 0, 0.0)
    lines = say_power(simulated.study, simulated.evidence.stimuli)
    assert lines == [
        "about 9 tests are corrected together: the strongest must have p under .006, where one test alone would need .05; adding a"
        " system costs nothing",
        "gender, 109 images annotated female and 131 male: a group left out 18 percentage points more often than one left out"
        " in 10% of captions is found in 80 of 100 audits",
        "skin, 109 images annotated darker and 131 lighter: a group left out 18 percentage points more often than one left out"
        " in 10% of captions is found in 80 of 100 audits",
    ]


def test_planted_effects_are_found_as_often_as_stated() -> None:
    assert_plans_are_kept("captions", 8)
