"""A folder of series in the form of docs/series_on_disk.md, through the whole path: three pairs are three questions."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from audits.counterfactuals.drawn_series import PAIRS, check, draw_folder, steps_of
from portrayal import flow
from portrayal.audits.counterfactuals.checks import ELSEWHERE
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.tables import _flips
from portrayal.errors import PortrayalError
from portrayal.pictures.series import folder as folder_module
from portrayal.pictures.series.amounts import placebo_checks
from portrayal.pictures.series.folder import Chosen, read_folder
from portrayal.run.contents import read_measured
from portrayal.run.folder import existing_run
from portrayal.study.registry import get_audit
from portrayal_faces.shipped import listed_pictures

STUDY = """
name = "drawn"
audit = "counterfactuals"
[counterfactuals]
series = "{series}"
labels = ["Nurse"]
{more}
[[systems]]
name = "phantom"
use = "phantom:counterfactuals"
parameters = {parameters}
"""
FOLLOWS = 'attribute = "race", poles = ["Black", "East Asian"], slopes = {"Nurse" = -0.4, "Cook" = 0.0}, rate = 0.5'


def audited(folder: Path, more: str = "", parameters: str = f"{{{FOLLOWS}}}", series: str = "series") -> Path:
    """Run a study of a drawn folder before the phantom."""
    (folder / "study.toml").write_text(STUDY.format(series=series, more=more, parameters=parameters))
    flow.audit(folder / "study.toml", folder / "run", quiet=True)
    return folder / "run"


def sentences(run: Path) -> list[str]:
    """Return what the run's report says was found, or was not."""
    told = json.loads((run / "results.json").read_text())
    return [finding["sentence"] for finding in told["findings"]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    draw_folder(folder / "series", people=24)
    return audited(folder)


def test_three_pairs_are_three_questions_and_one_is_followed(run: Path):
    results = pl.read_parquet(run / "results.parquet")
    nurse = results.filter(pl.col("measure") == "raw_slope", pl.col("label") == "Nurse", pl.col("attribute") == "race")
    assert nurse.select("pole_low", "pole_high").rows() == [
        ("Black", "East Asian"),
        ("White", "Black"),
        ("White", "East Asian"),
    ]
    assert nurse["n"].to_list() == [24, 24, 24]
    found = results.filter(pl.col("decision") == "found").select("label", "pole_low", "pole_high").rows()
    assert found == [("Nurse", "Black", "East Asian")]
    assert nurse["value"][0] < nurse["high"][0] < 0
    ratio = results.filter(measure="slope", label="Nurse", pole_low="Black", pole_high="East Asian").row(0, named=True)
    assert ratio["low"] < -0.4 < ratio["high"]


def test_the_sentence_names_the_pair(run: Path):
    told = sentences(run)
    assert sum("higher as a face is made" in one for one in told) == 1
    found = "phantom (simulated) scores 'Nurse' higher as a face is made closer to the pole Black ("
    assert any(one.startswith(found) for one in told)
    for low, high in PAIRS[:2]:
        assert any(
            one.startswith("It was not found") and f"pole {low} or closer to the pole {high}" in one for one in told
        )


def test_strips_come_first_one_for_each_axis_and_placebo(run: Path):
    measured = read_measured(existing_run(run))
    names = [
        f"strip-{axis}"
        for axis in ("gender", "race-Black-East_Asian", "race-White-Black", "race-White-East_Asian", "placebo")
    ]
    assert sorted(measured.pictures) == sorted(names)
    charts = [chart.name for chart in get_audit("counterfactuals").charts(measured, CounterfactualsSettings())]
    assert charts[: len(names)] == names and not any(name.startswith("strip") for name in charts[len(names) :])
    # Six people a strip, each as high as wide: 7 x 128 by 6 x 128.
    assert _size(measured.pictures["strip-gender"]) == (7 * 128, 6 * 128)


def test_checks_are_a_table_with_passed_or_missed(run: Path):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "placebo is as large as race from White to Black" in page and "<td>passed" in page.replace("\n", "")
    measured = read_measured(existing_run(run))
    assert measured.tables["checks"].select("check", "attribute", "passed").rows() == [
        ("placebo is as large as gender", "placebo", True),
        *((f"placebo is as large as race from {low} to {high}", "placebo", True) for low, high in PAIRS),
    ]
    assert ELSEWHERE in measured.warnings  # nothing but the placebo was checked


@pytest.mark.parametrize(
    ("size", "value", "passed"),
    [(1.0, 1.0, True), (0.93, 0.93, True), (0.5, 0.5, False), (1.2, 1.2, False), (0.0, 0.0, False)],
)
def test_a_placebo_of_another_size_than_the_axis_is_missed(tmp_path: Path, size: float, value: float, passed: bool):
    draw_folder(tmp_path, people=4, pairs=(), placebo=lambda person, at: size)
    (row,) = placebo_checks(read_folder(tmp_path).stimuli).iter_rows(named=True)
    # Colours are whole numbers: half a level of the smallest step, 20 levels, is a fortieth.
    assert row["passed"] is passed and row["value"] == pytest.approx(value, abs=0.026)


def test_a_placebo_that_is_large_enough_on_one_side_only_is_missed(tmp_path: Path):
    draw_folder(tmp_path, people=4, pairs=(), placebo=lambda person, at: 1.0 if at > 0 else 0.6)
    (row,) = placebo_checks(read_folder(tmp_path).stimuli).iter_rows(named=True)
    assert row["passed"] is False and row["note"].startswith("at -")


def test_a_placebo_that_is_right_on_average_and_wrong_for_either_start_is_missed(tmp_path: Path):
    draw_folder(tmp_path, people=8, pairs=(), placebo=lambda person, at: 1.4 if person % 2 else 0.6)
    (row,) = placebo_checks(read_folder(tmp_path).stimuli).iter_rows(named=True)
    assert row["passed"] is False and "of those who start as" in row["note"]


def test_a_missed_placebo_is_said_and_takes_nothing_from_the_axis(tmp_path: Path):
    draw_folder(tmp_path / "series", people=12, placebo=lambda person, at: 0.5, checks=[check("race", True, PAIRS[2])])
    run = audited(tmp_path)
    measured = read_measured(existing_run(run))
    assert any("Manipulation check failed: placebo is as large as gender" in line for line in measured.warnings)
    assert any(one.startswith("phantom (simulated) scores 'Nurse' higher") for one in sentences(run))


def test_a_folder_is_gone_through_once_whatever_its_size(tmp_path: Path, monkeypatch):
    """Poles with a placebo are found once; they were sought for each picture, 4.5 million times."""
    draw_folder(tmp_path, people=4)
    asked: list[int] = []
    poles = folder_module._placebo_poles
    monkeypatch.setattr(folder_module, "_placebo_poles", lambda rows: asked.append(len(rows)) or poles(rows))
    stimuli = read_folder(tmp_path).stimuli
    assert asked == [stimuli.height]


def test_without_a_placebo_nothing_is_said_of_its_size(tmp_path: Path):
    draw_folder(tmp_path, people=3, placebo=None)
    assert placebo_checks(read_folder(tmp_path).stimuli).is_empty()


def test_a_check_that_failed_for_one_pair_stops_that_pair_alone(tmp_path: Path):
    checks = [
        check("race", False, PAIRS[2]),
        check("race", True, PAIRS[0]),
        check("race", False, PAIRS[0], kind="whole"),
    ]
    draw_folder(tmp_path / "series", people=12, checks=checks)
    results = pl.read_parquet(audited(tmp_path) / "results.parquet")
    told = results.filter(pl.col("measure") == "raw_slope", pl.col("label") == "Nurse", pl.col("attribute") == "race")
    decided = {
        (low, high): decision for low, high, decision in told.select("pole_low", "pole_high", "decision").iter_rows()
    }
    assert decided[PAIRS[2]] == "not measurable" and decided[PAIRS[0]] != "not measurable"
    assert any(
        "perceived age stays" in one for one in sentences(tmp_path / "run") if one.startswith("It cannot be said")
    )


def test_kind_attributes_and_pairs_are_chosen(tmp_path: Path):
    draw_folder(tmp_path, people=2, kinds=("face only", "whole"))
    every = read_folder(tmp_path).stimuli
    assert every.height == 2 * (7 + 3 * 5 + 7) and all("face_only" in path for path in every["content"])
    whole = read_folder(tmp_path, chosen=Chosen("whole", ["race"], [PAIRS[1]])).stimuli
    assert whole.height == 2 * 5 and all("/whole/" in path for path in whole["content"])
    assert set(whole["pole_high"]) == {"East Asian"} and set(whole["start"]) == {"Black", "East Asian"}
    with pytest.raises(PortrayalError, match="no series of what the study asks for"):
        read_folder(tmp_path, chosen=Chosen(pairs=[("Black", "White")], attributes=["race"]))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("Whte", "Black")], "no race pole 'Whte'. Did you mean 'White'?"),
        ([("White", "Black"), ("White", "Indian")], "no race pole 'Indian'. Known: Black, East Asian, White"),
        ([("Black", "White")], "race from Black to White. It has .*White to Black"),
    ],
)
def test_poles_that_a_folder_does_not_have_are_named(tmp_path: Path, pairs: list[tuple[str, str]], said: str) -> None:
    """They were left out in silence where gender was shown too: a study lost race by a misspelt pole."""
    draw_folder(tmp_path, people=1)
    with pytest.raises(PortrayalError, match=said):
        read_folder(tmp_path, chosen=Chosen(None, ["gender", "race", "placebo"], pairs))
    assert read_folder(tmp_path, chosen=Chosen(None, ["gender"], pairs)).stimuli.height == 7


