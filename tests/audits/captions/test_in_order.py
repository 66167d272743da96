"""Values laid out once in the images' order: each group's are those that a look-up image by image gives."""

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.in_order import NONE, in_order, known, places_of
from portrayal.audits.captions.measures.people import shares
from portrayal.audits.captions.measures.stages import CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Stages


def stages():
    people = [(image, "gender", group, "chance") for image, group in zip("cadz", "fmfm", strict=True)]
    captions = [(image, SYSTEM_CAPTIONS, number, "a dog") for image in "abcd" for number in (0, 1)]
    return Stages(
        list("abcd"),
        captions=pl.DataFrame(captions, schema=CAPTIONS, orient="row"),
        people=pl.DataFrame(people, schema=PEOPLE, orient="row"),
    )


def test_groups_are_picked_from_the_order_and_what_has_no_value_is_left_out():
    laid_out = in_order(stages(), {"a": 0.5, "c": 1.0, "z": 0.25})
    assert laid_out.tolist() == [0.5, NONE, 1.0, NONE, 0.25]  # z is annotated and no image of the study
    of_groups = {group: known(laid_out[places]) for group, places in places_of(stages(), "gender").items()}
    assert {group: values.tolist() for group, values in of_groups.items()} == {"f": [1.0], "m": [0.5, 0.25]}
    assert np.isnan(known(np.array([np.nan, NONE]))).tolist() == [True]


def test_a_share_counts_each_caption_once_and_no_image_without_captions():
    flagged = pl.DataFrame({"image": ["a", "a", "b", "b", "y"], "caption": [0, 0, 0, 1, 0]})
    found = shares(stages(), SYSTEM_CAPTIONS, flagged)
    assert found == {"a": 0.5, "b": 1.0, "c": 0.0, "d": 0.0}
