"""Shares of images: laid out in the images' order, counted once, and summed over parts as over the whole."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.measures.erasing import TECHNIQUE
from portrayal.audits.captions.measures.technique import Count, Shares, sums
from portrayal.audits.captions.mention_shares import SUMS, measure_parts
from portrayal.audits.captions.phantom import planted
from portrayal.audits.captions.reading.people import shares_of
from portrayal.audits.captions.reading.stages import (
    CAPTIONS,
    HUMAN_CAPTIONS,
    HUMAN_SAME,
    NONE,
    PEOPLE,
    SYSTEM_CAPTIONS,
    Options,
    Stages,
)


def stages():
    people = [(image, "gender", group, "chance") for image, group in zip("cadz", "fmfm", strict=True)]
    captions = [(image, SYSTEM_CAPTIONS, number, "a dog") for image in "abcd" for number in (0, 1)]
    return Stages(
        list("abcd"),
        captions=pl.DataFrame(captions, schema=CAPTIONS, orient="row"),
        people=pl.DataFrame(people, schema=PEOPLE, orient="row"),
    )


def test_groups_are_picked_from_the_order_and_what_has_no_value_is_left_out():
    values = {"a": 0.5, "c": 1.0, "z": 0.25}
    assert stages().in_order(values).tolist() == [
        0.5,
        NONE,
        1.0,
        NONE,
        0.25,
    ]  # z is annotated and no image of the study
    places = {group: list(places) for group, places in stages().places("gender").items()}
    assert places == {"f": [2, 3], "m": [0, 4]}
    blocks = list(sums(stages(), Shares("q", SYSTEM_CAPTIONS, None, values)))
    found = {place.group: value for block in blocks for (place, value), count in block.items() for _ in range(count)}
    assert found == {"all": 1.0, "f": 1.0, "m": 0.5}
    of_groups = [
        (place.group, value, count) for block in blocks for (place, value), count in block.items() if place.axis
    ]
    assert of_groups == [("f", None, 0), ("f", 1.0, 1), ("m", None, 0), ("m", 0.25, 1), ("m", 0.5, 1)]


def test_a_share_counts_each_caption_once_and_no_image_without_captions():
    flagged = pl.DataFrame({"image": ["a", "a", "b", "b", "y"], "caption": [0, 0, 0, 1, 0]})
    found = shares_of(stages(), SYSTEM_CAPTIONS, flagged)
    assert found == {"a": 0.5, "b": 1.0, "c": 0.0, "d": 0.0}


def test_an_image_counts_once_however_many_of_its_captions_do_it() -> None:
    values = {SYSTEM_CAPTIONS: {"1": 1 / 3, "2": 1.0, "3": 0.0, "4": 0.0}, HUMAN_CAPTIONS: dict.fromkeys("1234", 0.0)}

    def counted():
        of = {stage: Shares("q", stage, None, own) for stage, own in values.items()}
        blocks = sums(stages(), Count("t", of, "12345"))
        return [row for block in blocks for row in TECHNIQUE.rows_of_sums(block, Options())]

    system, human = counted()
    assert (system["value"], system["n"], system["n_missing"], system["null"]) == (0.5, 4, 1, 0.005)
    assert (human["stage"], human["value"], human["family"]) == (HUMAN_SAME, 0.0, "exploratory")
    # Without a human caption of every image the system captioned, there is none to set beside it.
    del values[HUMAN_CAPTIONS]["1"]
    assert len(counted()) == 1


@pytest.fixture(scope="module")
def whole() -> Stages:
    return planted("nothing, evenly careless", 90, 0.5, 3)


def parts(whole: Stages, size: int) -> list[Stages]:
    present = frozenset({*whole.captions["stage"], *whole.mentions["stage"]})
    return [
        Stages(
            images,
            **{name: getattr(whole, name).filter(pl.col("image").is_in(images)) for name in ("mentions", "captions", "boxes", "people")},
            present=present,
        )
        for images in (whole.images[first : first + size] for first in range(0, len(whole.images), size))
    ]  # fmt: skip


@pytest.mark.parametrize("size", [7, 40, 90])
def test_parts_give_the_rows_of_the_whole(whole: Stages, size: int) -> None:
    """Also with the boxes of labels, which folders of mentions have none of."""
    key = ["measure", "technique", "quantity", "stage", "axis", "group", "versus", "share_of", "bound"]
    found = measure_parts(lambda: parts(whole, size), Options())
    rows = [row for name in SUMS for row in TECHNIQUES[name].measure(whole, Options(permutations=99)).rows]
    expected = pl.DataFrame([{name: row.get(name) for name in found.columns} for row in rows], schema=found.schema)
    joined = found.join(expected, on=key, nulls_equal=True, suffix="_whole", validate="1:1")
    assert len(joined) == len(found) > 150
    for name in ("value", "low", "high", "p", "n", "n_missing"):
        assert_frame_equal(joined.select(name), joined.select(pl.col(f"{name}_whole").alias(name)), abs_tol=1e-12)


def test_other_processes_give_the_same(whole: Stages) -> None:
    here = measure_parts(lambda: parts(whole, 45), Options())
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:  # polars may not be forked
        assert measure_parts(partial(parts, whole, 45), Options(), mapper=pool.map).equals(here)


def test_no_images_give_no_rows() -> None:
    assert measure_parts(lambda: [Stages([], present=frozenset())], Options()).is_empty()
