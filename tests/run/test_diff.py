"""Waves held against each other: what changed is found and named, and noise is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.waves import CASES, Case, counted, pair

import portrayal
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.study.audit import Evidence, Measured
from portrayal.study.study_file import make_study
from portrayal.tables import results
from portrayal.waves import changes as jackknife
from portrayal.waves.changes import APART, moved
from portrayal.waves.waves import Wave, versions_changed

PEOPLE, LABELS = 12, 8
STUDY = make_study(
    {"name": "waves", "audit": "counterfactuals", "systems": [{"name": "tagger", "use": "local"}],
     "counterfactuals": {"series": "series"}}
)  # fmt: skip


def phantom(name: str, seed: int, change: float = 0.0, silent: float = 0.05) -> Wave:
    """A tagger asked about twelve people, whose answers are theirs (the same in every wave) and partly chance.

    Half of the labels are tested person by person, half by their intervals; `change` is added to the first of each half.
    """
    theirs = np.random.default_rng(0).normal(0, 1, (PEOPLE, LABELS))
    rng = np.random.default_rng([seed, 7])
    values = theirs + rng.normal(0, 1, (PEOPLE, LABELS)) + change * (np.arange(LABELS) % (LABELS // 2) == 0)
    rows, differences = [], []
    for label in range(LABELS):
        rows.append(clustered_mean(values[:, label]).row("slope", system="tagger", label=f"label {label}", n=PEOPLE))
        shared = enumerate(values[:, label]) if label < LABELS // 2 else ()
        differences += [{"row": label, "unit": f"p{person}", "difference": value} for person, value in shared]
    table = results(rows, facets=("label",), audit="counterfactuals", unit="points")
    answered = ["answered" if one else "failed" for one in rng.random(PEOPLE) >= silent]
    people = [f"p{person}" for person in range(PEOPLE)]
    responses = pl.DataFrame({"system": "tagger", "stimulus": people, "repeat": 0, "status": answered})
    responses = responses.with_columns(tag=pl.when(pl.col("status") == "answered").then(pl.lit("smile")))
    stimuli = pl.DataFrame(
        {"stimulus": people, "person": people, "condition": "edited", "attribute": "gender", "value": 0.0}
    )
    measured = Measured(table, differences=pl.DataFrame(differences))
    return Wave(name, STUDY, Evidence(stimuli, responses), measured, {"values": values})


@pytest.fixture(autouse=True)
def measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure these made-up waves without some people as their own measure would: the mean of those who are left."""
    own = jackknife._values

    def values(wave: Wave, block: pl.DataFrame, about: list[str]) -> dict[tuple[str | None, ...], float]:
        if "values" not in wave.manifest:
            return own(wave, block, about)
        left = [person for person in range(PEOPLE) if f"p{person}" not in set(block["stimulus"])]
        means = wave.manifest["values"][left].mean(axis=0)
        told = {"system": "tagger", "measure": "slope"}
        return {
            tuple({**told, "label": f"label {label}"}.get(name) for name in about): float(mean)
            for label, mean in enumerate(means)
        }

    monkeypatch.setattr(jackknife, "_values", values)


def found(waves: list[Wave]) -> list[str]:
    table = moved(waves).filter(pl.col("decision") == "found")
    return [f"{row['measure']} {row['label'] or ''}".strip() for row in table.iter_rows(named=True)]


def test_at_most_17_of_200_unchanged_pairs_show_a_change() -> None:
    # 5% of 200 are 10; 17 or fewer are seen in 98 of 100 such counts
    assert sum(bool(found([phantom("a", 2 * pair), phantom("b", 2 * pair + 1)])) for pair in range(200)) <= 17


def test_a_planted_change_is_found_both_ways_and_only_there() -> None:
    pairs = [found([phantom("a", 2 * pair), phantom("b", 2 * pair + 1, change=3.0)]) for pair in range(20)]
    assert sum("slope label 0" in pair for pair in pairs) >= 18  # person by person
    assert sum("slope label 4" in pair for pair in pairs) >= 18  # by two intervals
    assert sum(bool({*pair} - {"slope label 0", "slope label 4"}) for pair in pairs) <= 3