def test_a_kind_that_is_not_there_is_named(tmp_path: Path):
    draw_folder(tmp_path, people=1)
    with pytest.raises(PortrayalError, match="no series of kind 'whole'. It has: face only"):
        read_folder(tmp_path, chosen=Chosen("whole"))


def test_a_centre_that_two_series_share_is_one_file_and_two_stimuli(tmp_path: Path):
    draw_folder(tmp_path, people=1, pairs=())
    told = json.loads((tmp_path / "manifest.json").read_text())
    centre = next(one["file"] for one in told["pictures"] if one["attribute"] == "gender" and one["value"] == 0)
    for one in told["pictures"]:
        one["file"] = centre if one["value"] == 0 else one["file"]
    (tmp_path / "manifest.json").write_text(json.dumps(told))
    stimuli = read_folder(tmp_path).stimuli
    assert stimuli["stimulus"].n_unique() == stimuli.height == 14 and stimuli["hash"].n_unique() == 13


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"attribute": "age"}, "age is never varied"),
        ({"poles": ["White"]}, "Expected two"),
        ({"poles": ["White", "White"]}, "Expected two"),
        ({"kind": "hair"}, "kind is 'hair'"),
        ({"file": "nowhere.png"}, "is not there"),
        ({"file": "../../etc/passwd"}, "lies outside"),
        ({"value": "low"}, "value is 'low'"),
        ({"value": None, "person": None}, "person is None"),
        ({"person": ""}, "person is ''"),
    ],
)
def test_a_picture_told_wrongly_is_refused_in_one_line(tmp_path: Path, change: dict, told: str):
    draw_folder(tmp_path, people=1, pairs=())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["pictures"][0] |= change
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(PortrayalError, match=told) as error:
        read_folder(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[]", "{", '{"pictures": 3}', '{"pictures": [{"file": "a.png"}]}'])
def test_a_manifest_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(PortrayalError, match="no JSON|Expected a table|pictures is|lacks the key"):
        read_folder(tmp_path)


@pytest.mark.parametrize("missing", ["source", "consent"])
def test_a_manifest_without_source_or_consent_is_refused(tmp_path: Path, missing: str):
    draw_folder(tmp_path, people=1, **{missing: ""})
    with pytest.raises(PortrayalError, match=f"no {missing} entry"):
        read_folder(tmp_path)


def test_whoever_a_manifest_says_is_young_is_left_out(tmp_path: Path):
    draw_folder(tmp_path, people=2, people_young=1)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["people"]["p1"]["age"] = 19.4
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    stimuli, left_out, _ = read_folder(tmp_path)
    assert set(stimuli["person"]) == {"p0"} and left_out.rows() == [("p1", "labelled under 20", True)]


def test_pictures_are_listed_with_files_that_open(tmp_path: Path):
    draw_folder(tmp_path, people=2)
    listed = list(listed_pictures(tmp_path))
    assert len(listed) == len(list(steps_of(tmp_path))) and all(Path(one["file"]).is_file() for one in listed)
    race = next(one for one in listed if one["attribute"] == "race")
    assert list(race) == ["file", "person", "attribute", "poles", "value", "kind"]
    assert (race["person"], race["poles"], race["value"], race["kind"]) == ("p0", ["White", "Black"], -2.0, "face only")
    assert next(one["poles"] for one in listed if one["attribute"] == "gender") == []


def _size(png: bytes) -> tuple[int, int]:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        return picture.size


def test_a_study_shows_the_placebos_of_the_axes_it_shows(tmp_path: Path):
    draw_folder(tmp_path, people=3, beside=PAIRS)

    def shown(*attributes: str, pairs: list[tuple[str, str]] | None = None) -> set[tuple[str | None, str | None]]:
        stimuli = read_folder(tmp_path, chosen=Chosen(None, [*attributes, "placebo"], pairs)).stimuli
        return set(stimuli.filter(pl.col("attribute") == "placebo").select("pole_low", "pole_high").rows())

    assert shown("gender") == {(None, None)}
    assert shown("race") == set(PAIRS)
    assert shown("gender", "race", pairs=[PAIRS[0]]) == {(None, None), PAIRS[0]}


def test_race_without_a_placebo_of_its_own_is_shown_with_the_one_there_is(tmp_path: Path):
    draw_folder(tmp_path, people=3)
    stimuli = read_folder(tmp_path, chosen=Chosen(None, ["race", "placebo"])).stimuli
    assert stimuli.filter(pl.col("attribute") == "placebo").height == 3 * 7


def test_each_axis_is_held_against_the_placebo_of_its_own_poles(tmp_path: Path):
    draw_folder(tmp_path, people=4, beside=PAIRS[:1], placebo=lambda person, at: 1.0)
    for path in tmp_path.rglob("placebo-White-Black_*.png"):  # of this pair alone the placebo is nothing
        path.write_bytes((path.parent / "placebo-White-Black_+0.00.png").read_bytes())
    checks = placebo_checks(read_folder(tmp_path).stimuli)
    missed = checks.filter(~pl.col("passed"))
    assert missed["check"].to_list() == ["placebo is as large as race from White to Black"]


def test_flips_stand_beside_the_placebo_of_the_same_poles():
    told = [
        ("gender", None, None, 0.5), ("race", *PAIRS[0], 0.6), ("race", *PAIRS[1], 0.7),
        ("placebo", None, None, 0.1), ("placebo", *PAIRS[0], 0.2),
    ]  # fmt: skip
    rows = pl.DataFrame(told, schema=["attribute", "pole_low", "pole_high", "value"], orient="row").with_columns(
        system=pl.lit("one"), measure=pl.lit("any_flip"), low=pl.col("value") - 0.1, high=pl.col("value") + 0.1,
        n=pl.lit(9), counted=pl.lit("people"),
    )  # fmt: skip
    table = _flips(rows).table
    assert table.select("attribute", "pole_high", "value", "placebo_value").rows() == [
        ("gender", None, 0.5, 0.1), ("race", "Black", 0.6, 0.2), ("race", "East Asian", 0.7, 0.1),
    ]  # fmt: skip
