"""Inputs of a captions study: labels, human captions, annotated people, word lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from portrayal.audits.captions import world as generated
from portrayal.audits.captions.datasets import caption_tables, coco, person_words, spice, vinvl, visual_genome, zhao
from portrayal.audits.captions.measures.demeaning_rules import rules_text
from portrayal.audits.captions.reading.stages import FAULTS, HUMAN_LABELS, LABELS, MENTIONS, Options, Stages, empty
from portrayal.audits.captions.settings import CaptionsSettings, Labels, People
from portrayal.audits.captions.stimuli import image_table, make_scenes
from portrayal.errors import PortrayalError
from portrayal.study.study import Study
from portrayal.systems.plugins.replay import read_coco_results
from portrayal.text.words.harm_lists import lists_of_groups, read_list

STAGE_TABLES = ("mentions", "captions", "boxes", "system_boxes", "people", "faults")
PLAIN_OPTIONS = (
    "threshold", "same_object", "person_area", "object_types", "splits", "bootstraps", "permutations", "tolerance", "tolerances",
    "show_demeaning", "count_hedged",
)  # fmt: skip


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read all stages but the system's, the rules and the word lists; parse no caption."""
    settings: CaptionsSettings = study.settings
    if settings.scenes:
        made = make_scenes(study)
        rows = [{"image": scene.image, "text": generated.text(generated.faithful(scene))} for scene in made]
        return inputs_of(generated.as_stages(made, study.seed), pl.DataFrame(rows), study)
    stages = Stages(image_table(study)["image"].to_list())
    for stage, labels in zip(LABELS, (settings.human_labels, settings.system_labels), strict=True):
        stages = _with_labels(stages, labels, stage, study.folder)
    stages, captions = _with_people(stages, settings.people, study.folder), settings.human_captions
    human = None if captions is None else _READERS[captions.format](study.folder / captions.file)
    return inputs_of(stages, human, study)


def inputs_of(stages: Stages, human: pl.DataFrame | None, study: Study) -> dict[str, Any]:
    """Return the stages as tables, the human captions, the user's rules and word lists (`list_NAME`)."""
    rules = study.settings.rules
    return {
        "images": pl.DataFrame({"image": list(stages.images)}),
        **{name: getattr(stages, name) for name in STAGE_TABLES},
        **({} if human is None else {"human": human}),
        **({"rules": rules_text(study.folder / rules)} if rules else {}),
        **{f"list_{name}": table for name, table in user_lists(study.settings, study.folder).items()},
    }


def stages_of(inputs: Mapping[str, Any]) -> Stages:
    """Return the stages from the tables a run keeps."""
    return Stages(inputs["images"]["image"].to_list(), **{name: inputs[name] for name in STAGE_TABLES})


def options_of(inputs: Mapping[str, Any], settings: CaptionsSettings, seed: int) -> Options:
    """Return what the techniques are told: the study's settings, rules and word lists."""
    lists = {name.removeprefix("list_"): table for name, table in inputs.items() if name.startswith("list_")}
    plain = {name: getattr(settings, name) for name in PLAIN_OPTIONS}
    return Options(**plain, seed=seed, rules=inputs.get("rules"), lists=lists)


def user_lists(settings: CaptionsSettings, folder: Path) -> dict[str, pl.DataFrame]:
    """Read the user's word lists; obtained lists replace ours part of speech by part."""
    if isinstance(settings.lists, str):
        own = lists_of_groups(settings.lists)
    else:
        own = {name: read_list(name, folder / path) for name, path in settings.lists.items()}
    return own | _obtained_lists(settings, folder, Options(lists=own))


