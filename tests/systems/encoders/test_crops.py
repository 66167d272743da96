"""Crop at the centre: torchvision's rounding for OpenAI's and OpenCLIP's models, else transformers'.

torchvision.transforms.functional.center_crop takes top = int(round((height - side) / 2.0)), Python's round, which goes to
the even number; transformers' Pillow processors take (height - side) // 2. Values below are by hand.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from portrayal.systems.encoders.pictures import Preparation, folder_preparation


def columns(width: int, height: int) -> Image.Image:
    """A picture whose red is the column and whose green is the row, modulo 251."""
    x, y = np.meshgrid(np.arange(width) % 251, np.arange(height) % 251)
    return Image.fromarray(np.stack([x, y, 0 * x], axis=2).astype(np.uint8))


# Length, first pixel kept of 8 by torchvision, by transformers: halves 0.5, 1.5, 2.5, 3.5 go to 0, 2, 2, 4 and to 0, 1, 2, 3.
CUTS = [(8, 0, 0), (9, 0, 0), (10, 1, 1), (11, 2, 1), (12, 2, 2), (13, 2, 2), (14, 3, 3), (15, 4, 3), (19, 6, 5)]


@pytest.mark.parametrize(("length", "torchvision", "transformers"), CUTS)
def test_cuts_by_hand(length, torchvision, transformers) -> None:
    for crop, first in (("torchvision", torchvision), ("transformers", transformers)):
        preparation = Preparation(8, shortest=8, crop=crop)
        wide = preparation.pixels(columns(length, 8))  # the shortest side fits: nothing is resized
        assert wide[0, :, 0].tolist() == list(range(first, first + 8))
        assert preparation.pixels(columns(8, length))[:, 0, 1].tolist() == list(range(first, first + 8))


def test_the_papers_size_by_hand() -> None:
    # A 640 x 427 photograph: the long side becomes int(224 x 640 / 427) = int(335.74) = 335, and 111 / 2 = 55.5 goes to
    # 56 in torchvision and to 55 in transformers.
    picture = columns(335, 224)
    assert Preparation().pixels(picture)[0, 0, 0] == 56
    assert Preparation(crop="transformers").pixels(picture)[0, 0, 0] == 55


def test_a_cut_larger_than_the_picture_by_hand() -> None:
    # 5 columns in a cut of 8: 3 black ones, of which torchvision puts 3 // 2 = 1 before, transformers (3 + 1) // 2 = 2.
    white = Image.fromarray(np.full((5, 5, 3), 255, np.uint8))
    for crop, first in (("torchvision", 1), ("transformers", 2)):
        row = Preparation(8, shortest=5, crop=crop).pixels(white)[first, :, 0]
        assert row.tolist() == [0] * first + [255] * 5 + [0] * (3 - first)


def test_each_kind_of_folder_is_cut_as_its_authors_cut(tmp_path) -> None:
    assert folder_preparation(tmp_path, 224).crop == "torchvision"  # a bare file: OpenAI's
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": 224, "crop_size": 224}))
    assert folder_preparation(tmp_path, 224).crop == "transformers"
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"preprocess_cfg": {}}))
    assert folder_preparation(tmp_path, 224).crop == "torchvision"
