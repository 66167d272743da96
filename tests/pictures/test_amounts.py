"""Sizes of edits beside the formula on arrays; a shared placebo is opened once."""

from collections import Counter

import numpy as np
import polars as pl
from PIL import Image

from portrayal.pictures.series import amounts

VALUES = (-1.0, 0.0, 1.0)


def drawn(folder, name: str, rng: np.random.Generator) -> str:
    path = folder / f"{name}.png"
    Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(path)
    return str(path)


def series_of(folder, attributes) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"content": drawn(folder, f"{person}-{attribute}-{high}-{value}", rng), "picture": person, "value": value,
         "attribute": attribute, "pole_low": low, "pole_high": high, "start": None}
        for person in ("a", "b", "c")
        for attribute, low, high in attributes
        for value in VALUES
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("pole_low", "pole_high", "start"), pl.String))


def test_sizes_are_root_mean_squares_of_the_pixels(tmp_path):
    series = series_of(tmp_path, [("gender", None, None)])
    for picture, sizes in amounts.edit_sizes(series).items():
        files = dict(series.filter(pl.col("picture") == picture).select("value", "content").iter_rows())
        pixels = {value: np.asarray(Image.open(path), np.float64) for value, path in files.items()}
        expected = {value: float(np.sqrt(np.mean((one - pixels[0.0]) ** 2))) for value, one in pixels.items()}
        assert sizes == expected  # whole numbers are summed exactly, in any order


def test_a_placebo_shared_by_axes_is_opened_once_and_an_axis_of_its_own_has_its_own(tmp_path, monkeypatch):
    races = [("race", "White", "Black"), ("race", "White", "Asian")]
    series = series_of(
        tmp_path, [("gender", None, None), *races, ("placebo", None, None), ("placebo", "White", "Asian")]
    )
    opened, real = Counter(), amounts.open_or_none
    monkeypatch.setattr(amounts, "open_or_none", lambda path, size: opened.update([path.name]) or real(path, size))
    checks = amounts.placebo_checks(series)
    assert set(opened.values()) == {1} and len(opened) == series.height
    assert checks["n"].to_list() == [3, 3, 3]
    monkeypatch.undo()
    for axis, low in (("gender", None), ("race", "Black"), ("race", "Asian")):
        own = pl.col("pole_high").eq_missing(pl.lit(low, pl.String))
        mine = series.filter(pl.col("attribute") == axis, own)
        beside = series.filter(
            pl.col("attribute") == "placebo", pl.col("pole_high").eq_missing(pl.lit("Asian" if low == "Asian" else None, pl.String))
        )  # fmt: skip
        alone = amounts.placebo_checks(pl.concat([mine, beside]))
        name = alone["check"][0]
        assert checks.filter(pl.col("check") == name).equals(alone)
