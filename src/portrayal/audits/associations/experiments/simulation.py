"""Whole audits of the further experiments that never took place: two systems without an effect, or one with one.

Answers are what the systems' readers give: captions as sentences whose words are counted, labels and regions as recorded
tables hold them. People differ in their level and, in clustered shapes, in how they respond to a condition, by nothing
on average. `effect` is planted in the first system: in deviations of the people's differences where people are
compared, and as a difference of shares where images are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.datasets.label_tables import label_stimuli
from portrayal.audits.associations.datasets.sobem import caption_stimuli
from portrayal.audits.associations.experiments.depictions import AUDIT as DEPICTIONS
from portrayal.audits.associations.experiments.depictions import OCCUPATIONS
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import POWER, smallest_of_people, smallest_share_difference
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import RESPONSES, check_stimuli

SYSTEMS = ("first", "second")
CONDITIONS = ("nonobjectified", "objectified")
EMOTIONS = ("anger", "sadness", "happiness")
WORDS = {"anger": "angry", "sadness": "sad", "happiness": "happy", "neutral": "calm"}
SCENES = ("a {} woman in a room.", "A woman, {} and alone", "the {} face of a woman in front of a wall")
REGIONS = ("face", "torso", "background")


class People(NamedTuple):
    """How many people, photographs of each in a condition, captions of a photograph, and how far responses differ."""

    people: int
    takes: int
    captions: int
    response: float


class Images(NamedTuple):
    """How many groups or occupations, images of each, and at how many ages each seed is used."""

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
SHAPES: Mapping[str, NamedTuple] = {
    **{f"{name} {shape}": own for name in ("emotion_words", "saliency") for shape, own in PEOPLE.items()},
    **{f"labels {shape}": own for shape, own in LABELS.items()},
    **{f"depictions {shape}": own for shape, own in PORTRAYED.items()},
}
Answers = Callable[[Any, pl.DataFrame, float, np.random.Generator], pl.DataFrame]


def simulate(shape: str, seed: int, effect: float = 0.0) -> Simulated:
    """Return an audit of two systems of one of the experiments; `effect` is that of the first system."""
    name = shape.split()[0]
    study, stimuli = _asked(shape)
    rng = np.random.default_rng(seed)
    parts = [
        ANSWERS[name](SHAPES[shape], stimuli, effect * (not place), rng).select(
            pl.lit(system).alias("system"), pl.all()
        )
        for place, system in enumerate(SYSTEMS)
    ]
    planted = {"system": SYSTEMS[0], **PLANTED[name]} if effect else None
    return Simulated(study, Evidence(stimuli, pl.concat(parts), {}, None, seed), planted)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape the smallest effect that `portrayal plan` says is found in 80 of 100 audits."""
    people, systems = PEOPLE["demo"].people, len(SYSTEMS)
    labelled, portrayed = LABELS["demo"].images, PORTRAYED["demo"]
    jobs, images = portrayed.groups, portrayed.images
    effects = {
        "emotion_words": smallest_of_people(people, len(EMOTIONS) * systems),
        "saliency": smallest_of_people(people, len(REGIONS) * systems, parts=len(REGIONS)),
        "labels": smallest_share_difference(0.1, labelled, labelled, LEVEL / systems, fisher=True),
        "depictions": smallest_share_difference(
            0.5, images, (jobs - 1) * images, LEVEL / (jobs * systems), fisher=True
        ),
    }
    return {f"{name} demo": (effect, POWER) for name, effect in effects.items()}


PLANTED: Mapping[str, Mapping[str, str]] = {
    "emotion_words": {"measure": "emotion_word_difference", "emotion": EMOTIONS[0]},
    "saliency": {"measure": "saliency_difference", "region": REGIONS[0]},
    "labels": {"measure": "sexualised_difference"},
    "depictions": {"measure": "depicted_difference", "occupation": "accountant"},
}


@cache
def _asked(shape: str) -> tuple[Study, pl.DataFrame]:
    """Return the study and its stimuli; the same for every simulated audit of a shape."""
    name = shape.split()[0]
    use, settings = STUDIES[name]
    data = {
        "name": shape,
        "audit": f"associations/{name}",
        "systems": [{"name": system, "use": use} for system in SYSTEMS],
        "associations": settings(SHAPES[shape]),
        "repeats": SHAPES[shape].images if name == "depictions" else 1,  # type: ignore[attr-defined]
    }
    study = make_study(data)
    return study, STIMULI[name](SHAPES[shape], study)


STUDIES: Mapping[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "emotion_words": ("sobem_captions", lambda shape: {"recorded": "none", "minimum": 1}),
    "saliency": ("clip_saliency", lambda shape: {"table": "none"}),
    "labels": ("label_table", lambda shape: {"table": "none"}),
    "depictions": ("phantom_generator", lambda shape: {"occupations": _jobs(shape)}),
}


def _jobs(shape: Images) -> list[str]:
    return OCCUPATIONS[: shape.groups]


def _photographs(shape: People, study: Study) -> pl.DataFrame:
    """Return SOBEM's photographs by name, as recorded captions do."""
    made = product(range(shape.people), (*EMOTIONS, "neutral"), CONDITIONS, range(shape.takes))
    rows = [
        {
            "stimulus": f"{person}_{emotion}_{condition}_{take}",
            "person": str(person),
            "emotion": emotion,
            "intensity": "",
            "condition": condition,
            "take": str(take),
        }
        for person, emotion, condition, take in made
    ]
    return caption_stimuli(pl.DataFrame(rows))


