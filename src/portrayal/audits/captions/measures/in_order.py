"""The values of all images in one order, so that those of each group are picked from it and not looked up again."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat

import numpy as np

from portrayal.audits.captions.measures.stages import Stages

NONE = -np.inf  # the value of an image that has none


def members_of(stages: Stages, axis: str) -> dict[str, list[str]]:
    """Return the images of each group of an axis."""
    return stages.once("members", axis, lambda name: _members(stages.groups(name)))


def _members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for image, group in groups.items():
        members.setdefault(group, []).append(image)
    return members


def image_order(stages: Stages) -> list[str]:
    """Return the images, and after them those that only the annotations have."""
    return stages.once("image order", "", lambda _: _image_order(stages))


def _image_order(stages: Stages) -> list[str]:
    own = set(stages.images)
    further = dict.fromkeys(stages.people["image"].to_list())
    return [*stages.images, *(image for image in further if image not in own)]


def in_order(stages: Stages, values: Mapping[str, float]) -> np.ndarray:
    """Return the value of every image in that order, `NONE` where it has none."""
    order = image_order(stages)
    return np.fromiter(map(values.get, order, repeat(NONE)), float, len(order))


def places_of(stages: Stages, axis: str) -> dict[str, np.ndarray]:
    """Return where the images of each group of an axis are in that order."""
    return stages.once("places", axis, lambda _: _places(stages, axis))


def _places(stages: Stages, axis: str) -> dict[str, np.ndarray]:
    place = {image: i for i, image in enumerate(image_order(stages))}
    members = members_of(stages, axis).items()
    return {group: np.array([place[image] for image in images], int) for group, images in members}


def known(values: np.ndarray) -> np.ndarray:
    """Return the values that there are."""
    return values[values != NONE]
