"""Whole audits without an effect, counted in printed sentences, and planted ones against what `portrayal plan` states."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from audits.planned_power import assert_plans_are_kept
from portrayal.audits.contexts.calibration import simulate, study_of
from portrayal.audits.contexts.world import SHAPES
from portrayal.flow import audit_evidence
from portrayal.stats.decisions.decision import FOUND
from portrayal.study.calibration import null_audits

# `make calibrate` runs ten times as many; of the slow shape a quarter.
FEW = {shape: 10 if shape == "large" else 40 for shape in SHAPES}


def test_audits_without_an_effect_print_no_finding():
    cells = null_audits("contexts", FEW, 0, audit_evidence)
    assert {cell["shape"]: cell["audits"] for cell in cells} == {shape: 2 * count for shape, count in FEW.items()}
    # Of so many research questions at 5%, more print a finding in 3 of 1,000 tests, over all shapes in 6 of 1,000.
    assert all(cell["questions"] > 2 * cell["audits"] for cell in cells), cells
    assert all(cell["found"] <= stats.binom.ppf(0.997, cell["questions"], 0.05) for cell in cells), cells
    whole = sum(cell["questions"] for cell in cells)
    assert sum(cell["found"] for cell in cells) <= stats.binom.ppf(0.994, whole, 0.05), cells


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "large"])
def test_what_is_not_tested_may_be_left_out(shape):
    made = simulate(shape, 3, 0.9)
    tested, said = audit_evidence(made.study, made.evidence)
    whole, all_said = audit_evidence(study_of(3, described=True), made.evidence)
    same = whole.filter(pl.col("measure").is_in(tested["measure"].unique().implode()))
    assert whole.height > same.height == tested.height
    assert_frame_equal(tested.drop("note"), same.drop("note"))
    assert found_in(tested, said) == found_in(whole, all_said) > 0


def found_in(results, findings):
    """Count the findings that something was found."""
    return sum(results["decision"][finding.row] == FOUND for finding in findings)


def test_three_genders_are_shown_and_named():
    evidence = simulate("three genders", 0).evidence
    people = evidence.stimuli.unique("person")["gender"].value_counts(sort=True)
    assert dict(people.iter_rows()) == {"female": 8, "male": 8, "nonbinary": 8}
    said = evidence.responses["tag"].value_counts()
    named = dict(said.filter(pl.col("tag").is_in(["woman", "man", "nonbinary"])).iter_rows())
    assert min(named.values()) > 10
    assert (evidence.responses["status"] == "refused").sum() > 0
    results, _ = audit_evidence(simulate("three genders", 0).study, evidence)
    assert "nonbinary" in set(results["inferred"])


def test_plan_states_the_power_that_audits_have():
    assert_plans_are_kept("contexts", 15)
