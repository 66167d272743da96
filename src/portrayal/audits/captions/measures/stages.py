"""The four stages as one table: what each says of the same images, and what comparing two of them tells.

Any stage may be absent. A stage measured against another taken as ground truth shows where a harm can have
arisen; `where_it_arises` prints that reasoning [1]_ (section 3.4) and `mitigation` what section 5.2 suggests.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import check

HUMAN_LABELS = "human labels"
SYSTEM_LABELS = "system labels"
HUMAN_CAPTIONS = "human captions"
SYSTEM_CAPTIONS = "system captions"
HUMAN_SAME = "human captions of the same images"  # beside what is measured in a system's captions
STAGES = (HUMAN_LABELS, SYSTEM_LABELS, HUMAN_CAPTIONS, SYSTEM_CAPTIONS)
LABELS = (HUMAN_LABELS, SYSTEM_LABELS)

# One row per thing said: an object, an attribute of a subject, or a relation between subject and object.
MENTIONS = {
    "image": pl.String,
    "stage": pl.String,
    "caption": pl.Int64,  # number of the caption of this image at this stage; 0 for labels
    "kind": pl.String,  # object, attribute or relation
    "subject": pl.String,
    "word": pl.String,  # the noun, the attribute or the relation
    "object": pl.String,
    "synset": pl.String,  # of the word
    "subject_synset": pl.String,
    "object_synset": pl.String,
}
CAPTIONS = {"image": pl.String, "stage": pl.String, "caption": pl.Int64, "text": pl.String}
# Boxes as shares of the image: left, top, width, height; cut at the image's edge.
BOXES = {
    "image": pl.String,
    "synset": pl.String,
    "left": pl.Float64,
    "top": pl.Float64,
    "width": pl.Float64,
    "height": pl.Float64,
}
# Who the largest person in an image belongs to, on any number of axes, and who said so.
PEOPLE = {"image": pl.String, "axis": pl.String, "group": pl.String, "assigned_by": pl.String}
FAULTS = {"fault": pl.String, "count": pl.Int64, "example": pl.String}


Name = str | tuple[str, ...]


def empty(columns: dict[str, Any]) -> pl.DataFrame:
    """Return a table of these columns without rows."""
    return pl.DataFrame(schema=columns)


@dataclass(frozen=True)
class Stages:
    """What is known of a set of images at every stage, for one system."""

    images: Sequence[str]
    mentions: pl.DataFrame = field(default_factory=lambda: empty(MENTIONS))
    captions: pl.DataFrame = field(default_factory=lambda: empty(CAPTIONS))
    boxes: pl.DataFrame = field(default_factory=lambda: empty(BOXES))  # drawn by people
    people: pl.DataFrame = field(default_factory=lambda: empty(PEOPLE))
    faults: pl.DataFrame = field(default_factory=lambda: empty(FAULTS))
    system_boxes: pl.DataFrame = field(default_factory=lambda: empty(BOXES))  # of the vision model
    chosen: str | None = None  # the stage a study takes as ground truth, where it names one
    known: frozenset[str] | None = None  # of a part of the images: the stages that any part knows something of
    # Every technique asks for the same few sets; the tables never change, so each is made once: what is made of a
    # system's captions for this system, the rest for all systems of a study.
    _made: dict[tuple[str, Name], Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _shared: dict[tuple[str, Name], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def has(self, stage: str) -> bool:
        """Say whether anything is known at this stage; an empty caption is something."""
        if self.known is not None:
            return stage in self.known
        if stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS):
            return bool((self.captions["stage"] == stage).any())
        return bool((self.mentions["stage"] == stage).any())

    def truth(self) -> str | None:
        """Return the stage to take as ground truth: the study's choice, else human labels, else human captions, else none."""
        if self.chosen is not None:
            return self.chosen if self.has(self.chosen) else None
        return next((stage for stage in (HUMAN_LABELS, HUMAN_CAPTIONS) if self.has(stage)), None)

    def boxes_of(self, stage: str | None) -> pl.DataFrame:
        """Return where things are according to a stage; captions draw no boxes."""
        return {HUMAN_LABELS: self.boxes, SYSTEM_LABELS: self.system_boxes}.get(stage or "", empty(BOXES))

    def judges(self, stage: str, kind: str) -> frozenset[str]:
        """Return the images of which a stage can say what is not there of a kind.

        Of captions: all of them, for their writers could have said it. Of labels: those that have any of this kind, for where
        nobody labelled relations nothing tells which are invented.
        """
        return self.once("judges", (stage, kind), lambda _: self._judges(stage, kind))

    def _judges(self, stage: str, kind: str) -> frozenset[str]:
        labelled = stage in LABELS and kind != "object"
        return frozenset(self.at(stage, kind)["image"].unique()) if labelled else self.covered(stage)

    def at(self, stage: str, kind: str | None = None) -> pl.DataFrame:
        """Return what is said at a stage, of one kind or of all."""
        if kind is None:
            return self.once("at", stage, lambda _: self.mentions.filter(pl.col("stage") == stage))
        return self.once("at", (stage, kind), lambda _: self.at(stage).filter(pl.col("kind") == kind))

    def covered(self, stage: str) -> frozenset[str]:
        """Return the images this stage says anything about, or was asked about and said nothing."""
        return self.once("covered", stage, self._covered)

    def _covered(self, stage: str) -> frozenset[str]:
        table = self.captions if stage in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS) else self.mentions
        return frozenset(table.filter(pl.col("stage") == stage)["image"].unique().to_list())

    def groups(self, axis: str) -> Mapping[str, str]:
        """Return image -> group on this axis."""
        return self.once("groups", axis, self._groups)

    def _groups(self, axis: str) -> Mapping[str, str]:
        chosen = self.people.filter(pl.col("axis") == axis)
        return dict(zip(chosen["image"].to_list(), chosen["group"].to_list(), strict=True))

    def once(self, what: str, name: Name, make: Callable[[Any], Any]) -> Any:
        """Return what `make(name)` makes, made at the first call; a name is an axis, or a stage and further words."""
        own = SYSTEM_CAPTIONS in ((name,) if isinstance(name, str) else name)
        made = self._made if own else self._shared
        if (what, name) not in made:
            made[what, name] = make(name)
        return made[what, name]

    def axes(self) -> list[str]:
        """Return the axes people are annotated on."""
        return self.once("axes", "", lambda _: sorted(self.people["axis"].unique()))

    def assigned_by(self, axis: str) -> str:
        """Return who assigned the groups of an axis."""
        return self.once("assigned by", axis, self._assigned_by)

    def _assigned_by(self, axis: str) -> str:
        found = self.people.filter(pl.col("axis") == axis)["assigned_by"].unique().sort().to_list()
        return ", ".join(found) or "nobody"

    def with_system(self, mentions: pl.DataFrame, captions: pl.DataFrame, faults: pl.DataFrame) -> Stages:
        """Return the same images with a system's captions added, or those of people."""
        added = replace(
            self,
            mentions=pl.concat([self.mentions, mentions]),
            captions=pl.concat([self.captions, captions]),
            faults=pl.concat([self.faults, faults]),
        )
        return added.sharing(self) if (captions["stage"] == SYSTEM_CAPTIONS).all() else added

    def sharing(self, other: Stages) -> Stages:
        """Go on with what was made for other stages that are the same but for the system's captions."""
        object.__setattr__(self, "_shared", other._shared)
        return self


