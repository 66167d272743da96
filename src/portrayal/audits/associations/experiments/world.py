"""World of the experiments: stimuli of whole audits, and answers with a planted effect.

An effect is in deviations of the people's differences where people are compared, and a difference of shares where images are.
In clustered shapes people differ in their response to a condition, by nothing on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.datasets.label_tables import label_stimuli
from portrayal.audits.associations.datasets.sobem import caption_stimuli
from portrayal.audits.associations.experiments.depictions import AUDIT as DEPICTIONS
from portrayal.audits.associations.experiments.depictions import OCCUPATIONS
from portrayal.study.study import Study
from portrayal.tables import RESPONSES, check_stimuli

CONDITIONS = ("nonobjectified", "objectified")
EMOTIONS = ("anger", "sadness", "happiness")
WORDS = {"anger": "angry", "sadness": "sad", "happiness": "happy", "neutral": "calm"}
SCENES = ("a {} woman in a room.", "A woman, {} and alone", "the {} face of a woman in front of a wall")
REGIONS = ("face", "torso", "background")
TABLE = {"table": "none"}  # settings of what is answered from a table
NOISE = 0.06  # deviation of a picture's share of a region


class People(NamedTuple):
    """Numbers of people, photographs in a condition and captions of each; deviation of responses."""

    people: int
    takes: int
    captions: int
    response: float


class Images(NamedTuple):
    """Numbers of groups or occupations, images of each, and ages that use each seed."""

    groups: int
    images: int
    ages: int = 0
    seed_effect: float = 0.0


PEOPLE = {
    "demo": People(10, 2, 30, 0.02),
    "small": People(8, 1, 10, 0.0),
    "clustered": People(10, 4, 10, 0.08),
    "large": People(40, 2, 20, 0.02),
}
LABELS = {
    "demo": Images(2, 100),
    "small": Images(2, 10),
    "clustered": Images(2, 30, ages=4, seed_effect=1.5),
    "large": Images(4, 300),
}
PORTRAYED = {
    "demo": Images(10, 20),
    "small": Images(3, 10),
    "clustered": Images(6, 20, seed_effect=1.5),
    "large": Images(20, 60),
}


class Experiment(NamedTuple):
    """A simulated experiment: its study, stimuli and answers."""

    shapes: Mapping[str, Any]
    use: str
    settings: Mapping[str, Any]
    stimuli: Callable[[Any, Study], pl.DataFrame]
    answers: Callable[[Any, pl.DataFrame, float, np.random.Generator], pl.DataFrame]
    planted: Mapping[str, str]  # columns of the row that carries the effect


def _photographs(shape: People, study: Study) -> pl.DataFrame:
    """Return SOBEM's photographs by name, as recorded captions do."""
    made = product(range(shape.people), (*EMOTIONS, "neutral"), CONDITIONS, range(shape.takes))
    rows = [("_".join(map(str, one)), str(one[0]), one[1], "", one[2], str(one[3])) for one in made]
    names = ["stimulus", "person", "emotion", "intensity", "condition", "take"]
    return caption_stimuli(pl.DataFrame(rows, schema=names, orient="row"))


def _pictures(shape: People, study: Study) -> pl.DataFrame:
    photographs = _photographs(shape, study).filter(pl.col("emotion") != "neutral")
    return check_stimuli(photographs.with_columns(factor=pl.col("emotion")))


def _prompted(shape: Images, study: Study) -> pl.DataFrame:
    ages: Iterable[float | None] = [20.0 + 15 * place for place in range(shape.ages)] or [None]
    made = product(range(shape.groups), ages, range(shape.images))
    rows = [(f"{group}/{age}/{seed}", f"group {group}", age, str(seed), None) for group, age, seed in made]
    text = dict.fromkeys(("stimulus", "group", "age", "seed", "prompt"), pl.String)
    return label_stimuli(pl.DataFrame(rows, schema={**text, "age": pl.Float64}, orient="row"))


