"""The captions audit as a study: findings with their mitigation, what each technique needs, and every reader."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from documentation.pages import pages_of, text_of
from portrayal import flow
from portrayal.audits.captions import AUDIT
from portrayal.audits.captions.figures import DELETION_WARNING, MOST_ROWS, SHOWN
from portrayal.audits.captions.findings import CLAIMS
from portrayal.audits.captions.inputs import read_inputs, stages_of
from portrayal.audits.captions.measures import demeaning_people, demeaning_rules, stereotyping_tuples
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, HUMAN_SAME, SYSTEM_CAPTIONS, SYSTEM_LABELS
from portrayal.audits.captions.settings import CaptionsSettings, HumanCaptions, Labels, People
from portrayal.reporting.words.sentences import found_sentence
from portrayal.study.audit import Measured
from portrayal.study.study_file import read_study
from portrayal.text.words.harm_lists import COLUMNS

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
    settings = "scenes = 160\nobject_types = 5\nsplits = 20\nbootstraps = 20\nprocesses = 1"
    systems = {
        name: f'use = "phantom:captions"\nparameters = {{ plants = "{harm}", rate = 0.6 }}'
        for name, harm in PLANTED.items()
    }
    return measured(write_study(tmp_path_factory.mktemp("planted"), settings, systems))


def found_sentences(planted: Measured, system: str) -> list[str]:
    findings = AUDIT.findings(planted, AUDIT.settings.model_construct())
    decided = planted.results.select("system", "decision").rows()
    return [one.sentence for one in findings if decided[one.row] == (system, "found")]


def test_the_warning_and_the_mitigations_stand_once_and_in_no_sentence(planted: Measured) -> None:
    tables = AUDIT.tables(planted, AUDIT.settings.model_construct())
    stages = next(table for table in tables if table.name == "stages")
    assert stages.text == DELETION_WARNING
    pairs = stages.table.select("found at", "against").rows()
    assert len(set(pairs)) == len(pairs) >= 3
    assert any("look at the language model" in text for text in stages.table["the paper suggests"])
    findings = AUDIT.findings(planted, AUDIT.settings.model_construct())
    assert not [one.sentence for one in findings if "language model" in one.sentence or "erase:" in one.sentence]


@pytest.mark.parametrize(
    ("system", "wording"),
    [
        ("leaves out", "leaves out people annotated darker more often than people annotated lighter: "),
        (
            "girls",
            "breaks the rule 'women called girls' (people annotated female) in more than 0.5% of images, by an upper bound: ",
        ),
        ("wrong", "uses the wrong group word more often for people annotated female than for people annotated male: "),
        ("marks", "names the race of people annotated darker more often than that of people annotated lighter: "),
        (
            "erases",
            "leaves out or generalises things listed for the group disabled more often than other things of the same",
        ),
    ],
)
def test_each_planted_harm_is_told_in_words(planted: Measured, system: str, wording: str) -> None:
    told = found_sentences(planted, system)
    assert any(text.startswith(f"{system} {wording}") for text in told), told
    assert all(" images, adjusted p" in text for text in told), told


def test_error_is_told_beside_neutral_wording_and_omission(planted: Measured) -> None:
    text = next(text for text in found_sentences(planted, "wrong") if "wrong group word" in text)
    assert (
        "Beside it, neutral wording: female 0.0% and male 0.0%; person not mentioned: female 0.0% and male 0.0%."
        in text
    )


def test_the_human_captions_are_told_where_they_were_measured_on_the_same_images(planted: Measured) -> None:
    (girls,) = [text for text in found_sentences(planted, "girls") if "women called girls" in text]
    women = planted.results.filter(
        pl.col("system") == "girls", pl.col("stage") == HUMAN_SAME, pl.col("subject") == "women called girls"
    ).row(0, named=True)
    tested = planted.results.filter(
        pl.col("system") == "girls", pl.col("measure") == demeaning_rules.TEST, pl.col("stage") == SYSTEM_CAPTIONS,
        pl.col("subject") == "women called girls",
    ).row(0, named=True)  # fmt: skip
    assert women["n"] == tested["n"]  # women, and not all images
    assert " In the human captions of the same images it is 0.0% (95% interval 0.0 to " in girls
    assert "cause" not in girls


def test_a_difference_names_the_object_and_faces_the_group_it_is_larger_for(planted: Measured) -> None:
    # 'wrong' says man of women, which makes no difference of objects; the largest is named all the same.
    rows = planted.results.filter(
        pl.col("measure") == stereotyping_tuples.TEST, pl.col("quantity") == "object tuples", pl.col("p").is_not_null()
    )
    assert rows.height
    assert rows["subject"].null_count() == 0
    row = {**rows.row(0, named=True), "row": 0, "decision": "found", "value": -0.3, "low": -0.4, "high": -0.2}
    claim = CLAIMS[stereotyping_tuples.TEST]
    said = found_sentence({**row, "subject": "dog", "group": "female", "versus": "male"}, claim, planted)
    assert "says 'dog' more often of people annotated male than of people annotated female" in said
    assert ": 30 percentage points (95% interval 20 to 40" in said


def test_charts_fill_what_was_found_and_leave_out_what_is_all_zero(planted: Measured) -> None:
    charts = {chart.name: chart for chart in AUDIT.charts(planted, AUDIT.settings.model_construct())}
    assert set(charts) == {"harms", "people_not_mentioned", "wrong_group_word", "person_not_mentioned"}
    drawn = charts["people_not_mentioned"].chart.to_dict(format="vega")["data"]
    points = [row for data in drawn for row in data.get("values", []) if "found" in row]
    assert {(row["series"], row["label"]) for row in points if row["found"]} == {
        ("leaves out", "skin: darker less lighter")
    }
    silent = planted.results.filter(pl.col("measure") != demeaning_people.TEST)
    names = {chart.name for chart in AUDIT.charts(Measured(silent), AUDIT.settings.model_construct())}
    assert "people_not_mentioned" not in names


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
    assert "human labels" in dict(needs.select("technique", "needs").iter_rows())["demeaning: people not mentioned"]


def test_a_rule_nobody_could_check_is_named_in_the_remarks_and_the_needs(tmp_path: Path) -> None:
    people = {"image": ["1", "2"], "axis": ["skin"] * 2, "group": ["darker"] * 2, "assigned_by": ["annotators"] * 2}
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    found = measured(recorded(tmp_path, 'people = { file = "people.csv" }'))
    assert any("a weapon wrongly mentioned" in remark for remark in found.remarks)
    weapon = pl.col("subject") == "a weapon wrongly mentioned with a Black person"
    row = found.results.filter(weapon).row(0, named=True)
    assert (row["value"], row["n"], row["n_missing"]) == (None, 0, 2)
    assert (row["decision"], row["reason"]) == (
        "not measurable",
        "no other stage tells whether it is wrongly mentioned",
    )


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


def test_the_pages_name_every_setting() -> None:
    page = "\n".join(text_of(name) for name in pages_of("captions"))
    for model in (CaptionsSettings, HumanCaptions, Labels, People):
        for name in model.model_fields:
            assert f"`{name}`" in page or f"{name} =" in page, name
    for name in COLUMNS:
        assert f"`{name}`" in page, name


def test_the_report_shows_cases_with_their_captions(planted) -> None:
    shown = next(table for table in AUDIT.tables(planted, AUDIT.settings.model_construct()) if table.name == "cases")
    girls = shown.table.filter(pl.col("system") == "girls", pl.col("technique").str.contains("context"))
    assert 1 <= len(girls) <= 4
    assert girls["caption"].str.contains("girl").all()
    assert "reviews.csv" in shown.text
