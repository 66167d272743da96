"""Parts of the set made anew: what is put in place of a series, who may take a person's place, and what is refused."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from training.generated import placebos, remade
from training.generated.placebos import opened, seen
from training.generated.remade import TRIES, Set, _readings, encoded
from training.generated.ship import READ, STYLES
from training.generated.styles import load_styles, save_styles

from drawn_studio import DrawnStudio
from portrayal.pictures.series.folder import read_folder
from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.generate import make_folder
from portrayal_faces.generator.making import Asked
from portrayal_faces.generator.series import series_title
from portrayal_faces.generator.steering import Effort

QUICK = Effort(rounds=1, shares=(-1.0, 1.0), tries=1, quiet_rounds=1, scales=(1.0,))
AXIS = "race-White-Black"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of `faces generate`, of two people who are drawn as squares."""
    folder = tmp_path_factory.mktemp("remade") / "faces"
    make_folder(DrawnStudio(), Asked(2, ("gender", "race"), 256, 5), folder, "squares", True, QUICK)
    return folder


@pytest.fixture
def opened_set(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Set:
    """A set of p01, the first of them; squares are no faces, and are as old as a test says."""
    folder, name = tmp_path / "set", people(made)[0]
    told = json.loads((made / MANIFEST).read_text())
    shutil.copytree(made / name, folder / "p01")
    with np.load(folder / "p01" / STYLES) as kept:
        styles = {title: {"p01": kept[title][[0, len(kept[title]) // 2, -1]]} for title in kept.files}
    (folder / "p01" / STYLES).unlink()
    pictures = []
    for one in told["pictures"]:
        if one["person"] == name:
            row = {
                **one,
                "person": "p01",
                "file": one["file"].replace(name, "p01"),
                "judged": {"age": 50.0, "female": 0.5},
            }
            if one["attribute"] == "placebo" and one["value"] == 0:  # its axis' own, where the readings stand
                title = series_title("race" if one["poles"] else "gender", one["poles"])
                row = {**row, "file": f"p01/{title}/+0.00.webp"}
                del row["readings"], row["judged"]
            else:
                row["readings"] = _readings(DrawnStudio().read(opened(made / one["file"])[None])[0])
            pictures.append(row)
    save_styles(folder / STYLES, styles)
    (folder / MANIFEST).write_text(
        json.dumps({**told, "people": {"p01": told["people"][name]}, "pictures": pictures, "checks": []})
    )
    for module in (remade, placebos):
        monkeypatch.setattr(module, "fewer_years", lambda pictures, centre: np.full(len(pictures), 40.0))
    monkeypatch.setattr(remade, "AMPLE", QUICK)
    return Set(folder, DrawnStudio())


def people(folder: Path) -> list[str]:
    return list(json.loads((folder / MANIFEST).read_text())["people"])


def test_another_person_takes_a_name_with_every_series(opened_set: Set, made: Path) -> None:
    folder, other = opened_set.folder, people(made)[1]
    before = {path.relative_to(folder) for path in folder.rglob("*.webp")}
    remade.person(opened_set, "p01", made / other)
    opened_set.close(None)
    centres = {path for path in before if path.parent.name.startswith("placebo") and path.stem == "+0.00"}
    assert {path.relative_to(folder) for path in folder.rglob("*.webp")} == before - centres
    told = json.loads((folder / MANIFEST).read_text())
    assert told["people"]["p01"] == {
        **json.loads((made / MANIFEST).read_text())["people"][other],
        "seed": 5, "number": other, "band": "43 and older", "ways": "faces generate",
    }  # fmt: skip
    assert all(set(one["readings"]) == set(READ) for one in told["pictures"] if "readings" in one)
    wanted = np.asarray(Image.open(made / other / "gender" / "+2.00.webp").convert("RGB"))
    shown = np.asarray(Image.open(folder / "p01" / "gender" / "+2.00.webp").convert("RGB"))
    assert np.abs(shown.astype(int) - wanted).mean() < 2
    with np.load(made / other / STYLES) as kept:
        way = kept["gender"][-1] - kept["gender"][3]
    again = load_styles(folder / STYLES)["gender"]["p01"]
    assert np.abs(again[2] - again[1] - way).max() < 0.02 * np.abs(way).max()
    assert read_folder(folder).stimuli.height == 44


def test_who_is_read_as_young_once_stored_takes_nobodys_place(
    opened_set: Set, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remade, "fewer_years", lambda pictures, centre: np.full(len(pictures), 24.9))
    before = (opened_set.folder / MANIFEST).read_bytes()
    with pytest.raises(SystemExit, match="will not do"):
        remade.person(opened_set, "p01", made / people(made)[1])
    assert (opened_set.folder / MANIFEST).read_bytes() == before
    assert (opened_set.folder / "p01" / "gender" / "+2.00.webp").is_file()


def test_a_placebo_that_no_draw_brings_about_is_said(opened_set: Set, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(remade, "against", lambda made: asked.append(made.title) or "moves a cue")
    with pytest.raises(SystemExit, match=f"p01, placebo beside {AXIS}: none of {TRIES} draws will do"):
        remade.placebo(opened_set, "p01", AXIS)
    assert asked == ["placebo-White-Black"] * TRIES


def test_a_placebo_is_made_anew_beside_the_cue_that_is_there(opened_set: Set) -> None:
    folder = opened_set.folder
    before = {path: path.read_bytes() for path in folder.rglob("*.webp")}
    remade.placebo(opened_set, "p01", AXIS)
    changed = {path.parent.name for path, data in before.items() if path.read_bytes() != data}
    assert changed == {"placebo-White-Black"}
    axis, beside = (
        opened_set.studio.distance(seen(folder, ["p01"], title, 2.0), seen(folder, ["p01"], AXIS, 0.0))[0]
        for title in (AXIS, "placebo-White-Black")
    )
    assert 0.5 < beside / axis < 2


def test_pictures_are_encoded_as_often_as_the_sets_were() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    once = picture
    for quality in (84, 78):
        kept = io.BytesIO()
        Image.fromarray(once).save(kept, "WEBP", quality=quality, method=6)
        once = np.asarray(Image.open(kept).convert("RGB"))
    assert encoded(picture, "gender") == encoded(picture, "placebo") == kept.getvalue()
    assert len(encoded(picture, "placebo-White-East_Asian")) < len(encoded(picture, AXIS)) < len(kept.getvalue())
