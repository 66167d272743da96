"""Properties of every measure, for each audit and experiment of the registry.

Each has a module `tests/properties/case_NAME.py` (a slash in the name is an underscore there) with
`case() -> (study, evidence)`: a small study and what was recorded for it, and with
`relabelled(study, evidence) -> (study, evidence)`: the same where the groups have `NEW_NAMES` or have changed places.
One without it fails `test_no_measure_is_forgotten`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.reporting.page.section import find
from portrayal.run.silence import ANSWERED, DIFFERENCE, LEVEL, UNANSWERED
from portrayal.stats.decisions.decision import DECISIONS, NOT_MEASURABLE
from portrayal.study.audit import Evidence, Measured
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.study.study import Study
from portrayal.tables import RESPONSES, RESULTS, check_results, facets
from properties.relabelling import facing_one_way

HERE = Path(__file__).parent
KEYS = ["system", "measure", "group", "versus", "unit"]
# What hangs on the other tests of the family, and on how many questions were answered.
OF_THE_FAMILY = ("p_adjusted", "decision", "reason", "detectable", "family")
OF_THE_ANSWERS = ("n_answered", "n_refused")
SILENCE = (ANSWERED, UNANSWERED, LEVEL, DIFFERENCE)  # rows that every audit has, about questions and not about people
MADE = sorted(path.stem for path in HERE.glob("case_*.py"))
EVERY = [*AUDITS, *EXPERIMENTS]
every_audit = pytest.mark.parametrize("name", [name for name in EVERY if f"case_{name.replace('/', '_')}" in MADE])


def module_of(name: str) -> ModuleType:
    return import_module(f"properties.case_{name.replace('/', '_')}")


@cache
def case(name: str) -> tuple[Study, Evidence, Measured]:
    study, evidence = module_of(name).case()
    return study, evidence, flow.measure_evidence(study, evidence)


def measured_again(name: str, **changed: pl.DataFrame) -> pl.DataFrame:
    """Return the results where the evidence has other tables."""
    study, evidence, _ = case(name)
    return flow.measure_evidence(study, replace(evidence, **changed)).results


def same_numbers(one: pl.DataFrame, other: pl.DataFrame, but: tuple[str, ...] = ()) -> None:
    about = facets(one)
    columns = [name for name in (*RESULTS, *about) if name not in ("note", *but)]
    sides = [table.sort([*KEYS, *about, "n"], nulls_last=True).select(columns) for table in (one, other)]
    assert_frame_equal(*sides, check_exact=False, rel_tol=1e-7, abs_tol=1e-9)


def test_no_measure_is_forgotten() -> None:
    assert sorted(f"case_{name.replace('/', '_')}" for name in EVERY) == MADE, "each needs its case_NAME.py"


@every_audit
def test_results_keep_their_contract(name: str) -> None:
    study, _, measured = case(name)
    table = check_results(measured.results)
    assert not table.is_empty()
    assert set(table["audit"]) == {get_audit(name).stem}
    assert table["system"].null_count() == 0
    estimates = table.filter(pl.col("value").is_not_null())
    assert not estimates.is_empty()
    assert estimates["n"].min() > 0
    assert estimates["value"].is_finite().all()
    assert set(study.family.measures or get_audit(name).family) & set(table["measure"])


@every_audit
def test_intervals_hold_their_estimate_and_p_is_a_share(name: str) -> None:
    table = case(name)[2].results
    ends = table.drop_nulls(["value", "low", "high"])
    assert (ends["low"] <= ends["value"] + 1e-9).all()
    assert (ends["value"] <= ends["high"] + 1e-9).all()
    for column in ("p", "p_adjusted"):
        assert table[column].drop_nulls().is_between(0, 1).all()
    both = table.drop_nulls(["p", "p_adjusted"])
    assert (both["p_adjusted"] >= both["p"] - 1e-12).all()


@every_audit
def test_row_order_never_matters(name: str) -> None:
    _, evidence, measured = case(name)
    responses = evidence.responses.sample(fraction=1, shuffle=True, seed=1)
    stimuli = evidence.stimuli.sample(fraction=1, shuffle=True, seed=2)
    same_numbers(measured_again(name, responses=responses, stimuli=stimuli), measured.results)


@every_audit
def test_relabelling_groups_only_relabels(name: str) -> None:
    study, evidence, measured = case(name)
    made = module_of(name)
    found = flow.measure_evidence(*made.relabelled(study, evidence)).results
    same_numbers(facing_one_way(made.told_back(found)), facing_one_way(measured.results))


@every_audit
def test_adding_a_system_changes_no_other(name: str) -> None:
    _, evidence, measured = case(name)
    last = sorted(evidence.responses["system"].unique())[-1]
    again = evidence.responses.filter(pl.col("system") == last).with_columns(system=pl.lit("a newcomer"))
    found = measured_again(name, responses=pl.concat([again, evidence.responses]))
    assert "a newcomer" in found["system"]
    known = [name for name in evidence.responses["system"].unique() if name in measured.results["system"]]
    of_known = pl.col("system").is_in(known)
    same_numbers(found.filter(of_known), measured.results.filter(of_known), but=OF_THE_FAMILY)


@every_audit
def test_the_same_answer_recorded_twice_is_refused_or_changes_nothing(name: str) -> None:
    """One vector is an answer, a second is refused; a document at two ranks makes its system not measurable; tags are sets.

    A captioner may say the same twice, which cannot be told from being recorded twice: then `n` counts more captions, and
    the upper end of a rate of 0, which goes by `n`, is lower.
    """
    _, evidence, measured = case(name)
    twice, kind = pl.concat([evidence.responses, evidence.responses]), get_audit(name).kind
    if kind == "encoder":
        with pytest.raises(PortrayalError, match="two vectors"):
            measured_again(name, responses=twice)
    elif kind == "ranker":
        found = measured_again(name, responses=twice)
        spoilt = found.filter(
            pl.col("system").is_in(evidence.responses["system"]), pl.col("reason").str.contains("twice")
        )
        assert set(spoilt["system"]) == set(evidence.responses["system"])
        assert set(spoilt["decision"]) == {NOT_MEASURABLE}
    else:
        more = ("n", "high", *OF_THE_FAMILY) if kind == "captioner" else ()
        same_numbers(measured_again(name, responses=twice), measured.results, but=more)


@every_audit
def test_a_stimulus_listed_twice_is_refused(name: str) -> None:
    _, evidence, _ = case(name)
    with pytest.raises(PortrayalError, match="is listed twice"):
        measured_again(name, stimuli=pl.concat([evidence.stimuli, evidence.stimuli.head(1)]))


@every_audit
def test_measuring_twice_gives_the_same_and_changes_nothing(name: str) -> None:
    study, evidence, measured = case(name)
    before = evidence.responses.clone(), evidence.stimuli.clone()
    again = flow.measure_evidence(study, evidence)
    assert_frame_equal(again.results, measured.results)
    assert_frame_equal(evidence.responses, before[0])
    assert_frame_equal(evidence.stimuli, before[1])


@every_audit
def test_renaming_systems_only_renames(name: str) -> None:
    _, evidence, measured = case(name)
    names = {system: f"other {system}" for system in evidence.responses["system"].unique()}
    found = measured_again(name, responses=evidence.responses.with_columns(pl.col("system").replace(names)))
    told = pl.col("group", "versus", *facets(measured.results)).str.replace_many(
        names
    )  # a contrast may name the systems it compares
    same_numbers(found, measured.results.with_columns(pl.col("system").replace(names), told))


def silent(responses: pl.DataFrame, status: str) -> pl.DataFrame:
    """Return one row a question, of this status and without an answer."""
    answers = [column for column in responses.columns if column not in RESPONSES]
    nothing = [pl.lit(None).cast(responses[column].dtype).alias(column) for column in answers]
    asked = responses.unique(["system", "stimulus", "repeat"], maintain_order=True)
    return asked.with_columns(pl.lit(status).alias("status"), *nothing)


@every_audit
@pytest.mark.parametrize("status", ["failed", "refused"])
def test_silence_is_missing_and_never_a_number(name: str, status: str) -> None:
    study, evidence, _ = case(name)
    systems = evidence.responses["system"].unique().to_list()
    try:
        found = measured_again(name, responses=silent(evidence.responses, status))
    except PortrayalError as error:
        assert "\n" not in str(error)  # nothing to measure may be said in one line
        return
    declared = study.family.measures or list(get_audit(name).family)
    of_systems = found.filter(pl.col("system").is_in(systems) & pl.col("measure").is_in(declared))
    if status == "refused":  # how often a system blocks is known from refusals
        of_systems = of_systems.filter(~pl.col("measure").str.starts_with("blocked_"))
    numbers = of_systems.filter(pl.any_horizontal(pl.col("value", "low", "high", "p").is_not_null()))
    assert numbers.is_empty(), "a number came from silence alone"


@every_audit
def test_missing_answers_are_counted_missing(name: str) -> None:
    """A third of the questions of one system fails: its estimates rest on less, and the loss is counted."""
    _, evidence, measured = case(name)
    system = evidence.responses["system"].unique().sort()[0]
    third = evidence.stimuli["stimulus"].sort().gather_every(3)
    lost = (pl.col("system") == system) & pl.col("stimulus").is_in(third.to_list())
    gone = silent(evidence.responses.filter(lost), "failed")
    found = measured_again(name, responses=pl.concat([evidence.responses.filter(~lost), gone]))
    before, after = (
        table.filter(pl.col("system") == system, ~pl.col("measure").is_in(SILENCE))
        .select(pl.col("n", "n_missing").sum())
        .row(0)
        for table in (measured.results, found)
    )
    assert after[0] < before[0]
    assert after[1] > before[1]
    others = pl.col("system").is_in([name for name in evidence.responses["system"].unique() if name != system])
    same_numbers(found.filter(others), measured.results.filter(others), but=OF_THE_FAMILY)


@every_audit
def test_every_way_of_missing_is_the_same_and_its_words_are_not_read(name: str) -> None:
    """Failed, unknown, planned and unparsable questions are missing, even with an answer in the row."""
    _, evidence, _ = case(name)
    third = pl.col("stimulus").is_in(evidence.stimuli["stimulus"].sort().gather_every(3).to_list())
    kept, gone = evidence.responses.filter(~third), evidence.responses.filter(third)
    silenced = {status: silent(gone, status) for status in ("failed", "unknown", "planned", "unparsable")}
    silenced["with an answer"] = gone.with_columns(pl.lit("failed").alias("status"))
    found = {
        how: measured_again(name, responses=pl.concat([kept, rows])).filter(~pl.col("measure").is_in(SILENCE))
        for how, rows in silenced.items()
    }
    for how, table in found.items():
        if how != "with an answer":
            same_numbers(table, found["failed"], but=(*OF_THE_FAMILY, *OF_THE_ANSWERS))
    same_numbers(found["with an answer"], found["failed"])


@every_audit
def test_refusing_half_of_all_questions_alike_is_one_sentence_on_its_level(name: str) -> None:
    study, evidence, _ = case(name)
    system = evidence.responses["system"].unique().sort()[0]
    half = [one for one in evidence.stimuli["stimulus"] if hashlib.sha256(one.encode()).digest()[0] % 2]
    lost = (pl.col("system") == system) & pl.col("stimulus").is_in(half)
    refused = silent(evidence.responses.filter(lost), "refused")
    responses = pl.concat([evidence.responses.filter(~lost), refused])
    measured = flow.measure_evidence(study, replace(evidence, responses=responses))
    rows = measured.results.with_row_index("row").filter(measure=LEVEL, system=system)
    (told,) = [one.sentence for one in find(study, measured) if one.row in rows["row"].to_list()]
    ways = (
        "refuses more than 10% of its questions: ",
        "leaves more than 10% of its questions unanswered: ",
    )  # some failed too
    assert told.startswith(tuple(f"{measured.shown(system)} {way}" for way in ways)), told
    assert rows["decision"].to_list() == ["found"]


@every_audit
def test_words_for_readers(name: str) -> None:
    study, _, measured = case(name)
    audit = get_audit(name)
    findings = find(study, measured)
    assert findings
    for finding in findings:
        assert 0 <= finding.row < measured.results.height
        assert measured.results["decision"][finding.row] in DECISIONS
        assert finding.sentence.endswith(".")
        assert "biased" not in finding.sentence.lower()
    for chart in audit.charts(measured, study.settings):
        assert chart.text
        assert (chart.chart is None) != (chart.png is None)
    assert audit.validity
    assert audit.question.endswith("?")