def test_a_system_that_falls_silent_is_found() -> None:
    waves = [phantom("a", 0, silent=0.0), phantom("b", 1, silent=0.9)]
    row = moved(waves).filter(pl.col("measure") == "answered").row(0, named=True)
    assert (row["decision"], row["first"], row["compared"]) == ("found", 1.0, "paired by person")
    assert row["value"] == pytest.approx(row["second"] - 1.0)


def test_a_third_wave_is_held_against_the_first() -> None:
    table = moved([phantom("a", 0), phantom("b", 1), phantom("c", 2, change=4.0)])
    rows = table.filter(pl.col("decision") == "found")
    assert set(rows["to"]) == {"c"} and set(rows["from"]) == {"a"}
    assert set(table["to"]) == {"b", "c"} and table.height == 2 * (LABELS + 1)


def test_a_change_by_hand() -> None:
    first, later = phantom("a", 0), phantom("b", 1)
    row = moved([first, later]).filter(pl.col("label") == "label 5").row(0, named=True)
    one, other = (wave.measured.results.row(5, named=True) for wave in (first, later))
    assert row["compared"] == APART
    assert row["value"] == pytest.approx(other["value"] - one["value"])
    lower = np.hypot(other["value"] - other["low"], one["high"] - one["value"])  # the halves that face each other
    assert row["low"] == pytest.approx(row["value"] - lower)


# A small share of benchmarks/waves.py, whose table is in docs/diff.md.
@pytest.mark.parametrize(
    ("stem", "pairs"), [("search", 10), ("counterfactuals", 8), ("associations", 15), ("contexts", 3), ("captions", 1)]
)  # fmt: skip
def test_unchanged_waves_of_whole_audits_show_no_change(stem: str, pairs: int) -> None:
    # 5% of 15 are 0.75; 3 or more are seen in 4 of 100 such counts
    assert counted(Case(stem, "small"), pairs)[0] <= 2


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.effect and case.stem != "captions" and case.shape != "large"]
)
def test_a_planted_change_of_a_whole_audit_is_found(case: Case) -> None:
    assert counted(case, 2) == (2, 2)


@pytest.mark.parametrize("seed", [11, 14])
def test_a_change_that_few_people_carry_is_not_found_from_its_intervals(seed: int) -> None:
    """Few pictures are without a gender: both intervals are far too narrow there, and that alone is no change."""
    found, _ = pair(Case("contexts", "small"), seed)
    row = found.measures.drop_nulls("p").sort("p").row(0, named=True)
    assert row["p"] * found.measures.height < 0.06  # Holm over all rows would find it, or nearly
    assert row["measure"] == "recognition_independence"
    assert (row["decision"], row["compared"]) == ("not found", "two intervals, and people left out in turn")
    assert row["p_adjusted"] >= 0.05


def test_pseudo_values_of_a_mean_are_the_people_themselves() -> None:
    # n m - (n - 1) m_without = the person's own value, so of a mean the test is that of the people's changes.
    first, later = phantom("a", 0), phantom("b", 1)
    changes = moved([first, later]).filter(pl.col("measure") == "slope")
    added = jackknife._pseudo_values([first, later], changes, ["system", "measure", "label"])
    theirs = later.manifest["values"] - first.manifest["values"]
    assert added.shape == (PEOPLE, LABELS)
    assert np.sort(added[:, 5]) == pytest.approx(np.sort(theirs[:, 5]))


def test_waves_of_which_one_has_columns_the_other_lacks() -> None:
    waves = [phantom("a", 0, silent=0.0), phantom("b", 1, silent=0.0), phantom("c", 2, silent=0.9)]
    answered = moved(waves).filter(pl.col("measure") == "answered")
    assert answered.select("to", "decision").rows() == [("b", "not tested"), ("c", "found")]


def test_a_row_that_is_not_measurable_in_one_wave_is_no_change() -> None:
    first, later = phantom("a", 0), phantom("b", 1, change=4.0)
    broken = later.measured.results.with_columns(decision=pl.lit("not measurable"))
    later = replace(later, measured=replace(later.measured, results=broken))
    assert set(moved([first, later])["measure"]) == {"answered"}


