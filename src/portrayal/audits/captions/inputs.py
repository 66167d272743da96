"""What a captions study brings besides the system's captions: scenes or images, labels, human captions, people, lists."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field, model_validator

from portrayal.errors import PortrayalError
from portrayal.measures.captions.options import PERSON_AREA, SAME_OBJECT, THRESHOLD, Options
from portrayal.measures.captions.stages import FAULTS, HUMAN_LABELS, MENTIONS, SYSTEM_LABELS, Stages, empty
from portrayal.measures.captions.techniques import TECHNIQUES
from portrayal.stimuli import scenes as generated
from portrayal.stimuli.datasets import (
    caption_tables,
    coco,
    conceptual_captions,
    person_words,
    vinvl,
    visual_genome,
    zhao,
)
from portrayal.study import Settings, Study
from portrayal.table_files import read_table

# Enough of everything a phantom of the demonstration needs.
DEMO_WORLD = generated.World(wheelchair=0.3, elderly=0.3)


class HumanCaptions(Settings):
    """Where the human captions are."""

    file: str
    format: Literal["table", "coco", "conceptual captions"] = "table"


class Labels(Settings):
    """Where labels are; any of these, and all that are given are joined."""

    labels: str | None = None  # a plain table
    boxes: str | None = None  # a plain table
    coco_instances: str | None = None
    visual_genome: str | None = None  # a folder with image_data, objects, attributes and relationships
    vinvl: str | None = None


class People(Settings):
    """Where the annotation of people is."""

    file: str
    format: Literal["table", "zhao"] = "table"


class CaptionsSettings(Settings):
    """The `[captions]` table of a study. Paths start at the study file's folder."""

    scenes: int | None = Field(None, ge=1)  # generate this many scenes, or
    images: str | None = (
        None  # a table with the column image, and path, license and consent where there are any
    )
    human_captions: HumanCaptions | None = None
    human_labels: Labels | None = None
    system_labels: Labels | None = None
    people: People | None = None
    techniques: list[Literal[tuple(TECHNIQUES)]] = []  # type: ignore[valid-type]
    threshold: float = Field(THRESHOLD, ge=0)
    same_object: float = Field(SAME_OBJECT, gt=0)
    person_area: float = Field(PERSON_AREA, ge=0, lt=1)
    object_types: int = Field(500, ge=1)
    splits: int = Field(1000, ge=10)
    bootstraps: int = Field(200, ge=20)
    permutations: int = Field(999, ge=99)
    rules: str | None = None
    lists: dict[str, str] = {}
    offensive_synsets: str | None = None
    nonimageable_synsets: str | None = None
    visual_verbnet: str | None = None
    descriptors: str | None = None
    show_demeaning: bool = False
    processes: int = Field(2, ge=1)

    @model_validator(mode="after")
    def _one_source(self) -> CaptionsSettings:
        if (self.scenes is None) == (self.images is None):
            raise ValueError("give either scenes = NUMBER or images = FILE")
        return self


def make_stimuli(study: Study) -> pl.DataFrame:
    """Return the scenes, or the images of the table."""
    settings: CaptionsSettings = study.settings
    if settings.scenes:
        return generated.stimuli(_scenes(study))
    table = _image_table(study)
    name = Path(str(settings.images)).name
    said = {
        column: table[column].to_list() if column in table.columns else None
        for column in ("path", "license", "consent")
    }
    rows = []
    for number, image in enumerate(table["image"]):
        path = study.folder / said["path"][number] if said["path"] and said["path"][number] else None
        rows.append(
            {
                "stimulus": image,
                "kind": "image",
                "content": str(path) if path else image,
                "hash": _hash(path, image),
                "source": name,
                "license": said["license"][number] if said["license"] else "not stated",
                "consent": said["consent"][number] if said["consent"] else "",
            }
        )
    return pl.DataFrame(rows)


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read all stages but the system's, and the options; nothing here is parsed."""
    settings: CaptionsSettings = study.settings
    if settings.scenes:
        from portrayal.systems.captioners.phantoms import faithful, text

        made = _scenes(study)
        rows = [{"image": scene.image, "text": text(faithful(scene))} for scene in made]
        return {
            "stages": generated.as_stages(made, study.seed),
            "human": pl.DataFrame(rows),
            "options": options(study),
        }
    images = _image_table(study)["image"].to_list()
    stages = Stages(images)
    stages = _with_labels(stages, settings.human_labels, HUMAN_LABELS, study.folder)
    stages = _with_labels(stages, settings.system_labels, SYSTEM_LABELS, study.folder)
    stages = _with_people(stages, settings.people, study.folder)
    return {
        "stages": stages,
        "human": _human_captions(settings.human_captions, study.folder),
        "options": options(study),
    }


def options(study: Study) -> Options:
    """Return what the techniques are told."""
    settings: CaptionsSettings = study.settings
    folder = study.folder
    plain = {
        name: getattr(settings, name)
        for name in (
            "threshold",
            "same_object",
            "person_area",
            "object_types",
            "splits",
            "bootstraps",
            "permutations",
            "show_demeaning",
        )
    }
    found = Options(
        **plain,
        seed=study.seed,
        rules=folder / settings.rules if settings.rules else None,
        lists={name: folder / path for name, path in settings.lists.items()},
    )
    return replace(found, tables=_obtained_lists(settings, folder, found))


