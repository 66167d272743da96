"""Recorded files with a code, a line or a form that is not known are named by line, and what to give instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portrayal.audits.associations.datasets.sobem import recorded_captions
from portrayal.audits.associations.recorded import _label
from portrayal.audits.captions.datasets.coco import read_instances
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer
from portrayal.tables import read_table
from portrayal.text.vectors.files import read_vectors

CAPTION = {
    "subject": "10",
    "emotion": "AN",
    "intensity": "1",
    "condition": "NO",
    "take": "2",
    "caption": "a woman looks up",
}


def lines(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


@pytest.mark.parametrize(("column", "code"), [("emotion", "FE"), ("condition", "X"), ("take", "3"), ("intensity", "9")])
def test_an_unknown_code_of_a_caption_is_named_by_line(tmp_path: Path, column: str, code: str) -> None:
    path = lines(tmp_path / "captions.jsonl", CAPTION, CAPTION | {column: code})
    with pytest.raises(PortrayalError, match=f"captions.jsonl, caption 2: {column} is '{code}'. Expected one of '"):
        recorded_captions(path)


@pytest.mark.parametrize("damage", ['{"subject": "10", "emo', "[1, 2]"])
def test_a_damaged_line_is_named(tmp_path: Path, damage: str) -> None:
    path = lines(tmp_path / "captions.jsonl", CAPTION, CAPTION, damage)
    for read in (recorded_captions, read_table):
        with pytest.raises(PortrayalError, match="captions.jsonl cannot be read: line 3 is no JSON"):
            read(path)


def test_an_object_of_no_category_is_named(tmp_path: Path) -> None:
    objects = [{"id": 5, "image_id": 1, "category_id": 7, "bbox": [0, 0, 1, 1]}]
    data = {
        "images": [{"id": 1, "width": 2, "height": 2}],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": objects,
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(data))
    with pytest.raises(
        PortrayalError, match="object 5 of image 1 is of category 7. Expected an id listed in `categories`"
    ):
        read_instances(path)


@pytest.mark.parametrize("status", ["answered", "ok", "OK", "done", "success", ""])
def test_a_label_that_came_by_another_word_is_an_answer(status: str) -> None:
    answer = _label({"status": status, "label": "neutral", "face": None})
    assert isinstance(answer, Answer) and json.loads(answer.raw)[0]["label"] == "neutral"


def test_a_model_of_fasttext_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cc.en.300.bin"
    path.write_bytes(bytes.fromhex("ba16 4f2f 0c00 0000".replace(" ", "")) + bytes(64))
    with pytest.raises(PortrayalError, match="it is a model of fastText. Give its text vectors"):
        read_vectors(path)