def _obtained_lists(settings: CaptionsSettings, folder: Path, own: Options) -> dict[str, pl.DataFrame]:
    tables: dict[str, pl.DataFrame] = {}
    for name, setting, part, read in (
        ("demeaning", settings.offensive_synsets, "n", partial(person_words.read_person_synsets, kind="offensive")),
        ("nonimageable", settings.nonimageable_synsets, "n", partial(person_words.read_person_synsets, kind="non-imageable")),
        ("nonimageable", settings.descriptors, "a", person_words.read_descriptors),
    ):  # fmt: skip
        if setting:
            ours = tables.get(name, own.word_list(name).select("term", "part", "kind", "source"))
            tables[name] = pl.concat([read(folder / setting), ours.filter(pl.col("part") != part)])
    if settings.visual_verbnet:
        tables["visual_verbs"] = person_words.read_visual_verbnet(folder / settings.visual_verbnet)
    return tables


def _with_labels(stages: Stages, labels: Labels | None, stage: str, folder: Path) -> Stages:
    if labels is None:
        return stages
    tables = [(empty(MENTIONS), stages.boxes_of(stage), stages.faults), *_label_tables(labels, stage, folder)]
    mentions, boxes, faults = (
        pl.concat([table for table in part if table is not None]) for part in zip(*tables, strict=True)
    )
    inside = pl.col("image").is_in(list(stages.images))
    added = mentions.filter(inside).with_columns(pl.lit(stage).alias("stage"))
    all_mentions, drawn = pl.concat([stages.mentions, added]).unique(maintain_order=True), boxes.filter(inside)
    stages = replace(stages, mentions=all_mentions, faults=faults)
    return replace(stages, boxes=drawn) if stage == HUMAN_LABELS else replace(stages, system_boxes=drawn)


def _label_tables(labels: Labels, stage: str, folder: Path) -> Iterator[tuple[pl.DataFrame | None, ...]]:
    """Yield mentions, boxes and faults of every file of labels."""
    if labels.labels:
        yield caption_tables.read_labels(folder / labels.labels, stage), None, None
    if labels.boxes:
        yield None, *caption_tables.read_boxes(folder / labels.boxes)
    if labels.coco_instances:
        yield coco.read_instances(folder / labels.coco_instances)
    if labels.visual_genome:
        root = folder / labels.visual_genome
        names, sizes = visual_genome.read_image_data(root / "image_data.json")
        yield visual_genome.read_objects(root / "objects.json", names, sizes)
        yield visual_genome.read_attributes(root / "attributes.json", names), None, None
        yield visual_genome.read_relationships(root / "relationships.json", names), None, None
    if labels.vinvl:
        yield vinvl.read_labels(folder / labels.vinvl), *vinvl.read_boxes(folder / labels.vinvl)
    if labels.spice:
        which: Literal["test", "ref"] = "ref" if stage == HUMAN_LABELS else "test"
        yield spice.read_spice(folder / labels.spice, stage, which), None, None


def _with_people(stages: Stages, people: People | None, folder: Path) -> Stages:
    if people is None:
        return stages
    path = folder / people.file
    is_zhao = people.format == "zhao"
    table, faults = zhao.read_zhao(path) if is_zhao else (caption_tables.read_people(path), empty(FAULTS))
    inside = table.filter(pl.col("image").is_in(list(stages.images)))
    if inside.is_empty():
        raise PortrayalError(f"{path.name} annotates none of the study's images. Check that both use the same ids.")
    return replace(stages, people=inside, faults=pl.concat([stages.faults, faults]))


def people_of(study: Study) -> pl.DataFrame:
    """Return the annotated people of a study's images; the other stages are not read."""
    settings: CaptionsSettings = study.settings
    if settings.scenes:
        return generated.as_stages(make_scenes(study), study.seed).people
    images = image_table(study)["image"].to_list()
    return _with_people(Stages(images), settings.people, study.folder).people


_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "table": caption_tables.read_captions,
    "coco": coco.read_captions,
    "coco results": read_coco_results,
    "conceptual captions": caption_tables.read_conceptual_captions,
    "vinvl": vinvl.read_captions,
}