def _captions(shape: People, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Write captions that name the emotion shown at a rate of the person and condition."""
    level = rng.uniform(0.2, 0.5, shape.people)
    answers = shape.takes * shape.captions
    # The deviation of a person's difference between her two rates: her own response, and two samples of captions.
    noise = np.sqrt(shape.response**2 + 2 * np.mean(level * (1 - level)) / answers)
    response = {emotion: shape.response * rng.normal(size=shape.people) for emotion in (*EMOTIONS, "neutral")}
    response[EMOTIONS[0]] = response[EMOTIONS[0]] - effect * noise
    rows = []
    for name, person, emotion, condition in stimuli.select("stimulus", "person", "emotion", "condition").iter_rows():
        shift = response[emotion][int(person)] / 2 * (1 if condition == CONDITIONS[1] else -1)
        named = rng.random(shape.captions) < np.clip(level[int(person)] + shift, 0, 1)
        words = [WORDS[emotion] if one else "standing" for one in named]
        texts = [SCENES[place % len(SCENES)].format(word) for place, word in enumerate(words)]
        rows += [(name, 0, "answered", text) for text in texts]
    return _table(rows, caption=pl.String)


def _shares(shape: People, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Give each picture shares of regions, which differ between conditions by the person's response."""
    level, response = rng.normal(0, 0.05, (2, shape.people)), rng.normal(0, shape.response, (2, shape.people))
    takes = shape.takes * len(EMOTIONS)
    response[0] -= effect * np.sqrt(shape.response**2 + 2 * NOISE**2 / takes)
    rows = []
    for name, person, condition in stimuli.select("stimulus", "person", "condition").iter_rows():
        half = 0.5 if condition == CONDITIONS[1] else -0.5
        own = level[:, int(person)] + half * response[:, int(person)] + rng.normal(0, NOISE, 2)
        face, torso = 0.5 + own[0], 0.25 + own[1]
        parts = zip(REGIONS, (face, torso, 1 - face - torso), strict=True)
        rows += [(name, 0, "answered", region, float(share)) for region, share in parts]
    return _table(rows, tag=pl.String, confidence=pl.Float64)


def _labels(shape: Images, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Label images; those from one seed are alike where seeds matter, by group."""
    groups = stimuli["group"].unique().sort().to_list()
    pull = {(group, seed): shape.seed_effect * rng.normal() for group in groups for seed in range(shape.images)}
    rows = []
    for name, group, seed in stimuli.select("stimulus", "group", "seed").iter_rows():
        share = _chance(np.log(0.1 / 0.9) + pull[group, int(seed)]) + (effect if group == groups[1] else 0.0)
        rows.append((name, 0, "answered", "sexy" if rng.random() < share else "neutral", None))
    return _table(rows, label=pl.String, score=pl.Float64)


def _seen(shape: Images, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Return a woman or a man per image; images of one repeat are alike."""
    pull = shape.seed_effect * rng.normal(size=shape.images)
    rows: list[tuple[Any, ...]] = []
    for name, job in stimuli.select("stimulus", "occupation").iter_rows():
        for repeat in range(shape.images):
            share = _chance(pull[repeat]) + (effect if job == OCCUPATIONS[0] else 0.0)
            seen = "woman" if rng.random() < share else "man"
            rows += [(name, repeat, "answered", label, None) for label in ("outcome:kept", seen)]
    return _table(rows, label=pl.String, score=pl.Float64)


def _chance(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _table(rows: list[tuple[Any, ...]], **further: Any) -> pl.DataFrame:
    schema = {name: kind for name, kind in RESPONSES.items() if name != "system"}
    return pl.DataFrame(rows, schema={**schema, **further}, orient="row")


EXPERIMENTS = {
    "emotion_words": Experiment(PEOPLE, "sobem_captions", {"recorded": "none", "minimum": 1}, _photographs, _captions,
                                {"measure": "emotion_word_difference", "emotion": EMOTIONS[0]}),
    "saliency": Experiment(PEOPLE, "clip_saliency", TABLE, _pictures, _shares,
                           {"measure": "saliency_difference", "region": REGIONS[0]}),
    "labels": Experiment(LABELS, "label_table", TABLE, _prompted, _labels, {"measure": "sexualised_difference"}),
    "depictions": Experiment(PORTRAYED, "phantom_generator", {}, lambda shape, study: DEPICTIONS.stimuli(study), _seen,
                             {"measure": "depicted_difference", "occupation": OCCUPATIONS[0]}),
}  # fmt: skip
SHAPES = {f"{name} {shape}": own for name, made in EXPERIMENTS.items() for shape, own in made.shapes.items()}
