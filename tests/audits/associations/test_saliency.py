"""Saliency shares: by hand, the paired test, coverage at ten persons."""

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from portrayal.audits.associations.measures.saliency import average_map, saliency
from portrayal.errors import PortrayalError
from portrayal.pictures.faces import face_regions, region_shares
from portrayal.reporting.charts.silhouette import overlay, silhouette, strip


def test_shares_by_hand():
    # A 4 x 4 map with mass 3 in the upper left quarter, 1 elsewhere.
    heat = np.zeros((4, 4))
    heat[0, 0], heat[3, 3] = 3, 1
    face = np.zeros((4, 4), bool)
    face[:2, :2] = True
    assert region_shares(heat, {"face": face, "background": ~face}) == {"face": 0.75, "background": 0.25}


def test_a_map_without_mass_is_missing():
    mask = np.ones((2, 2), bool)
    assert region_shares(np.zeros((2, 2)), {"all": mask}) == {"all": None}


def test_regions_cover_the_square_once():
    masks = face_regions((0.4, 0.1, 0.6, 0.4), 50)
    assert (np.sum(list(masks.values()), axis=0) == 1).all()
    with pytest.raises(PortrayalError, match="overlap"):
        region_shares(np.ones((2, 2)), {"a": np.ones((2, 2), bool), "b": np.ones((2, 2), bool)})
    with pytest.raises(PortrayalError, match="another shape"):
        region_shares(np.ones((2, 2)), {"a": np.ones((3, 3), bool)})
    with pytest.raises(PortrayalError, match="face box"):
        face_regions((0.6, 0.1, 0.4, 0.4), 10)


def test_regions_by_hand():
    # On 10 x 10 points a face from 0.4 to 0.6 across and 0.1 to 0.4 down holds the points of columns 4 and 5, rows 1 to 3.
    # The torso is a face wider on either side: columns 2 to 7, from row 4 down. All else is background.
    masks = face_regions((0.4, 0.1, 0.6, 0.4), 10)
    assert np.argwhere(masks["face"]).tolist() == [[row, column] for row in (1, 2, 3) for column in (4, 5)]
    torso = [[row, column] for row in range(4, 10) for column in range(2, 8)]
    assert np.argwhere(masks["torso"]).tolist() == torso
    assert masks["background"].sum() == 100 - 6 - 36


def test_a_face_may_fill_the_picture_and_may_not_leave_it():
    masks = face_regions((0.0, 0.0, 1.0, 1.0), 4)
    assert (masks["face"].sum(), masks["torso"].sum()) == (16, 0)
    for box in [(-0.1, 0, 1, 1), (0, -0.1, 1, 1), (0, 0, 1.1, 1), (0, 0, 1, 1.1), (0.5, 0, 0.5, 1), (0, 0.5, 1, 0.5)]:
        with pytest.raises(PortrayalError, match="face box"):
            face_regions(box, 4)


def test_shares_need_a_mass_that_is_finite():
    mask = np.ones((1, 2), bool)
    assert region_shares(np.array([[np.nan, 1.0]]), {"all": mask}) == {"all": None}
    assert region_shares(np.array([[-1.0, 0.5]]), {"all": mask}) == {"all": None}
    assert region_shares(np.array([[0.1, 0.3]]), {"right": np.array([[False, True]])}) == {"right": pytest.approx(0.75)}


def test_averages_weigh_pictures_alike():
    strong, weak = np.array([[100.0, 0.0]]), np.array([[0.0, 1.0]])
    assert average_map([strong, weak, np.zeros((1, 2))]).tolist() == [[0.5, 0.5]]
    with pytest.raises(PortrayalError, match="no map has any mass"):
        average_map([np.zeros((1, 2))])


def rows(people, shift=0.2, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    return [
        {
            "system": "s",
            "person": str(person),
            "condition": condition,
            "region": "face",
            "share": float(base + (0 if condition == "shirt" else -shift) + rng.normal(0, noise)),
        }
        for person, base in enumerate(rng.normal(0.6, 0.1, people))
        for condition in ("shirt", "bare")
        for _ in range(2)
    ]


def value(table, measure):
    found = table.filter(pl.col("measure") == measure)
    return found.row(0, named=True)


def test_difference_within_persons():
    found = saliency(rows(10), baseline="shirt")
    difference = value(found.results, "saliency_difference")
    assert (difference["group"], difference["versus"], difference["region"]) == ("bare", "shirt", "face")
    assert difference["low"] < -0.2 < difference["high"]
    assert difference["p"] == pytest.approx(2 / 1024)  # all ten persons differ alike: 2 of 2^10 sign patterns
    assert (difference["n"], difference["counted"]) == (10, "people")
    assert found.differences["difference"].mean() == pytest.approx(difference["value"])


def test_a_picture_of_nobody_is_an_error_that_names_the_row():
    made = rows(3)
    made[2]["person"] = None
    with pytest.raises(PortrayalError, match="row 3 of shares does not say who is shown"):
        saliency(pl.DataFrame(made, infer_schema_length=None), baseline="shirt")


def test_missing_maps_are_counted():
    made = rows(5)
    made[0]["share"] = None
    table = saliency(pl.DataFrame(made, infer_schema_length=None), baseline="shirt").results
    share = table.filter(pl.col("measure") == "saliency_share", group="shirt", region="face")
    assert share.select("n", "n_missing", "counted").row(0) == (9, 1, "pictures")
    # The person has another picture in this condition; without it she is missing.
    assert value(table, "saliency_difference")["n_missing"] == 0
    made[1]["share"] = None
    table = saliency(pl.DataFrame(made, infer_schema_length=None), baseline="shirt").results
    difference = value(table, "saliency_difference")
    assert (difference["n"], difference["n_missing"]) == (4, 1)


def test_interval_covers_and_the_test_keeps_its_level_at_ten_persons():
    covered = rejected = 0
    for seed in range(150):
        planted = value(saliency(rows(10, 0.1, seed), "shirt").results, "saliency_difference")
        covered += planted["low"] <= -0.1 <= planted["high"]
        nothing = value(saliency(rows(10, 0.0, seed + 1000), "shirt").results, "saliency_difference")
        rejected += nothing["p"] < 0.05
    assert 0.90 <= covered / 150 <= 0.98
    assert rejected / 150 <= 0.08


def test_row_order_never_matters():
    made = rows(6)
    assert saliency(made, "shirt").results.equals(saliency(made[::-1], "shirt").results)


def test_unknown_baseline():
    with pytest.raises(PortrayalError, match="no picture has condition 'x'"):
        saliency(rows(2), baseline="x")


def test_overlays_lie_on_a_silhouette():
    heat = np.zeros((7, 7))
    heat[1, 3] = 1.0
    with Image.open(io.BytesIO(overlay(heat))) as picture:
        pixels = np.asarray(picture, float)
    cold = np.abs(pixels[200:, :40] - silhouette()[200:, :40]).max()
    hot = np.abs(pixels[45:60, 120:136] - silhouette()[45:60, 120:136]).mean()
    assert cold < 2 < 30 < hot
    with Image.open(io.BytesIO(strip({"a": heat, "b": heat, "c": heat}, side=32))) as sheet:
        assert sheet.size == (112, 32)  # three of 32 in a row, 8 between them
