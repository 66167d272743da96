"""Tables of the four stages (Wang et al. 2022, section 3.4), and an audit's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from hashlib import sha256
from itertools import repeat
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import check
from portrayal.text.formatting import percent
from portrayal.text.words.harm_lists import read_list

HUMAN_LABELS = "human labels"
SYSTEM_LABELS = "system labels"
HUMAN_CAPTIONS = "human captions"
SYSTEM_CAPTIONS = "system captions"
HUMAN_SAME = "human captions of the same images"  # beside what is measured in a system's captions
STAGES = (HUMAN_LABELS, SYSTEM_LABELS, HUMAN_CAPTIONS, SYSTEM_CAPTIONS)
LABELS = (HUMAN_LABELS, SYSTEM_LABELS)
CAPTIONED = (HUMAN_CAPTIONS, SYSTEM_CAPTIONS)

# Words for somebody, with who it is among the caption's people as `object`; and words that a caption denies.
PERSON, DENIED = "person", "denied"
# One row per thing said: an object, an attribute of a subject, or a relation between subject and object.
MENTIONS = {
    "image": pl.String,
    "stage": pl.String,
    "caption": pl.Int64,  # number of the caption of this image at this stage; 0 for labels
    "kind": pl.String,  # object, attribute or relation; PERSON or DENIED
    "subject": pl.String,
    "word": pl.String,  # the noun, the attribute or the relation
    "object": pl.String,
    "synset": pl.String,  # of the word
    "subject_synset": pl.String,
    "object_synset": pl.String,
}
CAPTIONS = {"image": pl.String, "stage": pl.String, "caption": pl.Int64, "text": pl.String}
# Boxes as shares of the image: left, top, width, height; cut at the image's edge.
BOXES = {"image": pl.String, "synset": pl.String, **dict.fromkeys(("left", "top", "width", "height"), pl.Float64)}
# Who the largest person in an image belongs to, on any number of axes, and who said so.
PEOPLE = {"image": pl.String, "axis": pl.String, "group": pl.String, "assigned_by": pl.String}
FAULTS = {"fault": pl.String, "count": pl.Int64, "example": pl.String}

THRESHOLD = 0.005  # section 4.1.1
SAME_OBJECT = 2.2  # Leacock-Chodorow similarity from which two nouns count as one: at most three steps apart
PERSON_AREA = 0.10  # section 4.2.2
TOLERANCE = 0.005  # share of images in which a harm that is a plain count would be let pass
TOLERANCES = {"wrong_group_word": 0.05, "people_not_mentioned": 0.2}  # of harms that people's own captions do too


@dataclass(frozen=True)
class Options:
    """The choices that an audit leaves open, with the paper's values where it printed them."""

    threshold: float = THRESHOLD
    same_object: float = SAME_OBJECT
    person_area: float = PERSON_AREA
    object_types: int = 500
    splits: int = 1000
    train_share: float = 0.7
    needed_splits: float = 0.9
    bootstraps: int = 200
    permutations: int = 9_999  # at the most: a p that is not small is known after fewer
    tolerance: float = TOLERANCE
    tolerances: Mapping[str, float] = field(default_factory=dict)  # of single tests
    least_images: int = 5  # a tuple rarer than this is not compared
    seed: int = 0
    rules: str | None = None  # a user's rules (TOML) in place of those of the paper
    show_demeaning: bool = False
    count_hedged: bool = True  # whether what a caption only supposes counts as said
    lists: dict[str, pl.DataFrame] = field(default_factory=dict)  # a user's list in place of one that ships

    @cached_property
    def key(self) -> str:
        """The name of everything that a result may depend on."""
        lists = {name: sha256(table.write_csv().encode()).hexdigest() for name, table in self.lists.items()}
        return f"{replace(self, lists={})} {lists}" if lists else repr(self)

    def tolerated(self, test: str) -> float:
        """Return the share of images in which a test's harm is let pass."""
        return {**TOLERANCES, **self.tolerances}.get(test, self.tolerance)

    def word_list(self, name: str) -> pl.DataFrame:
        """Return a word list: the user's where there is one."""
        return self.lists[name] if name in self.lists else read_list(name)


