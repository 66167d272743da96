"""The counterfactuals audit end to end, on a folder of series and a phantom; nothing is manipulated here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from portrayal import flow
from portrayal.audits.counterfactuals.measures.axis import Axis, with_poles
from portrayal.audits.counterfactuals.measures.measure import with_decisions
from portrayal.audits.counterfactuals.measures.occupations import shipped_table
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.tables import first_of_each, label_table, report_tables, steepest
from portrayal.audits.counterfactuals.world import LABELS
from portrayal.pictures.series.folder import Chosen, read_folder
from portrayal.pictures.series.manifest import MADE
from portrayal.pictures.series.values import steps
from portrayal.run.contents import read_measured
from portrayal.run.folder import existing_run
from portrayal.study.registry import get_audit
from portrayal.study.study_file import read_study
from portrayal_faces.photographs.study import starting_groups, with_starts

STUDY = """
name = "folder"
audit = "counterfactuals"
[counterfactuals]
series = "series"
source = "drawn"
consent = "{consent}"
age = "30-39"
labels = ["Nurse"]
poles = ["White", "Black"]
[[systems]]
name = "phantom"
use = "phantom:counterfactuals"
"""


def make_folder(folder: Path, pictures: int = 24, attributes: tuple[str, ...] = ("gender",)) -> None:
    """A folder of series of plain squares; the phantom reads its manifest."""
    inside = folder / "series"
    inside.mkdir()
    for picture in range(pictures):
        for attribute in attributes:
            for place, value in enumerate(steps(attribute)):
                colour = (picture * 10, place * 30, 100 + len(attribute))
                Image.new("RGB", (8, 8), colour).save(inside / f"person{picture}_{attribute}_{value:+.2f}.png")
    named = Chosen(pairs=[("White", "Black")])  # names of files have no room for poles
    stimuli = read_folder(inside, "drawn", "", "generated", "30-39", named).stimuli
    stimuli.write_parquet(inside / MADE)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counterfactuals")
    make_folder(folder)
    (folder / "study.toml").write_text(STUDY.format(consent="generated"))
    flow.audit(folder / "study.toml", folder / "run", quiet=True)
    return folder / "run"


def test_planted_labels_are_found_in_their_direction(run: Path):
    results = pl.read_parquet(run / "results.parquet")
    slopes = dict(results.filter(pl.col("measure") == "slope").select("label", "value").iter_rows())
    assert slopes["Nurse"] < -0.1 and slopes["Scientist"] > 0.1 and slopes["Face"] == 0.0
    family = results.filter(pl.col("family") == "confirmatory")
    assert set(family["measure"]) == {"raw_slope"} and family["p_adjusted"].null_count() == 0
    found = set(results.filter(pl.col("decision") == "found")["label"])
    assert found and found <= {name for name, slope in LABELS.items() if slope}
    assert results.filter(pl.col("measure") == "labels_tested")["value"].to_list() == [13.0]


def test_the_report_has_curves_strips_tables_and_findings(run: Path):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Labels that come with feminine faces" in page and "Search results against the workforce" in page
    assert "no manipulation check was done here" in page
    charts = {path.stem for path in (run / "charts").glob("*.png")}
    assert any("sensitivity" in name for name in charts) and any("strip" in name for name in charts)
    measured = read_measured(existing_run(run))
    findings = get_audit("counterfactuals").findings(measured, CounterfactualsSettings())
    assert any("phantom gives" in finding.sentence for finding in findings)
    assert all(measured.results.row(finding.row, named=True)["value"] is not None for finding in findings)


@pytest.mark.parametrize("consent", ["signed form 7", "generated from photographs of our staff"])
def test_strips_show_generated_people_only(tmp_path: Path, consent: str):
    make_folder(tmp_path, 3)
    (tmp_path / "study.toml").write_text(STUDY.format(consent=consent))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    assert not [path for path in (tmp_path / "run" / "charts").iterdir() if "strip" in path.name]


@pytest.fixture(scope="module")
def two_systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    make_folder(folder, 12, ("gender", "race"))
    second = '[[systems]]\nname = "second"\nuse = "phantom:counterfactuals"\n[systems.parameters]\nseed = 1\n'
    (folder / "study.toml").write_text(STUDY.format(consent="generated") + second)
    flow.audit(folder / "study.toml", folder / "run", quiet=True)
    return folder / "run"


def test_the_tables_have_the_corrected_p_of_the_results(two_systems: Path):
    measured = read_measured(existing_run(two_systems))
    slopes = measured.results.filter(pl.col("measure") == "raw_slope")
    key = ["system", "attribute", "label"]
    ours = with_decisions(measured.tables["labels"], measured.results).select(*key, "p_adjusted").sort(key)
    theirs = slopes.select(*key, "p_adjusted").sort(key)
    assert ours["system"].n_unique() == 2 and ours["attribute"].n_unique() == 2
    assert ours.equals(theirs)
    # A study may declare another correction: then the report's tables still say what the results say.
    holm = measured.results.with_columns(pl.lit(0.5).alias("p_adjusted"))
    tables = report_tables(replace(measured, results=holm), CounterfactualsSettings())
    shown = next(table.table for table in tables if table.name == "gender_feminine")
    assert set(shown["p_adjusted"]) == {0.5} and shown["system"].n_unique() == 2


def test_every_end_of_an_axis_has_a_table_of_its_own(two_systems: Path):
    measured = read_measured(existing_run(two_systems))
    names = [table.name for table in report_tables(measured, CounterfactualsSettings())]
    assert len(set(names)) == len(names)
    assert {"gender_feminine", "gender_masculine", "race_White_Black_White", "race_White_Black_Black"} <= set(names)
    for name in ("race_White_Black_White", "race_White_Black_Black"):
        assert any(name in path.name for path in (two_systems / "tables").iterdir())


def test_curves_are_drawn_for_race_too(two_systems: Path):
    charts = {path.stem for path in (two_systems / "charts").glob("*.png")}
    for axis in ("gender", "race-White-Black"):
        assert any(f"sensitivity-{axis}-Nurse" in name for name in charts)


def test_no_system_hides_another_in_a_table():
    labels = [f"label {place:02}" for place in range(70)]
    table = pl.DataFrame({"system": ["a"] * 70 + ["b"] * 2, "attribute": ["gender"] * 72, "label": [*labels, "x", "y"]})
    kept, cut = first_of_each(table, "system")
    assert kept["system"].to_list() == ["a"] * 60 + ["b"] * 2
    assert "left out here: 10 of a." in cut
    kept, cut = first_of_each(table.head(3), "system", "attribute")
    assert kept.height == 3 and not cut


def test_people_labelled_young_are_named_and_counted_in_the_report(tmp_path: Path):
    make_folder(tmp_path, 4)
    rows = pl.read_parquet(tmp_path / "series" / MADE).with_columns(
        pl.col("content").str.split("/").list.last().alias("file"),
        pl.when(pl.col("picture") == "person3").then(pl.lit("18-25")).otherwise(pl.lit("30-39")).alias("age"),
    )
    rows.select("file", "picture", "attribute", "value", "age").write_csv(tmp_path / "series" / "series.csv")
    (tmp_path / "study.toml").write_text(STUDY.format(consent="generated"))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    measured = read_measured(existing_run(tmp_path / "run"))
    assert measured.tables["left_out"].rows() == [("person3", "labelled under 20", True)]
    assert "1 picture was left out: labelled under 20." in measured.remarks
    assert "person3" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_run_is_measured_again_where_its_pictures_are_gone(tmp_path: Path):
    make_folder(tmp_path, 3)
    (tmp_path / "study.toml").write_text(STUDY.format(consent="generated"))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    (tmp_path / "series").rename(tmp_path / "elsewhere")
    before = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    measured = flow.measure(tmp_path / "run")
    assert pl.read_parquet(tmp_path / "run" / "responses.parquet").equals(before)
    assert set(measured.pictures) == {"strip-gender"}


def test_a_system_that_never_answers_is_reported_and_not_a_crash(tmp_path: Path):
    make_folder(tmp_path, 3)
    (tmp_path / "tags.csv").write_text("stimulus,tag\nsomebody else,nurse\n")
    text = STUDY.format(consent="generated").replace("phantom:counterfactuals", "replay:tags.csv")
    (tmp_path / "study.toml").write_text(text)
    page = flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True).report
    assert "phantom" in page.read_text(encoding="utf-8")
    results = pl.read_parquet(tmp_path / "run" / "results.parquet")
    assert results.filter(pl.col("measure") == "slope").is_empty()


def test_plain_concepts_can_be_kept():
    labels = pl.DataFrame(
        {"system": ["a"] * 2, "attribute": ["gender"] * 2, "label": ["Face", "Nurse"], "slope": [-0.2, -0.1], "low": [None] * 2,
         "high": [None] * 2, "slope_per_step": [-0.1] * 2, "decision": ["not tested"] * 2, "p_adjusted": [0.1] * 2, "p_paper": [0.1] * 2,
         "passes_paper": [False] * 2, "at_centre": [9] * 2, "occupation": [None, "health"], "plain": [True, False]}
    )  # fmt: skip
    assert steepest(label_table(with_poles(labels), False), Axis("gender"), -1)["label"].to_list() == ["Nurse"]
    assert steepest(label_table(with_poles(labels), True), Axis("gender"), -1)["label"].to_list() == ["Face", "Nurse"]


def test_the_published_tables_have_our_order():
    # Joo, Kaerkkaeinen (2020), Tables 1 and 2: within a system the steepest first. One line of Table 2 is out of order
    # there (Clarifai, "police" .054 after "construction worker" .053).
    published = shipped_table("published_gender_slopes").with_columns(
        pl.lit("gender").alias("attribute"), pl.lit(True).alias("shown"),
        *(pl.lit(None, pl.Float64).alias(name) for name in ("low", "high", "slope_per_step", "p_adjusted", "p_paper")),
        pl.lit(True).alias("passes_paper"), pl.lit(0).alias("at_centre"),
        *(pl.lit(None, pl.String).alias(name) for name in ("occupation", "decision")),
    )  # fmt: skip
    ours = steepest(with_poles(published), Axis("gender"), 1).filter(pl.col("system") == "IBM")
    theirs = published.filter((pl.col("system") == "IBM") & (pl.col("table") == "2"))
    assert ours["slope"].to_list() == theirs["slope"].to_list()


def test_a_folder_may_say_where_people_start(tmp_path: Path):
    make_folder(tmp_path, 4)
    rows = pl.read_parquet(tmp_path / "series" / MADE).with_columns(
        pl.col("content").str.split("/").list.last().alias("file"),
        pl.when(pl.col("picture") < "person2").then(pl.lit("female")).otherwise(pl.lit("male")).alias("start"),
    )
    rows.select("file", "picture", "attribute", "value", "start").write_csv(tmp_path / "series" / "series.csv")
    (tmp_path / "study.toml").write_text(STUDY.format(consent="generated"))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    results = pl.read_parquet(tmp_path / "run" / "results.parquet")
    by_start = results.filter(pl.col("measure") == "slope_by_start", pl.col("label") == "Face")
    assert by_start.select("group", "n", "counted").rows() == [("female", 2, "people"), ("male", 2, "people")]


def test_a_table_of_pictures_may_say_where_people_start(tmp_path: Path):
    (tmp_path / "pictures.csv").write_text("file,source,consent,gender\nanna.png,me,yes,female\nbert.png,me,yes,\n")
    text = STUDY.format(consent="generated").replace('series = "series"', 'pictures = "pictures.csv"')
    (tmp_path / "study.toml").write_text(text)
    starts = starting_groups(read_study(tmp_path / "study.toml"))
    assert starts.drop_nulls().rows() == [("anna.png", "gender", "female")]
    stimuli = pl.DataFrame({"stimulus": ["a", "b", "c"], "picture": ["anna.png", "anna.png", "bert.png"],
                            "attribute": ["gender", "race", "gender"]})  # fmt: skip
    assert with_starts(stimuli, starts)["start"].to_list() == ["female", None, None]
    assert "start" not in with_starts(stimuli, starts.with_columns(start=pl.lit(None, pl.String))).columns


def test_the_report_says_how_race_is_changed_in_photographs():
    from portrayal_faces.photographs.model import CHOSEN

    # The Fader network tinted the skin; it no longer ships, and the sentence stayed.
    told = " ".join(get_audit("counterfactuals").validity)
    assert CHOSEN["race"] == "means.npz" and "mean faces" in told
    assert "tint" not in told and "seen in training" not in told


def test_the_report_does_not_say_of_whole_series_that_only_the_face_changes():
    told = get_audit("counterfactuals").validity
    faces = [one for one in told if "clothes" in one]
    assert len(faces) == 1 and faces[0].startswith("In face only series")
    assert "In whole series they may follow the cue" in faces[0]


def test_a_missed_check_is_told_apart_from_its_bound():
    from portrayal.audits.counterfactuals.checks import _missed

    row = {"check": "perceived gender stays", "unit": "P(female)", "needs": "under 0.15 in size"}
    assert (
        _missed({**row, "value": -0.15368})
        == "'perceived gender stays': −0.154 P(female), where under 0.15 in size is needed"
    )
    assert "−0.1500" in _missed({**row, "value": -0.15004}) and ": −0.31 P" in _missed({**row, "value": -0.31})
    assert ": 0.597 P" in _missed({**row, "value": 0.597, "needs": "at least 0.6"})
    assert ": 7.30 P" in _missed({**row, "value": 7.3, "needs": "under 5 in size"})