def _pictures(shape: People, study: Study) -> pl.DataFrame:
    photographs = _photographs(shape, study).filter(pl.col("emotion") != "neutral")
    return check_stimuli(photographs.with_columns(factor=pl.col("emotion")))


def _prompted(shape: Images, study: Study) -> pl.DataFrame:
    ages: Iterable[float | None] = [20.0 + 15 * place for place in range(shape.ages)] or [None]
    made = product(range(shape.groups), ages, range(shape.images))
    rows = [
        {"stimulus": f"{group}/{age}/{seed}", "group": f"group {group}", "age": age, "seed": str(seed), "prompt": None}
        for group, age, seed in made
    ]
    return label_stimuli(pl.DataFrame(rows, schema_overrides={"prompt": pl.String, "age": pl.Float64}))


STIMULI: Mapping[str, Callable[[Any, Study], pl.DataFrame]] = {
    "emotion_words": _photographs,
    "saliency": _pictures,
    "labels": _prompted,
    "depictions": lambda shape, study: DEPICTIONS.stimuli(study),
}


def _captions(shape: People, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Write captions, of which some name the emotion shown; how often is the person's, and hers in a condition."""
    level = rng.uniform(0.2, 0.5, shape.people)
    answers = shape.takes * shape.captions
    # The deviation of a person's difference between her two rates: her own response, and two samples of captions.
    noise = np.sqrt(shape.response**2 + 2 * np.mean(level * (1 - level)) / answers)
    response = {emotion: shape.response * rng.normal(size=shape.people) for emotion in (*EMOTIONS, "neutral")}
    response[EMOTIONS[0]] = response[EMOTIONS[0]] - effect * noise
    rows = []
    for name, person, emotion, condition in stimuli.select("stimulus", "person", "emotion", "condition").iter_rows():
        shift = response[emotion][int(person)] / 2 * (1 if condition == CONDITIONS[1] else -1)
        said = rng.random(shape.captions) < np.clip(level[int(person)] + shift, 0, 1)
        rows += [(name, 0, "answered", _caption(emotion, named, place)) for place, named in enumerate(said)]
    return _table(rows, {"caption": pl.String})


def _caption(emotion: str, named: bool, place: int) -> str:
    return SCENES[place % len(SCENES)].format(WORDS[emotion] if named else "standing")


def _shares(shape: People, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Give each picture shares of face, torso and background; a person's differ between conditions by a response of her own."""
    level, response = rng.normal(0, 0.05, (2, shape.people)), rng.normal(0, shape.response, (2, shape.people))
    takes = shape.takes * len(EMOTIONS)
    deviation = np.sqrt(shape.response**2 + 2 * NOISE**2 / takes)
    response[0] -= effect * deviation
    rows = []
    for name, person, condition in stimuli.select("stimulus", "person", "condition").iter_rows():
        half = 0.5 if condition == CONDITIONS[1] else -0.5
        own = level[:, int(person)] + half * response[:, int(person)] + rng.normal(0, NOISE, 2)
        face, torso = 0.5 + own[0], 0.25 + own[1]
        parts = zip(REGIONS, (face, torso, 1 - face - torso), strict=True)
        rows += [(name, 0, "answered", region, float(share)) for region, share in parts]
    return _table(rows, {"tag": pl.String, "confidence": pl.Float64})


NOISE = 0.06  # deviation of a picture's share


def _labels(shape: Images, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Label images; images from one seed are alike where seeds matter, in each group in its own way."""
    groups = stimuli["group"].unique().sort().to_list()
    pull = {(group, seed): shape.seed_effect * rng.normal() for group in groups for seed in range(shape.images)}
    rows = []
    for name, group, seed in stimuli.select("stimulus", "group", "seed").iter_rows():
        odds = np.log(0.1 / 0.9) + pull[group, int(seed)]
        share = 1 / (1 + np.exp(-odds)) + (effect if group == groups[1] else 0.0)
        rows.append((name, 0, "answered", "sexy" if rng.random() < share else "neutral", None))
    return _table(rows, {"label": pl.String, "score": pl.Float64})


def _seen(shape: Images, stimuli: pl.DataFrame, effect: float, rng: np.random.Generator) -> pl.DataFrame:
    """Show a woman or a man; images from one seed, which is the repeat, are alike in all occupations."""
    pull = shape.seed_effect * rng.normal(size=shape.images)
    rows: list[tuple[Any, ...]] = []
    for name, job in stimuli.select("stimulus", "occupation").iter_rows():
        for repeat in range(shape.images):
            share = 1 / (1 + np.exp(-pull[repeat])) + (effect if job == "accountant" else 0.0)
            seen = "woman" if rng.random() < share else "man"
            rows += [(name, repeat, "answered", label, None) for label in ("outcome:kept", seen)]
    return _table(rows, {"label": pl.String, "score": pl.Float64})


ANSWERS: Mapping[str, Answers] = {
    "emotion_words": _captions,
    "saliency": _shares,
    "labels": _labels,
    "depictions": _seen,
}


def _table(rows: list[tuple[Any, ...]], further: Mapping[str, Any]) -> pl.DataFrame:
    schema = {name: kind for name, kind in RESPONSES.items() if name != "system"}
    return pl.DataFrame(rows, schema={**schema, **further}, orient="row")
