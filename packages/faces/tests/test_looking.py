"""Faces found in pictures of people who do not exist, and every reason not to manipulate one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from PIL import Image, ImageDraw

from portrayal.errors import PortrayalError
from portrayal.pictures.faces import closest_to_centre, find_faces, read_face
from portrayal.pictures.images import generated_people, open_shrunk
from portrayal.pictures.series.folder import UNSEEN, YOUNG, labelled_age, labelled_young, read_folder, require_consent
from portrayal_faces.occupations import read_perceived_gender
from portrayal_faces.series.sources import check_pictures, openpeople_pictures, read_pictures
from portrayal_faces.series.suitability import inspect_face

PORTRAIT = 320


@pytest.fixture(scope="module")
def portrait() -> Image.Image:
    assets = {name: folder for name, folder, _ in generated_people()}["P005"]
    return open_shrunk(assets / "studio_portrait.jpg", PORTRAIT)


def test_a_frontal_adult_may_be_manipulated(portrait: Image.Image):
    seen = inspect_face(portrait)
    assert (seen.reason, seen.faces) == ("", 1)
    assert seen.female < 0.5 and seen.age > 30  # labelled male, 55 to 65


def test_the_reader_sees_the_labelled_sex_of_all_generated_people():
    for person, assets, labels in generated_people():
        picture = open_shrunk(assets / "studio_portrait.jpg", PORTRAIT)
        female, _ = read_face(picture, find_faces(picture)[0].landmarks)
        assert (female > 0.5) == (labels["sex"] == "female"), person


def test_no_face(portrait: Image.Image):
    seen = inspect_face(Image.new("RGB", (200, 200), "grey"))
    assert (seen.reason, seen.face) == ("no face", None)


def test_of_many_faces_the_one_closest_to_the_centre_is_taken(portrait: Image.Image):
    small = portrait.resize((160, 160))
    both = Image.new("RGB", (480, 200), portrait.getpixel((2, 2)))
    both.paste(small, (0, 20))
    both.paste(small, (170, 20))
    faces = find_faces(both, 0.1)
    assert len(faces) == 2
    assert closest_to_centre(faces, both.size).centre[0] > 200
    assert inspect_face(both).faces == 2


def test_a_turned_face_is_left_out(portrait: Image.Image, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("portrayal_faces.series.suitability.head_turn", lambda landmarks: 0.3)
    assert inspect_face(portrait).reason == "turned away"


def test_a_tiny_face_is_left_out(portrait: Image.Image):
    tiny = Image.new("RGB", (400, 400), portrait.getpixel((2, 2)))
    tiny.paste(portrait.resize((110, 110)), (150, 150))
    assert inspect_face(tiny).reason == "tiny face"


def test_a_greyscale_face_is_left_out(portrait: Image.Image):
    assert inspect_face(portrait.convert("L").convert("RGB")).reason == "greyscale"


def test_a_covered_face_is_left_out(portrait: Image.Image):
    face = find_faces(portrait)[0]
    covered = portrait.copy()
    left, top, right, bottom = (round(value) for value in face.box)
    middle = round((top + bottom) / 2)
    ImageDraw.Draw(covered).rectangle((left, middle, right, bottom), fill=(40, 90, 200))
    assert inspect_face(covered).reason in ("occluded", "no face", "not adult")


def test_whoever_the_reader_puts_under_twenty_is_left_out(portrait: Image.Image, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("portrayal.pictures.faces.read_face", lambda picture, landmarks: (0.5, 19.9))
    assert inspect_face(portrait).reason == "not adult"
    assert inspect_face(portrait, strict=False).reason == "not adult"
    monkeypatch.setattr("portrayal.pictures.faces.read_face", lambda picture, landmarks: (0.5, float("nan")))
    assert inspect_face(portrait).reason == "not adult"


def test_generated_people_labelled_from_eighteen_are_left_out():
    # P009 is labelled 18-25: no evidence of being 20.
    ages = dict(check_pictures(openpeople_pictures()).select("person", "age").iter_rows())
    assert [person for person, age in ages.items() if labelled_young(age)] == ["P009"]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"source": "x"},
        {"source": None, "consent": "y"},
        *({"source": "x", "consent": word} for word in (" Unknown ", "no", "Refused", "withdrawn", "N/A", "0", "-")),
    ],
)
def test_no_source_or_consent_no_manipulation(entry: dict):
    with pytest.raises(PortrayalError, match="only with a recorded source and consent"):
        require_consent(entry, "a.png")


def test_a_consent_entry_that_says_no_is_told_as_it_is():
    with pytest.raises(PortrayalError, match="has the consent entry 'No', which records none"):
        require_consent({"source": "x", "consent": " No "}, "a.png")
    with pytest.raises(PortrayalError, match="has no consent entry"):
        require_consent({"source": "x", "consent": " "}, "a.png")


def test_a_table_of_pictures(tmp_path: Path):
    (tmp_path / "pictures.csv").write_text(
        "file,source,consent,age\na.png,mine,signed,30\nb.png,mine,signed,18-25\nc.png,mine,signed,\n"
    )
    table = read_pictures(tmp_path / "pictures.csv")
    # b may be 18: it stays in the table so that it is named among those left out; c waits for the age reader.
    assert [labelled_young(age) for age in table["age"]] == [False, True, False]
    (tmp_path / "bad.csv").write_text("file,source,consent\na.png,mine,\n")
    with pytest.raises(PortrayalError, match="no consent entry"):
        read_pictures(tmp_path / "bad.csv")
    with pytest.raises(PortrayalError, match="no table of pictures"):
        read_pictures(tmp_path / "none.csv")


def test_labelled_ages():
    assert labelled_age("more than 70", "a.png") == 70 and labelled_age(" 30 - 39 ", "a.png") == 30
    assert labelled_age(None, "a.png") is None and labelled_age("34.5", "a.png") == 34.5
    for unreadable in ("adult", "nan", "-5", "20-old"):
        with pytest.raises(PortrayalError, match=r"'a\.png' has the age"):
            labelled_age(unreadable, "a.png")


def test_a_folder_of_series_by_file_names(tmp_path: Path):
    for name in ("anna_gender_-1.33.png", "anna_gender_0.png", "anna_gender_+1.33.png", "anna_gender_unedited.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    made = read_folder(tmp_path, "my studio", "own", "signed", "30-39")[0].sort("stimulus")
    assert made["value"].to_list() == [1.33, -1.33, 0.0, None]
    assert set(made["picture"]) == {"anna"} and made["condition"].to_list().count("unedited") == 1
    with pytest.raises(PortrayalError, match="source and consent"):
        read_folder(tmp_path)


def test_a_folder_of_series_by_table(tmp_path: Path):
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    table = tmp_path / "series.csv"
    lines = [f"x.png,one,race,{value},s,generated,p,30,White,Black" for value in (-2, 0, 2)]
    head = "file,picture,attribute,value,source,consent,person,age,pole_low,pole_high"
    table.write_text("\n".join([head, *lines]))
    row = read_folder(tmp_path)[0].row(0, named=True)
    assert (row["person"], row["attribute"], row["value"]) == ("p", "race", -2.0)
    table.write_text("file,picture,attribute,value,source,consent\nx.png,one,age,-2,s,generated\n")
    with pytest.raises(PortrayalError, match="age is never varied"):
        read_folder(tmp_path)
    table.write_text("file,picture,attribute,value,source,consent\ny.png,one,gender,-2,s,generated\n")
    with pytest.raises(PortrayalError, match="is not there"):
        read_folder(tmp_path)
    with pytest.raises(PortrayalError, match="no series in"):
        read_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("attribute", ["Age", "AGE", "youth", "", "hair"])
def test_a_folder_varies_gender_race_or_placebo_only(tmp_path: Path, attribute: str):
    Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
    table = tmp_path / "series.csv"
    table.write_text(f"file,picture,attribute,value,source,consent\nx.png,one,{attribute},-2,s,generated\n")
    with pytest.raises(PortrayalError, match="Expected gender, race or placebo"):
        read_folder(tmp_path)
    lines = [f"x.png,one,Gender,{value},s,generated,30" for value in (-1, 0, 1)]
    table.write_text("\n".join(["file,picture,attribute,value,source,consent,age", *lines]))
    assert read_folder(tmp_path)[0]["attribute"].to_list() == ["gender"] * 3
    table.write_text("file,picture,attribute,value,source,consent\nx.png,one,gender,low,s,generated\n")
    with pytest.raises(PortrayalError, match="Expected a number"):
        read_folder(tmp_path)


def test_a_file_named_after_age_is_refused_and_not_passed_over(tmp_path: Path):
    Image.new("RGB", (8, 8)).save(tmp_path / "anna_Age_1.png")
    with pytest.raises(PortrayalError, match="age is never varied"):
        read_folder(tmp_path, "s", "", "generated")


def test_a_folder_leaves_whoever_is_no_adult_out_by_name(
    tmp_path: Path, portrait: Image.Image, monkeypatch: pytest.MonkeyPatch
):
    Image.new("RGB", (64, 64)).save(tmp_path / "square.png")
    portrait.save(tmp_path / "face.png")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    rows = [("square", "labelled", "20-29"), ("square", "young", "10-19"), ("face", "seen", ""), ("square", "unseen", ""),
            ("broken", "unreadable", "30-39")]  # fmt: skip
    lines = [
        f"{file}.png,{picture},gender,{value},s,generated,{age}" for file, picture, age in rows for value in (-1, 0, 1)
    ]
    (tmp_path / "series.csv").write_text("\n".join(["file,picture,attribute,value,source,consent,age", *lines]))
    stimuli, left_out, _ = read_folder(tmp_path)
    assert stimuli["picture"].unique(maintain_order=True).to_list() == ["labelled", "seen"]
    assert left_out.rows() == [
        ("young", YOUNG, True),
        ("unseen", UNSEEN, True),
        ("unreadable", "unreadable picture: broken.png", True),
    ]
    portrait.resize((300, 300)).save(tmp_path / "face.png")  # other content, so the reader is asked anew
    monkeypatch.setattr("portrayal.pictures.faces.read_face", lambda *_: (0.5, 19.0))
    stimuli, left_out, _ = read_folder(tmp_path)
    assert "seen" not in stimuli["picture"].to_list() and ("seen", "not adult", True) in left_out.rows()


def test_people_of_occupations_are_read(tmp_path: Path, portrait: Image.Image):
    for occupation in ("nurse", "pilot"):
        (tmp_path / occupation).mkdir()
    portrait.save(tmp_path / "nurse" / "a.png")
    Image.new("RGB", (64, 64)).save(tmp_path / "pilot" / "b.png")
    (tmp_path / "pilot" / "c.jpg").write_bytes(b"no picture")
    read = read_perceived_gender(tmp_path)
    assert read["occupation"].to_list() == ["nurse", "pilot", "pilot"]
    assert read["reason"].to_list() == ["", "no face", "unreadable picture"]
    said = read["read"][0]
    assert (said == "Female") == (read["female"][0] >= 0.5) and read["read"].null_count() == 2
    (tmp_path / "labelled.csv").write_text(f"file,group\nnurse/a.png,{said}\n")
    assert read_perceived_gender(tmp_path / "labelled.csv").row(0)[2:4] == (said, said)


def test_pictures_of_occupations_that_are_not_there_are_named(tmp_path: Path):
    with pytest.raises(PortrayalError, match="Expected a folder of pictures for each occupation"):
        read_perceived_gender(tmp_path)
    table = tmp_path / "people.csv"
    table.write_text("file,occupation\na.png,nurse\n")
    with pytest.raises(PortrayalError, match=r"names 'a\.png', which is not there"):
        read_perceived_gender(table)
    table.write_text("file\na.png\n")
    with pytest.raises(PortrayalError, match="Expected file, and occupation, group or both"):
        read_perceived_gender(table)


def test_held_out_fairface_faces_are_adults_by_label(shared):
    ages = pl.read_csv(shared("data/faces/fairface/labels.csv"))["age"].unique().to_list()
    assert not {"0-2", "3-9", "10-19"} & set(ages)
