"""Inputs besides the answers: checks, people left out, shares of occupations, and strips."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of, with_poles
from portrayal.audits.counterfactuals.measures.occupations import masculine_shares, read_shares, shipped_table
from portrayal.audits.counterfactuals.measures.presence import START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.stimuli import read_series
from portrayal.edges.sizes import check_pixels
from portrayal.pictures.series.amounts import placebo_checks
from portrayal.pictures.series.manifest import CHECKS
from portrayal.reporting.page.section import file_name
from portrayal.study.study import Study

PEOPLE = 6  # a cue
SIDE = 128


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read checks, people left out, strips, and the shares that slopes are compared with."""
    stimuli, left_out, checks = read_series(study)
    sizes = placebo_checks(stimuli)
    done = sizes if checks is None else pl.concat([checks.select(*CHECKS), sizes])
    made = {"checks": done} if done.height else {}
    return {**references(study), "left_out": left_out, **made, **strip_pictures(stimuli)}


def references(study: Study) -> dict[str, Any]:
    """Return the shares that slopes are compared with, and how often the study asks."""
    settings: CounterfactualsSettings = study.settings
    return {
        "shares": read_shares(study.folder / settings.shares) if settings.shares else masculine_shares(),
        "search": shipped_table("image_search_gender"),
        "repeats": study.repeats,
    }


def strip_pictures(stimuli: pl.DataFrame) -> dict[str, bytes]:
    """Return a PNG for each axis, one generated person a row; never real people."""
    generated = with_poles(stimuli).filter(consent="generated")
    strips = {}
    for axis in axes_of(generated):
        mine = generated.filter(axis.where())
        people = mine.unique("person", keep="first", maintain_order=True)
        if START in people.columns:  # people of different starting groups in turn, so that few rows show all
            people = people.sort(pl.int_range(pl.len()).over(START), maintain_order=True)
        one_each = people["picture"].head(PEOPLE)
        by_value = mine.sort(pl.col("value").fill_null(float("-inf")))
        rows = [by_value.filter(picture=picture)["content"].to_list() for picture in one_each]
        there = [[path for path in row if Path(path).exists()] for row in rows]
        if any(there):
            strips[strip_name(axis)] = _strip_png([row for row in there if row])
    return strips


def strip_name(axis: Axis) -> str:
    """Return the name of an axis' strips in a run."""
    return file_name("strip", *axis.names)


def _strip_png(rows: Sequence[Sequence[str]]) -> bytes:
    """Lay the middle squares of pictures out in rows."""
    from PIL import Image, ImageOps

    sheet = Image.new("RGB", (SIDE * max(map(len, rows)), SIDE * len(rows)), "white")
    for down, row in enumerate(rows):
        for across, path in enumerate(row):
            with Image.open(path) as picture:
                check_pixels(picture)
                square = ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE), centering=(0.5, 0.35))
                sheet.paste(square, (across * SIDE, down * SIDE))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()
