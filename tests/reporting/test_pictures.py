from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from portrayal.reporting.page.page import render
from portrayal.reporting.page.pictures import LARGE, light
from portrayal.study.audit import Chart
from reporting.factory import make_section
from reporting.reader import read


def noise(across: int, down: int) -> bytes:
    """A PNG of soft noise, which packs as badly as a photograph does."""
    pixels = np.random.default_rng(0).integers(90, 150, (down, across, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).resize((across * 2, down * 2), Image.Resampling.BICUBIC).save(buffer, "PNG")
    return buffer.getvalue()


def test_a_sheet_of_photographs_stands_in_the_page_as_webp_a_few_times_smaller():
    png = noise(448, 384)
    chart = Chart("sheet", "Faces", "Of nobody.", png=png)
    section = replace(make_section(with_charts=False), charts=[chart])
    picture = read(render([section], "One audit")).find("figure")[0].find("img")[0]
    head, _, data = picture.attributes["src"].partition(",")
    raw = base64.b64decode(data)
    assert head == "data:image/webp;base64" and len(raw) < len(png) / 2
    with Image.open(io.BytesIO(raw)) as shown, Image.open(io.BytesIO(png)) as sheet:
        assert shown.size == sheet.size == (896, 768)
        apart = np.abs(np.asarray(shown.convert("L"), int) - np.asarray(sheet.convert("L"), int))
    assert apart.mean() < 4  # of 255
    assert (picture.attributes["width"], picture.attributes["height"]) == ("896", "768")


@pytest.mark.parametrize(
    "png",
    [
        noise(40, 40),  # small
        noise(448, 384)[:-200_000],  # breaks off
        b"\x89PNG\r\n\x1a\n" + bytes(LARGE),  # no picture at all
    ],
)
def test_a_small_or_broken_picture_stays_as_it_is(png):
    assert light(png) == ("png", png)


def test_a_drawing_that_webp_would_hardly_shrink_stays_exact():
    stripes = np.zeros((1200, 1200, 3), np.uint8)
    stripes[np.random.default_rng(0).random((1200, 1200)) < 0.5] = 255  # one bit a pixel: PNG is at its best
    buffer = io.BytesIO()
    Image.fromarray(stripes).convert("1").save(buffer, "PNG")
    assert len(buffer.getvalue()) > LARGE
    assert light(buffer.getvalue()) == ("png", buffer.getvalue())