@pytest.fixture(scope="module")
def two(audited: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two waves of a tagger: in the second, 'nurse' is called 'soldier'."""
    first = audited("counterfactuals")
    second = tmp_path_factory.mktemp("wave") / "june"
    shutil.copytree(first, second, ignore=shutil.ignore_patterns("run"))
    tags = pl.read_csv(second / "tags.csv").with_columns(pl.col("tag").replace("nurse", "soldier"))
    tags.write_csv(second / "tags.csv")
    portrayal.audit(second / "study.toml", second / "run2", quiet=True)
    return first / "run", second / "run2"


def test_answers_words_and_files(two: tuple[Path, Path], tmp_path: Path) -> None:
    found = portrayal.diff(list(two), tmp_path / "diff")
    lines = found.lines()
    # of seven steps three or four are called nurse, by turns: 6 x 3 + 3 = 21 of 42
    assert lines[0].startswith("mine: 21 of 42 answers changed from run to run2 (made more feminine 18 of 18, ")
    assert "mine: appeared by run2: soldier (21)" in lines and "mine: vanished by run2: nurse (21)" in lines
    assert found.examples.select("answer", "answer_later").row(0) == ("nurse", "soldier")
    kept = json.loads((tmp_path / "diff" / "diff.json").read_text())
    assert kept["waves"] == ["run", "run2"] and kept["answers"][0]["changed"] == 21
    page = found.page.read_text()
    assert "21 of 42 answers changed" in page and "<script" not in page
    portrayal.diff(list(two), tmp_path / "diff")  # a second time into the same folder


def test_a_wave_against_itself_changes_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(two[0], copy)
    lines = portrayal.diff([two[0], copy], tmp_path / "diff").lines()
    assert lines[0] == "mine: 0 of 42 answers changed from run to copy"
    assert lines[1].startswith("no measure moved beyond noise: ") and len(lines) == 2


def test_a_gate_can_rule_on_drift(two: tuple[Path, Path], tmp_path: Path) -> None:
    rules = tmp_path / "gate.toml"
    rules.write_text('[[rules]]\nname = "nothing moved"\ndrift = true\nnever = ["found"]\n')
    (verdict,) = portrayal.gate(two[1], rules, against=two[0])
    assert verdict.holds and verdict.rows >= 1
    rules.write_text('[[rules]]\nname = "d"\ndrift = true\nwhere = {measure = "answered"}\nvalue_least = 0.5\n')
    (verdict,) = portrayal.gate(two[1], rules, against=two[0])
    assert verdict.reason == "mine, answered has value 0, under 0.5"
    with pytest.raises(PortrayalError, match="no earlier run was given. Add --against RUN"):
        portrayal.gate(two[1], rules)


def test_what_are_no_waves_is_one_line(audited: Callable[[str], Path], two: tuple[Path, Path], tmp_path: Path) -> None:
    for folders, words in (
        ([two[0]], "1 run was given. Expected two or more"),
        (
            [two[0], audited("associations") / "run"],
            "audits associations, counterfactuals. Expected waves of one study",
        ),
        ([two[0], tmp_path], "no run in"),
    ):
        with pytest.raises(PortrayalError, match=words):
            portrayal.diff(folders, tmp_path / "diff")
    assert not (tmp_path / "diff").exists()


def test_versions_that_changed_are_named() -> None:
    systems = [{"name": "s", "use": "http", "version_asked": "", "versions_answered": ["v1"]}]
    later = [{**systems[0], "versions_answered": ["v1", "v2"]}]
    one, other = (
        Wave("a", STUDY, Evidence(pl.DataFrame(), pl.DataFrame()), Measured(pl.DataFrame()), manifest)
        for manifest in (
            {"study_sha256": "1", "systems": systems, "versions": {"numpy": "2.0"}},
            {"study_sha256": "2", "systems": later, "versions": {"numpy": "2.1"}},
        )
    )
    assert list(versions_changed(one, other)) == [
        "the study file is another", "s: version answered v1, then v1, v2", "numpy 2.0, then 2.1",
    ]  # fmt: skip


def test_a_run_is_no_second_wave_of_itself(tmp_path: Path) -> None:
    portrayal.audit(portrayal.example_study(), tmp_path / "run", quiet=True)
    with pytest.raises(PortrayalError, match="a run was given twice"):
        portrayal.diff([tmp_path / "run", tmp_path / "other" / ".." / "run"], tmp_path / "out")
