"""Faces: no command varies age, nobody is manipulated without source and consent, and no picture of a real person is in the repository."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.main import get_command

from audits.counterfactuals.drawn_series import draw_folder
from portrayal import make_study, plan_text
from portrayal.audits.counterfactuals.stimuli import plan_stimuli
from portrayal.cli.main import app, main
from portrayal.errors import PortrayalError
from portrayal.pictures.series.folder import read_folder
from portrayal.pictures.series.manifest import MANIFEST

ROOT = Path(__file__).parents[2]
AGES = ("age", "Age", "young", "youth", "old")
BEGINS = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"BM",
    b"II*\x00",
    b"MM\x00*",
)  # and WebP, AVIF and HEIC by their inside
EMBEDDED = re.compile(rb"data:image/[a-z+]+;base64,[A-Za-z0-9+/]{2000}")
# Pictures without a manifest, each with what it shows. Nobody may be added here: a face has a manifest.
WITHOUT_PEOPLE: dict[str, str] = {}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its words."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


COMMANDS = list(commands(get_command(app)))
VARYING = [
    (words, option.opts[0])
    for words, command in COMMANDS
    for option in command.params
    if option.name in ("attribute", "attributes")
]


def test_no_command_has_a_setting_of_age():
    assert ("faces", "apply") in [words for words, _ in VARYING]
    named = [(words, option.name) for words, command in COMMANDS for option in command.params]
    assert len(named) > 30 and not [one for one in named if re.search(r"\bage\b|young|child|year", str(one[1]))]


@pytest.mark.parametrize("age", AGES)
@pytest.mark.parametrize(
    ("words", "option"), VARYING, ids=lambda told: " ".join(told) if isinstance(told, tuple) else told
)
def test_no_command_varies_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...], option: str, age: str,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "pictures.csv").write_text("file,source,consent,age\na.png,made,generated,30\n")
    needed = ["pictures.csv"] if words == ("faces", "apply") else []
    with pytest.raises(SystemExit) as ended:
        main([*words, *needed, option, age])
    assert ended.value.code == 2 and "never varied" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "pictures.csv"]


@pytest.mark.parametrize("age", AGES)
def test_no_study_varies_age(age: str):
    with pytest.raises(PortrayalError, match="attributes"):
        make_study({"name": "ages", "audit": "counterfactuals", "systems": [{"name": "a", "use": "local"}],
                    "counterfactuals": {"attributes": [age]}})  # fmt: skip


@pytest.mark.parametrize("poles", [["10-19", "30-39"], ["young", "old"], ["White", "Teenager"], ["age 20", "age 60"]])
def test_ages_are_no_poles_of_race(tmp_path: Path, poles: list[str]):
    study = {"name": "ages", "audit": "counterfactuals", "systems": [{"name": "a", "use": "local"}]}
    settings = make_study({**study, "counterfactuals": {"poles": poles}})
    with pytest.raises(PortrayalError, match="race pole"):
        plan_stimuli(settings)
    draw_folder(tmp_path, people=1, pairs=[(poles[0], poles[1])])
    with pytest.raises(PortrayalError, match="age is never varied"):
        read_folder(tmp_path)


@pytest.mark.parametrize("missing", ["source", "consent"])
@pytest.mark.parametrize("said", ["", "unknown", "none", "withdrawn"])
def test_photographs_without_source_and_consent_are_refused_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, said: str
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    told = {"file": "a.png", "source": "my studio", "consent": "signed", "age": "30"} | {missing: said}
    (tmp_path / "pictures.csv").write_text(f"{','.join(told)}\n{','.join(told.values())}\n")
    (tmp_path / "study.toml").write_text(
        'name = "own"\naudit = "counterfactuals"\n[counterfactuals]\npictures = "pictures.csv"\n'
        '[[systems]]\nname = "phantom"\nuse = "phantom:counterfactuals"\n'
    )
    for arguments in (["faces", "apply", str(tmp_path / "pictures.csv"), "--out", str(tmp_path / "out")],
                      ["audit", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run")]):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    found = f"the {missing} entry '{said}'" if said else f"no {missing} entry"
    with pytest.raises(PortrayalError, match=f"has {found}.* only with a recorded source and consent"):
        plan_text(tmp_path / "study.toml")
    assert not (tmp_path / "out").exists() and not list(tmp_path.rglob("*_gender_*.png"))


def tracked() -> list[Path]:
    """Return the files of the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def is_picture(begin: bytes) -> bool:
    """Return whether a file that begins so is a picture of pixels, whatever its name."""
    return begin.startswith(BEGINS) or begin[8:12] == b"WEBP" or begin[4:12] in (b"ftypavif", b"ftypheic", b"ftypmif1")


def declared() -> dict[Path, str]:
    """Return the pictures that a manifest in the repository names, each with what it says of it."""
    told = {}
    for path in tracked():
        if path.name == "backgrounds.csv":
            with path.open(encoding="utf-8") as table:
                told |= {path.parent / row["file"]: row["source"] for row in csv.DictReader(table)}
        if path.name == MANIFEST and path.parts[len(ROOT.parts)] in ("src", "packages", "docs"):
            manifest = json.loads(path.read_text(encoding="utf-8"))
            for picture in manifest["pictures"]:
                consent = picture.get("consent") or manifest.get("consent")
                told[(path.parent / picture["file"]).resolve()] = (
                    f"{consent}: {picture.get('source') or manifest.get('source')}"
                )
    return told


def test_every_picture_in_the_repository_is_told_to_be_drawn_or_generated():
    said = declared() | {ROOT / name: what for name, what in WITHOUT_PEOPLE.items()}
    pictures = [path for path in tracked() if is_picture(path.read_bytes()[:16])]
    assert len(pictures) >= 24
    for path in pictures:
        assert said.get(path, "").startswith(("drawn by", "generated")), (
            f"{path} has no manifest that says nobody in it is real"
        )


def test_no_picture_hides_inside_another_file():
    hidden = [path for path in tracked() if EMBEDDED.search(path.read_bytes())]
    assert hidden == []


def test_a_picture_is_told_by_its_bytes(tmp_path: Path):
    for ending in ("png", "jpg", "webp", "gif", "bmp", "tiff", "avif"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"a.{ending}")
        assert is_picture((tmp_path / f"a.{ending}").read_bytes()[:16]), ending
    assert not is_picture(b"from __future__ ") and not is_picture(b"")
