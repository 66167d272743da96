"""The `[captions]` table of a study."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.reading.stages import PERSON_AREA, SAME_OBJECT, THRESHOLD, TOLERANCE
from portrayal.settings import Settings
from portrayal.text.words.group_words import DEFAULT, LISTS


class HumanCaptions(Settings):
    """File of the human captions."""

    file: str
    format: Literal["table", "coco", "coco results", "conceptual captions", "vinvl"] = "table"


class Labels(Settings):
    """Files of labels; all that are given are joined."""

    labels: str | None = None  # a plain table
    boxes: str | None = None  # a plain table
    coco_instances: str | None = None
    visual_genome: str | None = None  # a folder with image_data, objects, attributes and relationships
    vinvl: str | None = None
    spice: str | None = None  # detailed output: references' graphs for human labels, tested ones for system labels


class People(Settings):
    """File of the annotated people."""

    file: str
    format: Literal["table", "zhao"] = "table"


class CaptionsSettings(Settings):
    """The `[captions]` table of a study. Paths start at the study file's folder."""

    scenes: int | None = Field(None, ge=1)  # generate this many scenes, or
    images: str | None = None  # a table with image, and path, license and consent where there are any
    human_captions: HumanCaptions | None = None
    human_labels: Labels | None = None
    system_labels: Labels | None = None
    people: People | None = None
    truth: Literal["human labels", "human captions", "system labels"] | None = None  # the first there is, if not said
    techniques: list[Literal[tuple(TECHNIQUES)]] = []  # type: ignore[valid-type]
    threshold: float = Field(THRESHOLD, ge=0)
    same_object: float = Field(SAME_OBJECT, gt=0)
    person_area: float = Field(PERSON_AREA, ge=0, lt=1)
    object_types: int = Field(500, ge=1)
    splits: int = Field(1000, ge=10)
    bootstraps: int = Field(200, ge=20)
    permutations: int = Field(9_999, ge=99)  # at the most; see portrayal.stats.permuted
    tolerance: float = Field(TOLERANCE, gt=0, lt=1)  # share of images in which a harm may occur by accident
    tolerances: dict[
        str, Annotated[float, Field(gt=0, lt=1)]
    ] = {}  # of single tests, beside those that differ by default
    rules: str | None = None
    lists: Literal[LISTS] | dict[str, str] = DEFAULT  # type: ignore[valid-type]  # of group words by name, or files
    offensive_synsets: str | None = None
    nonimageable_synsets: str | None = None
    visual_verbnet: str | None = None
    descriptors: str | None = None
    show_demeaning: bool = False
    count_hedged: bool = True
    processes: int = Field(2, ge=1)

    @model_validator(mode="after")
    def _one_source(self) -> CaptionsSettings:
        if (self.scenes is None) == (self.images is None):
            raise ValueError("give either scenes = NUMBER or images = FILE")
        return self