def check_stages(stages: Stages) -> Stages:
    """Check every table's columns, that one image has one group on each axis, and that the chosen truth is there."""
    if stages.chosen is not None and not stages.has(stages.chosen):
        raise PortrayalError(
            f"truth = {stages.chosen!r} is chosen and the study has none. Add them, or leave truth out."
        )
    twice = stages.people.group_by("image", "axis").agg(pl.col("group").n_unique()).filter(pl.col("group") > 1)
    if len(twice):
        raise PortrayalError(
            f"image {twice['image'][0]!r} has two groups on the axis {twice['axis'][0]!r}."
            " Expected the group of the largest person only."
        )
    checked = replace(
        stages,
        mentions=check(stages.mentions, MENTIONS, "mentions"),
        captions=check(stages.captions, CAPTIONS, "captions"),
        boxes=check(stages.boxes, BOXES, "boxes"),
        system_boxes=check(stages.system_boxes, BOXES, "system boxes"),
        people=check(stages.people, PEOPLE, "people"),
    )
    return checked.sharing(stages)


_ARISES = {
    (SYSTEM_CAPTIONS, HUMAN_LABELS): "it arose in the human captions the system learned from or in the system"
    " as a whole",
    (
        SYSTEM_CAPTIONS,
        SYSTEM_LABELS,
    ): "the computer vision model did not cause it: it arose in the human captions or in the language model",
    (
        SYSTEM_CAPTIONS,
        HUMAN_CAPTIONS,
    ): "the human captions of the same images do not have it: it arose in the system as a whole, or in other captions it"
    " learned from",
    (HUMAN_CAPTIONS, HUMAN_LABELS): "it arose among the people who wrote the captions",
    (SYSTEM_LABELS, HUMAN_LABELS): "it arose in the computer vision model",
}

_MITIGATION = {
    (HUMAN_CAPTIONS, HUMAN_LABELS): "obtain new human captions, with care, and train again",
    (SYSTEM_CAPTIONS, HUMAN_LABELS): "look at the language model; where a word alone does the harm, remove or"
    " replace it in the caption",
    (
        SYSTEM_CAPTIONS,
        SYSTEM_LABELS,
    ): "look at the language model; where a word alone does the harm, remove or replace it in the caption",
    (SYSTEM_CAPTIONS, HUMAN_CAPTIONS): "look at the language model, the vision model or the training: attend to"
    " the right part of the image, rely less on spurious correlations, handle rare labels, write more diverse"
    " captions",
    (SYSTEM_LABELS, HUMAN_LABELS): "change the vision model or its training: attend to the right part of the"
    " image, rely less on spurious correlations, handle rare labels",
}

# Section 5.2: this stands beside the suggestions.
DELETION_WARNING = (
    "Deleting words can erase: some words harm only in some contexts or from some speakers, and a deleted word"
    " cannot be used by anyone."
)


def where_it_arises(stage: str, truth: str | None) -> str:
    """Return in words where a harm found at `stage` against `truth` can have arisen.

    Examples
    --------
    >>> where_it_arises(SYSTEM_LABELS, HUMAN_LABELS)
    'it arose in the computer vision model'
    """
    if truth is None:
        return f"seen in the {stage}; it was compared with no other stage"
    return _ARISES.get((stage, truth), f"comparing {stage} with {truth} does not tell where it arose")


def mitigation(stage: str, truth: str | None) -> str:
    """Return what section 5.2 suggests for a harm at this pair of stages; `DELETION_WARNING` stands beside it."""
    return _MITIGATION.get((stage, truth or HUMAN_LABELS), "no mitigation is suggested for this pair of stages")
