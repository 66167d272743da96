"""A run from somebody else: it cannot make the viewer show other files, write outside, run code or reach the network."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal_review.desk import Desks
from portrayal_review.journal import Journal
from portrayal_review.opened import Shelf, open_run
from portrayal_review.pictures import picture_key, shown_picture
from review.conftest import Site


def change(run: Path, **columns: object) -> None:
    table = pl.read_parquet(run / "stimuli.parquet")
    first = pl.int_range(pl.len()) == 0
    table.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in columns.items()
    ).write_parquet(run / "stimuli.parquet")


def asked(run: Path) -> int:
    site = Site([run])
    stimulus = site.shelf.run(1).stimuli["stimulus"][0]
    return site.browser().get(f"/run/1/picture/{picture_key(stimulus)}").status_code


def test_a_picture_of_the_run_is_shown(runs: list[Path]) -> None:
    assert asked(runs[0]) == 200


def test_another_picture_of_this_machine_is_not_shown(runs: list[Path], tmp_path: Path) -> None:
    private = tmp_path / "private.png"
    Image.new("RGB", (9, 9)).save(private)
    change(runs[0], content=str(private))
    assert asked(runs[0]) == 404  # its hash is not the one recorded


def test_a_file_that_is_no_picture_is_not_shown_though_its_hash_is_known(runs: list[Path]) -> None:
    known = Path("/etc/hostname") if Path("/etc/hostname").exists() else Path(__file__)
    change(runs[0], content=str(known), hash=hashlib.sha256(known.read_bytes()).hexdigest())
    assert asked(runs[0]) == 404


@pytest.mark.parametrize("content", ["", "i00", "../x.png", "/dev/zero", "/dev/stdin", "\x00", "/" + "a" * 5000])
def test_strange_paths_are_no_pictures(content: str) -> None:
    assert shown_picture(content, "a", "0" * 64, "small") is None


def test_pictures_lose_what_a_camera_wrote(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "at home"
    Image.new("RGB", (2000, 1000)).save(tmp_path / "a.jpg", exif=exif)
    data = (tmp_path / "a.jpg").read_bytes()
    shown = shown_picture(str(tmp_path / "a.jpg"), "a", hashlib.sha256(data).hexdigest(), "large")
    assert shown is not None
    assert b"at home" in data
    assert b"at home" not in shown


@pytest.mark.parametrize("name", ["judgments.jsonl", "reviews.csv", "results.parquet", "lock", "tables"])
def test_links_in_the_run_are_refused(runs: list[Path], tmp_path: Path, name: str) -> None:
    target = tmp_path / "outside"
    target.write_text("mine")
    entry = runs[0] / name
    if entry.exists():
        entry.rename(tmp_path / "moved")
    entry.symlink_to(target)
    with pytest.raises(PortrayalError, match="link"):
        open_run(runs[0])
    assert target.read_text() == "mine"


def test_a_journal_that_is_another_file_too_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    os.link(tmp_path / "mine", tmp_path / "judgments.jsonl")
    with pytest.raises(PortrayalError, match="shared with another file"):
        Journal(tmp_path / "judgments.jsonl")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "line",
    ["null", "[]", "{}", '{"act": "judge"}', '{"act": "run", "reviewer": "a", "queue": "b", "item": "c"}', "[" * 9000,
     '{"act": "judge", "reviewer": "a", "queue": "b", "item": "c", "rows": [{"item": 3}]}',
     '{"act": "judge", "reviewer": "a", "queue": "b", "item": "c", "rows": 7}'],
)  # fmt: skip
def test_a_damaged_journal_is_one_line(runs: list[Path], line: str) -> None:
    (runs[0] / "judgments.jsonl").write_text(line + "\n")
    with pytest.raises(PortrayalError, match=r"line 1 of .* is damaged"):
        open_run(runs[0])


def test_looking_opens_no_socket_and_runs_no_code_of_the_study(
    runs: list[Path], made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("a socket was opened")

    for run in made:  # the study's own modules, as they would be imported again
        for module in run.parent.glob("viewer_*.py"):
            monkeypatch.setattr("sys.modules", {k: v for k, v in __import__("sys").modules.items() if k != module.stem})
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    shelf = Shelf(runs)
    assert len(shelf.all()) == 2
    import sys

    assert "viewer_captioners" not in sys.modules


def test_looking_leaves_the_run_as_it_was(runs: list[Path]) -> None:
    before = {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()}
    site = Site([runs[0]])
    client = site.browser()
    for path in ("/", "/run/1", "/run/1/results", "/run/1/answers", "/run/1/compare"):
        assert client.get(path).status_code == 200
    assert {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()} == before


def test_a_second_viewer_is_turned_away(runs: list[Path]) -> None:
    first = Desks(Shelf(runs))
    first.open_all()
    with pytest.raises(PortrayalError, match="another `portrayal view`"):
        Desks(Shelf(runs)).open_all()
    first.close()
    Desks(Shelf(runs)).open_all()


@pytest.mark.parametrize("name", ["../../etc/passwd", "%2e%2e%2fview.py", "view.py"])
def test_only_our_own_files_are_static(site, name: str) -> None:
    assert site.stranger().get(f"/static/{name}").status_code == 404