def _obtained_lists(settings: CaptionsSettings, folder: Path, found: Options) -> dict[str, pl.DataFrame]:
    """Put the lists users obtain in place of ours, part by part: nouns for nouns, adjectives for adjectives."""
    tables: dict[str, pl.DataFrame] = {}
    columns = ["term", "part", "kind", "source"]
    if settings.offensive_synsets:
        ours = found.word_list("demeaning").filter(pl.col("part") != "n").select(columns)
        theirs = person_words.read_person_synsets(folder / settings.offensive_synsets, "offensive")
        tables["demeaning"] = pl.concat([theirs, ours])
    if settings.nonimageable_synsets or settings.descriptors:
        table = found.word_list("nonimageable").select(columns)
        if settings.nonimageable_synsets:
            theirs = person_words.read_person_synsets(folder / settings.nonimageable_synsets, "non-imageable")
            table = pl.concat([theirs, table.filter(pl.col("part") != "n")])
        if settings.descriptors:
            theirs = person_words.read_descriptors(folder / settings.descriptors)
            table = pl.concat([theirs, table.filter(pl.col("part") != "a")])
        tables["nonimageable"] = table
    if settings.visual_verbnet:
        tables["visual_verbs"] = person_words.read_visual_verbnet(folder / settings.visual_verbnet)
    return tables


def _scenes(study: Study) -> list[generated.Scene]:
    return generated.make_scenes(study.settings.scenes, study.seed, DEMO_WORLD)


def _image_table(study: Study) -> pl.DataFrame:
    path = study.folder / study.settings.images
    table = read_table(path)
    if "image" not in table.columns and "image_id" in table.columns:
        table = table.rename({"image_id": "image"})
    if "image" not in table.columns:
        raise PortrayalError(f"{path.name} lacks column 'image' (found: {', '.join(table.columns)}).")
    return table.with_columns(pl.col("image").cast(pl.String)).unique("image", maintain_order=True)


def _hash(path: Path | None, image: str) -> str:
    if path is None:
        return hashlib.sha256(f"recorded image {image}".encode()).hexdigest()
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise PortrayalError(f"image {image!r} cannot be read: {error}. Check the column path.") from None


def _with_labels(stages: Stages, labels: Labels | None, stage: str, folder: Path) -> Stages:
    if labels is None:
        return stages
    mentions, boxes, faults = [empty(MENTIONS)], [stages.boxes], [stages.faults]
    if labels.labels:
        mentions.append(caption_tables.read_labels(folder / labels.labels, stage))
    if labels.boxes:
        _extend(([], boxes, faults), ((), *caption_tables.read_boxes(folder / labels.boxes)))
    if labels.coco_instances:
        _extend((mentions, boxes, faults), coco.read_instances(folder / labels.coco_instances))
    if labels.visual_genome:
        root = folder / labels.visual_genome
        names, sizes = visual_genome.read_image_data(root / "image_data.json")
        _extend((mentions, boxes, faults), visual_genome.read_objects(root / "objects.json", names, sizes))
        mentions.append(visual_genome.read_attributes(root / "attributes.json", names))
        mentions.append(visual_genome.read_relationships(root / "relationships.json", names))
    if labels.vinvl:
        mentions.append(vinvl.read_labels(folder / labels.vinvl))
    inside = pl.col("image").is_in(list(stages.images))
    added = pl.concat(mentions).filter(inside).with_columns(pl.lit(stage).alias("stage"))
    return replace(
        stages,
        mentions=pl.concat([stages.mentions, added]).unique(maintain_order=True),
        boxes=pl.concat(boxes).filter(inside),
        faults=pl.concat(faults),
    )


def _extend(lists: tuple[list, list, list], tables: tuple) -> None:
    for one, table in zip(lists, tables, strict=True):
        one.append(table)


def _with_people(stages: Stages, people: People | None, folder: Path) -> Stages:
    if people is None:
        return stages
    path = folder / people.file
    table, faults = (
        zhao.read_zhao(path) if people.format == "zhao" else (caption_tables.read_people(path), None)
    )
    kept = table.filter(pl.col("image").is_in(list(stages.images)))
    if kept.is_empty():
        raise PortrayalError(
            f"{path.name} annotates none of the study's images. Check that both use the same ids."
        )
    more = pl.DataFrame(schema=FAULTS) if faults is None else faults
    return replace(stages, people=kept, faults=pl.concat([stages.faults, more]))


def _human_captions(captions: HumanCaptions | None, folder: Path) -> pl.DataFrame | None:
    if captions is None:
        return None
    read = {
        "table": caption_tables.read_captions,
        "coco": coco.read_captions,
        "conceptual captions": conceptual_captions.read_conceptual_captions,
    }[captions.format]
    return read(folder / captions.file)