P = ParamSpec("P")
T = TypeVar("T")
NONE = -np.inf  # the value of an image that has none
_WORD = re.compile(r"[a-z']+")


def empty(columns: dict[str, Any]) -> pl.DataFrame:
    """Return a table of these columns without rows."""
    return pl.DataFrame(schema=columns)


def once(rule: Callable[Concatenate[Stages, P], T]) -> Callable[Concatenate[Stages, P], T]:
    """Memoise a function of stages; results without system captions are shared by all systems."""

    @wraps(rule)
    def answer(stages: Stages, *args: P.args, **options: P.kwargs) -> T:
        name = (rule.__module__, rule.__qualname__, *(getattr(one, "key", one) for one in args))
        made = stages._made if SYSTEM_CAPTIONS in name else stages._shared
        if name not in made:
            made[name] = rule(stages, *args, **options)
        return made[name]

    return answer


@dataclass(frozen=True)
class Stages:
    """A set of images at every stage, for one system."""

    images: Sequence[str]
    mentions: pl.DataFrame = field(default_factory=lambda: empty(MENTIONS))
    captions: pl.DataFrame = field(default_factory=lambda: empty(CAPTIONS))
    boxes: pl.DataFrame = field(default_factory=lambda: empty(BOXES))  # drawn by people
    people: pl.DataFrame = field(default_factory=lambda: empty(PEOPLE))
    faults: pl.DataFrame = field(default_factory=lambda: empty(FAULTS))
    system_boxes: pl.DataFrame = field(default_factory=lambda: empty(BOXES))  # of the vision model
    chosen: str | None = None  # the stage a study takes as ground truth, where it names one
    # Of a part of the images: the stages that any part knows something of, and what else holds over all parts.
    present: frozenset[str] | None = None
    facts: Mapping[str, frozenset[str]] | None = None
    _made: dict[tuple, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _shared: dict[tuple, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def has(self, stage: str) -> bool:
        """Return whether anything is known at this stage; an empty caption is something."""
        if self.present is not None:
            return stage in self.present
        return bool((self._table(stage)["stage"] == stage).any())

    def _table(self, stage: str) -> pl.DataFrame:
        return self.captions if stage in CAPTIONED else self.mentions

    def truth(self) -> str | None:
        """Return the ground truth: the study's choice, else human labels, else human captions, else none."""
        if self.chosen is not None:
            return self.chosen if self.has(self.chosen) else None
        return next((stage for stage in (HUMAN_LABELS, HUMAN_CAPTIONS) if self.has(stage)), None)

    def boxes_of(self, stage: str | None) -> pl.DataFrame:
        """Return where things are according to a stage; captions draw no boxes."""
        return {HUMAN_LABELS: self.boxes, SYSTEM_LABELS: self.system_boxes}.get(stage or "", empty(BOXES))

    @once
    def judges(self, stage: str, kind: str) -> frozenset[str]:
        """Return the images in which a stage shows that a kind is missing."""
        labelled = stage in LABELS and kind != "object"
        return frozenset(self.at(stage, kind)["image"].unique()) if labelled else self.covered(stage)

    @once
    def at(self, stage: str, kind: str | None = None) -> pl.DataFrame:
        """Return the mentions of one kind, or all objects, attributes and relations."""
        here = self._said(stage)
        return here.filter(~pl.col("kind").is_in([PERSON, DENIED]) if kind is None else pl.col("kind") == kind)

    @once
    def _said(self, stage: str) -> pl.DataFrame:
        return self.mentions.filter(pl.col("stage") == stage)

    @once
    def captions_at(self, stage: str) -> pl.DataFrame:
        """Return the captions of a stage."""
        return self.captions.filter(pl.col("stage") == stage)

    @once
    def covered(self, stage: str) -> frozenset[str]:
        """Return the images of this stage, those with an empty caption too."""
        return frozenset(self._table(stage).filter(pl.col("stage") == stage)["image"].unique().to_list())

    @once
    def silent(self, stage: str) -> frozenset[str]:
        """Return the images that this stage says nothing about."""
        return frozenset(self.images) - self.covered(stage)

    @once
    def groups(self, axis: str) -> Mapping[str, str]:
        """Return image -> group on this axis."""
        return dict(self.people.filter(pl.col("axis") == axis).select("image", "group").iter_rows())

    @once
    def members(self, axis: str) -> Mapping[str, list[str]]:
        """Return the images of each group of an axis."""
        members: dict[str, list[str]] = {}
        for image, group in self.groups(axis).items():
            members.setdefault(group, []).append(image)
        return members

    @once
    def axes(self) -> list[str]:
        """Return the axes people are annotated on."""
        return sorted(self.people["axis"].unique())

    @once
    def diversity(self, stage: str) -> str:
        """Say how diverse the captions of a stage are."""
        texts = self.captions_at(stage)["text"]
        words = set(_WORD.findall("\n".join(texts).lower()))
        distinct = percent(texts.n_unique() / len(texts) if len(texts) else 0.0, 1)
        return f"diversity: {distinct} of {len(texts)} captions are distinct, {len(words)} different words"

    @once
    def assigned_by(self, axis: str) -> str:
        """Return who assigned the groups of an axis."""
        return ", ".join(self.people.filter(pl.col("axis") == axis)["assigned_by"].unique().sort()) or "nobody"

    def with_system(self, mentions: pl.DataFrame, captions: pl.DataFrame, faults: pl.DataFrame) -> Stages:
        """Return the same images with a system's captions added, or those of people."""
        added = replace(
            self,
            mentions=pl.concat([self.mentions, mentions]),
            captions=pl.concat([self.captions, captions]),
            faults=pl.concat([self.faults, faults]),
        )
        return added._reusing(self) if (captions["stage"] == SYSTEM_CAPTIONS).all() else added

    def _reusing(self, other: Stages) -> Stages:
        """Share the cache of stages that differ in the system's captions alone."""
        object.__setattr__(self, "_shared", other._shared)
        return self

    @once
    def order(self) -> list[str]:
        """Return the images, and after them those that only the annotations have."""
        own = set(self.images)
        further = dict.fromkeys(self.people["image"].to_list())
        return [*self.images, *(image for image in further if image not in own)]

    @once
    def places(self, axis: str) -> Mapping[str, np.ndarray]:
        """Return where the images of each group of an axis are in that order."""
        place = {image: i for i, image in enumerate(self.order())}
        return {group: np.array([place[image] for image in own], int) for group, own in self.members(axis).items()}

    def in_order(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the value of every image in that order, `NONE` where it has none."""
        order = self.order()
        return np.fromiter(map(values.get, order, repeat(NONE)), float, len(order))


def check_stages(stages: Stages) -> Stages:
    """Check columns, that groups are unique, and that the chosen truth exists."""
    if stages.chosen is not None and not stages.has(stages.chosen):
        why = "is chosen and the study has none. Add them, or leave truth out."
        raise PortrayalError(f"truth = {stages.chosen!r} {why}")
    twice = stages.people.group_by("image", "axis").agg(pl.col("group").n_unique()).filter(pl.col("group") > 1)
    for image, axis, _ in twice.iter_rows():
        expected = "Expected the group of the largest person only."
        raise PortrayalError(f"image {image!r} has two groups on the axis {axis!r}. {expected}")
    checked: dict[str, Any] = {"mentions": MENTIONS, "captions": CAPTIONS, "boxes": BOXES, "system_boxes": BOXES}
    for name, columns in {**checked, "people": PEOPLE}.items():
        checked[name] = check(getattr(stages, name), columns, name.replace("_", " "))
    return replace(stages, **checked)._reusing(stages)
