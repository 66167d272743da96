"""What every measure must obey, for every audit of the registry.

Each audit has `tests/properties/case_STEM.py` with `case() -> (study, evidence)`: a small study and what was recorded
for it. An audit without one fails `test_no_measure_is_forgotten`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.runs.audit import Evidence, Measured
from portrayal.runs.registry import AUDITS, get_audit
from portrayal.runs.study import Study
from portrayal.tables import RESULTS, check_results

HERE = Path(__file__).parent
KEYS = ["system", "measure", "group", "contrast", "unit"]
STEMS = [stem for stem in AUDITS if (HERE / f"case_{stem}.py").exists()]
every_audit = pytest.mark.parametrize("stem", STEMS)


@cache
def case(stem: str) -> tuple[Study, Evidence, Measured]:
    study, evidence = import_module(f"properties.case_{stem}").case()
    return study, evidence, flow.measure_evidence(study, evidence)


def same_numbers(one: pl.DataFrame, other: pl.DataFrame) -> None:
    columns = [name for name in RESULTS if name not in ("note", "low", "high")]
    sides = [table.select(columns).sort([*KEYS, "n"], nulls_last=True) for table in (one, other)]
    assert_frame_equal(*sides, check_exact=False, rel_tol=1e-7, abs_tol=1e-9)


def test_no_measure_is_forgotten() -> None:
    assert set(STEMS) == set(AUDITS), "write tests/properties/case_STEM.py for each audit"


@every_audit
def test_results_keep_their_contract(stem: str) -> None:
    study, _, measured = case(stem)
    table = check_results(measured.results)
    assert not table.is_empty()
    assert set(table["audit"]) == {stem}
    assert table["system"].null_count() == 0
    estimates = table.filter(pl.col("value").is_not_null())
    assert not estimates.is_empty()
    assert estimates["n"].min() > 0
    assert estimates["value"].is_finite().all()
    assert set(study.family.measures or get_audit(stem).family) & set(table["measure"])


@every_audit
def test_intervals_hold_their_estimate_and_p_is_a_share(stem: str) -> None:
    table = case(stem)[2].results
    ends = table.drop_nulls(["value", "low", "high"])
    assert (ends["low"] <= ends["value"] + 1e-9).all()
    assert (ends["value"] <= ends["high"] + 1e-9).all()
    for column in ("p", "p_adjusted"):
        assert table[column].drop_nulls().is_between(0, 1).all()
    both = table.drop_nulls(["p", "p_adjusted"])
    assert (both["p_adjusted"] >= both["p"] - 1e-12).all()


@every_audit
def test_row_order_never_matters(stem: str) -> None:
    study, evidence, measured = case(stem)
    turned = replace(
        evidence,
        responses=evidence.responses.sample(fraction=1, shuffle=True, seed=1),
        stimuli=evidence.stimuli.sample(fraction=1, shuffle=True, seed=2),
    )
    same_numbers(flow.measure_evidence(study, turned).results, measured.results)


@every_audit
def test_measuring_twice_gives_the_same_and_changes_nothing(stem: str) -> None:
    study, evidence, measured = case(stem)
    before = evidence.responses.clone(), evidence.stimuli.clone()
    again = flow.measure_evidence(study, evidence)
    assert_frame_equal(again.results, measured.results)
    assert_frame_equal(evidence.responses, before[0])
    assert_frame_equal(evidence.stimuli, before[1])


@every_audit
def test_renaming_systems_only_renames(stem: str) -> None:
    study, evidence, measured = case(stem)
    names = {name: f"other {name}" for name in evidence.responses["system"].unique()}
    renamed = replace(evidence, responses=evidence.responses.with_columns(pl.col("system").replace(names)))
    found = flow.measure_evidence(study, renamed).results
    told = pl.col("group", "contrast").str.replace_many(names)  # a contrast may name the systems it compares
    same_numbers(found, measured.results.with_columns(pl.col("system").replace(names), told))


@every_audit
def test_silence_is_missing_and_never_a_number(stem: str) -> None:
    study, evidence, _ = case(stem)
    kept = {"system", "stimulus", "repeat", "status"}
    answers = [name for name in evidence.responses.columns if name not in kept]
    names = evidence.responses["system"].unique().to_list()
    silent = evidence.responses.unique(["system", "stimulus", "repeat"], maintain_order=True).with_columns(
        pl.lit("refused").alias("status"),
        *(pl.lit(None).cast(evidence.responses[c].dtype).alias(c) for c in answers),
    )
    try:
        found = flow.measure_evidence(study, replace(evidence, responses=silent)).results
    except PortrayalError as error:
        assert "\n" not in str(error)  # nothing to measure may be said in one line
    else:
        declared = study.family.measures or list(get_audit(stem).family)
        of_systems = found.filter(pl.col("system").is_in(names) & pl.col("measure").is_in(declared))
        tested = of_systems.filter(pl.col("p").is_not_null() | pl.col("low").is_not_null())
        assert tested.is_empty(), "an interval or a p-value came from refusals alone"


@every_audit
def test_words_for_readers(stem: str) -> None:
    _, _, measured = case(stem)
    audit = get_audit(stem)
    findings = audit.findings(measured, case(stem)[0].settings)
    assert findings
    for finding in findings:
        assert 0 <= finding.row < measured.results.height
        assert finding.sentence.endswith(".")
        assert "biased" not in finding.sentence.lower()
    for chart in audit.charts(measured, case(stem)[0].settings):
        assert chart.text
        assert (chart.chart is None) != (chart.png is None)
    assert audit.validity
    assert audit.question.endswith("?")
