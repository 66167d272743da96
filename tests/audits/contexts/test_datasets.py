"""Loaders of people: the package, a folder with a CSV, the Chicago Face Database, recorded tables."""

import pytest
from PIL import Image

from portrayal.audits.contexts.people import load_chicago_faces, load_openpeople, load_people, recorded_stimuli
from portrayal.errors import PortrayalError


def test_openpeople():
    people = load_openpeople()
    assert people.height == 10
    assert dict(people["gender"].value_counts().iter_rows()) == {"female": 7, "male": 3}
    assert set(people["consent"]) == {"generated"}
    assert set(people["skin"]) == {"lighter", "darker"}


def test_chicago_faces_by_name_and_norming_sheet(tmp_path):
    for name in ("CFD-AF-200-228-N", "CFD-BM-001-014-N", "CFD-BM-001-015-HO", "CFD-LF-213-091-N", "notes"):
        Image.new("RGB", (4, 4)).save(tmp_path / f"{name}.jpg")
    (tmp_path / "norms.csv").write_text("Model,Race,Gender,Age\nAF-200,A,F,32.5\nBM-001,B,M,27\n")
    people = load_chicago_faces(tmp_path, tmp_path / "norms.csv")
    assert people.select("person", "gender", "race", "Age").rows() == [
        ("AF-200", "female", "Asian", "32.5"),
        ("BM-001", "male", "Black", "27"),
        ("LF-213", "female", "Latinx", None),
    ]
    assert set(people["consent"]) == {""}  # pictures of real people stay here unless the study says otherwise
    with pytest.raises(PortrayalError, match="no Chicago Face Database picture"):
        load_chicago_faces(tmp_path / "nowhere")


def test_folder_with_csv(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "one.png")
    (tmp_path / "people.csv").write_text("image_id,gender,race\none,woman,X\n")
    people = load_people(tmp_path / "people.csv", license_name="CC0", consent="signed")
    assert people.row(0, named=True)["file"].endswith("one.png")
    assert people.select("person", "gender", "race", "license", "consent").row(0) == (
        "one",
        "woman",
        "X",
        "CC0",
        "signed",
    )
    (tmp_path / "people.csv").write_text("image_id,gender\nnobody,woman\n")
    with pytest.raises(PortrayalError, match="no picture of 'nobody'"):
        load_people(tmp_path / "people.csv")
    (tmp_path / "people.csv").write_text("name,gender\none,woman\n")
    with pytest.raises(PortrayalError, match="lacks column 'image_id'"):
        load_people(tmp_path / "people.csv")


def test_recorded_people_without_design_are_all_alone(tmp_path):
    (tmp_path / "people.csv").write_text("image_id,gender\n17,male\n18,none\n")
    stimuli = recorded_stimuli(tmp_path / "people.csv")
    assert stimuli.select("stimulus", "role", "person", "context", "gender").rows() == [
        ("17", "baseline", "17", None, "male"), ("18", "baseline", "18", None, "none")]  # fmt: skip


def test_recorded_design_comes_back_whole(tmp_path):
    (tmp_path / "p.csv").write_text("image_id,person,context,gender\na0,a,,female\na1,a,F1,female\n")
    stimuli = recorded_stimuli(tmp_path / "p.csv")
    assert stimuli.select("role", "person", "background").rows() == [("baseline", "a", None), ("composite", "a", "F1")]
    (tmp_path / "p.csv").write_text("image_id,role\na0,baseilne\n")
    with pytest.raises(PortrayalError, match="role 'baseilne'"):
        recorded_stimuli(tmp_path / "p.csv")
