"""The captions audit as a study: findings with their mitigation, what each technique needs, and every reader."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.captions import AUDIT
from portrayal.audits.captions.findings import MOST_ROWS, SHOWN
from portrayal.audits.captions.inputs import read_inputs, stages_of
from portrayal.audits.captions.measures.stages import DELETION_WARNING, HUMAN_LABELS, SYSTEM_LABELS
from portrayal.runs.audit import Measured
from portrayal.runs.study_file import read_study

PLANTED = {
    "leaves out": "people not mentioned",
    "girls": "context-specific harms",
    "wrong": "group words wrong",
    "marks": "markedness",
    "erases": "artifacts not recognised",
}


def write_study(folder: Path, settings: str, systems: dict[str, str]) -> Path:
    """Write a study of these settings; systems are name -> the lines that follow the name."""
    tables = [f'[[systems]]\nname = "{name}"\n{lines}\n' for name, lines in systems.items()]
    path = folder / "study.toml"
    path.write_text("\n".join(['name = "test"', 'audit = "captions"', "[captions]", settings, *tables]))
    return path


def measured(path: Path) -> Measured:
    """Record and measure a study."""
    flow.record(path, path.parent / "run", quiet=True)
    return flow.measure(path.parent / "run")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    settings = (
        "scenes = 160\nobject_types = 5\nsplits = 20\nbootstraps = 20\npermutations = 99\nprocesses = 1"
    )
    systems = {
        name: f'use = "phantom:captions"\nparameters = {{ plants = "{harm}", rate = 0.6 }}'
        for name, harm in PLANTED.items()
    }
    return measured(write_study(tmp_path_factory.mktemp("planted"), settings, systems))


def test_every_finding_carries_its_mitigation_and_the_warning(planted: Measured) -> None:
    findings = AUDIT.findings(planted, AUDIT.settings.model_construct())
    harms = [finding for finding in findings if not finding.sentence.startswith("No technique found")]
    told = {planted.results["system"][finding.row] for finding in harms}
    assert set(PLANTED) <= told
    for finding in harms:
        assert DELETION_WARNING in finding.sentence, finding.sentence
        assert "look at the language model" in finding.sentence.lower(), finding.sentence


@pytest.mark.parametrize(
    ("system", "wording"),
    [
        ("leaves out", "leaves out people annotated darker more often than people annotated lighter"),
        ("girls", "use a word that demeans the person in this context"),
        ("wrong", "uses the wrong group word"),
        ("marks", "names the race of people annotated"),
        ("erases", "do not recognise a group's artifacts"),
    ],
)
def test_each_planted_harm_is_told_in_words(planted: Measured, system: str, wording: str) -> None:
    findings = AUDIT.findings(planted, AUDIT.settings.model_construct())
    told = [f.sentence for f in findings if planted.results["system"][f.row] == system]
    assert any(wording in text for text in told), told


def test_error_is_told_beside_neutral_wording_and_omission(planted: Measured) -> None:
    text = next(
        f.sentence
        for f in AUDIT.findings(planted, AUDIT.settings.model_construct())
        if "wrong group word" in f.sentence
    )
    assert "neutral wording: " in text
    assert "person not mentioned: " in text


def recorded(folder: Path, settings: str = "", images: tuple[str, ...] = ("1", "2")) -> Path:
    """Write a study of recorded captions in a COCO results file."""
    pl.DataFrame({"image": images}).write_csv(folder / "images.csv")
    captions = [{"image_id": int(image), "caption": "a man with a rifle"} for image in images]
    (folder / "results.json").write_text(json.dumps(captions))
    lines = f'images = "images.csv"\nprocesses = 1\n{settings}'
    return write_study(folder, lines, {"mine": 'use = "replay:results.json"'})


def test_the_needs_table_names_what_is_missing(tmp_path: Path) -> None:
    found = measured(recorded(tmp_path))
    needs = next(
        table for table in AUDIT.tables(found, AUDIT.settings.model_construct()) if table.name == "needs"
    ).table
    absent = dict(needs.select("technique", "not measured here").iter_rows())
    assert "mine: without a ground truth nothing tells" in absent["erasing: artifacts not recognised"]
    assert "mine: without annotated people" in absent["demeaning: context-specific harms"]
    assert absent["demeaning: demeaning words"] == ""
    assert (
        "human labels"
        in dict(needs.select("technique", "needs").iter_rows())["demeaning: people not mentioned"]
    )


def test_a_rule_nobody_could_check_is_named_in_the_warnings_and_the_needs(tmp_path: Path) -> None:
    people = {
        "image": ["1", "2"],
        "axis": ["skin"] * 2,
        "group": ["darker"] * 2,
        "assigned_by": ["annotators"] * 2,
    }
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    found = measured(recorded(tmp_path, 'people = { file = "people.csv" }'))
    assert any("a weapon wrongly mentioned" in warning for warning in found.warnings)
    row = found.results.filter(pl.col("measure").str.contains("a weapon wrongly")).row(0, named=True)
    assert (row["value"], row["n"], row["n_missing"]) == (None, 0, 2)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("coco results", '[{"image_id": 1, "caption": "a woman"}]'),
        ("vinvl", '1\t[{"caption": "a woman", "conf": 0.9}]\n'),
    ],
)
def test_human_captions_in_the_formats_systems_write(tmp_path: Path, form: str, text: str) -> None:
    (tmp_path / "human.file").write_text(text)
    study = recorded(tmp_path, f'human_captions = {{ file = "human.file", format = "{form}" }}')
    human = read_inputs(read_study(study))["human"]
    assert human.select("image", "text").rows() == [("1", "a woman")]


def test_spice_graphs_are_labels_of_references_and_of_what_was_tested(tmp_path: Path) -> None:
    entry = {"image_id": 1, "ref_tuples": [{"tuple": ["woman"]}], "test_tuples": [{"tuple": ["man"]}]}
    (tmp_path / "spice.json").write_text(json.dumps([entry]))
    labels = 'human_labels = { spice = "spice.json" }\nsystem_labels = { spice = "spice.json" }'
    stages = stages_of(read_inputs(read_study(recorded(tmp_path, labels))))
    assert stages.at(HUMAN_LABELS)["word"].to_list() == ["woman"]
    assert stages.at(SYSTEM_LABELS)["word"].to_list() == ["man"]


def test_tables_are_cut_for_each_system_and_say_so(planted: Measured) -> None:
    systems = ["long"] * (MOST_ROWS + 7) + ["short"] * 2
    table = pl.DataFrame({"system": systems, "where": [str(i) for i in range(len(systems))]})
    cut = Measured(planted.results, {"tuples": table})
    shown = next(one for one in AUDIT.tables(cut, AUDIT.settings.model_construct()) if one.name == "tuples")
    assert shown.table.group_by("system").len().sort("system").rows() == [("long", MOST_ROWS), ("short", 2)]
    assert shown.text.startswith(SHOWN["tuples"][1])
    assert "rows cut: long 7." in shown.text
