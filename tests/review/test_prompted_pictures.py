"""Pictures that are held against a prompt: shown in the viewer and packed; one that changed says so in its place."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

import portrayal
from review.conftest import Site

STUDY = """
name = "where it looks"
audit = "associations/saliency"
[[systems]]
name = "simulated CLIP"
use = "phantom:saliency"
[associations]
table = "pictures.csv"
consent = "generated"
"""


@pytest.fixture
def looked(tmp_path: Path) -> Path:
    """A run over eight drawn pictures: four people, in two conditions."""
    rows = []
    for person in range(4):
        for condition, code in (("nonobjectified", "NO"), ("objectified", "O")):
            name = f"{person + 1}_AN1_{code}_1.png"  # as the phantom reads them
            Image.new("RGB", (40, 60), (60 * person, 90, 120)).save(tmp_path / name)
            shown = {"emotion": "anger", "condition": condition, "person": f"p{person}"}
            rows.append({"content": name, "license": "CC0", **shown})
    pl.DataFrame(rows).write_csv(tmp_path / "pictures.csv")
    (tmp_path / "study.toml").write_text(STUDY)
    portrayal.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    return tmp_path / "run"


def test_the_viewer_shows_them_and_says_where_one_changed(looked: Path) -> None:
    site = Site([looked])
    client = site.browser()
    shown = re.findall(r'src="(/run/1/picture/[^"]+)"', client.get("/run/1/answers").text)
    assert len(shown) == 8
    answers = [client.get(html.unescape(path)) for path in shown]
    assert [answer.headers["content-type"] for answer in answers] == ["image/jpeg"] * 8
    site.desks.close()

    Image.new("RGB", (40, 60), "white").save(looked.parent / "1_AN1_O_1.png")
    site = Site([looked])
    client = site.browser()
    from portrayal_review.pictures import shown_picture

    shown_picture.cache_clear()
    answers = [client.get(html.unescape(path)) for path in shown]
    changed = [answer for answer in answers if answer.status_code == 404]
    assert len(changed) == 1
    assert changed[0].headers["content-type"] == "image/svg+xml" and "another one now" in changed[0].text
    site.desks.close()


def test_a_pack_holds_them(looked: Path, tmp_path: Path) -> None:
    lines = portrayal.pack(looked, tmp_path / "run.zip")
    assert len(lines) == 1  # nothing was left out
    assert portrayal.verify(tmp_path / "run.zip").differences == []
