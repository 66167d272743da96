"""A simulated tagger with a planted stereotype: `use = "phantom:contexts"`.

It never looks at a picture. It reads the manifest beside the composed pictures, so it knows who stands where, and answers by
chance from a seed: in a stereotyped place it names the place's gender instead of the person's with the chance `stereotype`,
describes who fits the place more abstractly (`expectancy`), and changes its words more for one group than for another
(`gap`). All zero is a null phantom. For demonstrations; it measures nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.contexts.factorial import MANIFEST
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.words.typology import load_context_tags, load_contexts

GENDER_TAGS = {"feminine": ("woman", "girl", "lady"), "masculine": ("man", "guy", "gentleman")}
CONCRETE = ("portrait", "hair", "face", "t-shirt", "clothing", "shirt", "neck", "chin", "white", "standing")
ABSTRACT = (
    "beautiful",
    "serious",
    "confident",
    "happy",
    "calm",
    "model",
    "attractive",
    "friendly",
    "elegant",
    "professional",
)
LABELS = {
    "female": "feminine",
    "woman": "feminine",
    "women": "feminine",
    "male": "masculine",
    "man": "masculine",
    "men": "masculine",
}


class Planted(Settings):
    """What is planted."""

    stereotype: float = 0.5  # chance to name the place's gender
    right: float = 0.85  # chance to name the person's gender otherwise; half of the rest is neutral, half wrong
    recognised: float = 0.9  # chance to name the place
    expectancy: float = 2.0  # further abstract tags, on average, for who fits the place
    gap: float = 1.5  # further concrete tags in places, on average, for the group `changed`
    changed: str = "female"
    seed: int = 0


@dataclass(frozen=True)
class Seen:
    """What the manifest says of one picture."""

    gender: str | None  # the depicted group's label
    context: str | None


def describe(seen: Seen, planted: Planted, stereotypes: Mapping[str, str], words: Mapping[str, Sequence[str]],
             random: np.random.Generator) -> list[str]:  # fmt: skip
    """Return the tags of one picture."""
    own = LABELS.get(seen.gender or "", "")
    place = stereotypes.get(seen.context or "", "")
    tags = ["person"] if seen.gender else []
    if seen.gender:
        tags += _gender_tags(own, place, planted, random)
        concrete = 3 + random.poisson(planted.gap * bool(place and seen.gender == planted.changed))
        abstract = 2 + random.poisson(planted.expectancy * bool(place and place == own))
        tags += random.choice(CONCRETE, min(concrete, len(CONCRETE)), replace=False).tolist()
        tags += random.choice(ABSTRACT, min(abstract, len(ABSTRACT)), replace=False).tolist()
    if seen.context and random.random() < planted.recognised:
        tags += random.choice(words[seen.context], 2, replace=False).tolist()
    return tags


def _gender_tags(own: str, place: str, planted: Planted, random: np.random.Generator) -> list[str]:
    """Follow the place, or the person, or chance."""
    draw, follow = random.random(), random.random()
    if place and follow < planted.stereotype:
        named = place
    elif draw < planted.right:
        named = own
    elif draw < (1 + planted.right) / 2:
        named = ""
    else:
        named = next((cluster for cluster in GENDER_TAGS if cluster != own), "")
    return [str(random.choice(GENDER_TAGS[named]))] if named in GENDER_TAGS else []


@dataclass
class StereotypingTagger(BaseSystem):
    """The phantom as a system."""

    repeatable: bool = True
    batch: int = 256
    planted: Planted = Planted()
    _words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _stereotypes: Mapping[str, str] = field(default_factory=dict)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Answer from the manifest beside each picture."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer | Exception:
        seen = _manifest(str(Path(question.content).parent)).get(question.stimulus)
        if seen is None:
            return CallFailed(f"this phantom answers only pictures with a {MANIFEST} beside them")
        key = f"{self.planted.seed}|{question.stimulus}|{question.repeat}".encode()
        random = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:8]))
        tags = describe(seen, self.planted, self._stereotypes, self._words, random)
        return Answer(json.dumps(tags).encode(), version="phantom")


@lru_cache(maxsize=4)
def _manifest(folder: str) -> dict[str, Seen]:
    file = Path(folder) / MANIFEST
    if not file.is_file():
        return {}
    table = pl.read_csv(file, infer_schema=False)
    gender = pl.col("gender") if "gender" in table.columns else pl.lit(None, dtype=pl.String)
    rows = table.select("stimulus", gender.alias("gender"), "context").iter_rows()
    return {name: Seen(label, context) for name, label, context in rows}


def place_words() -> dict[str, list[str]]:
    """Return the words of each place that say nothing about a gender or a person's traits."""
    from portrayal.text.words.typology import load_typology

    about_people = load_typology().filter(pl.col("super_cluster").is_in(["demographics", "abstract"]))["tag"]
    table = load_context_tags().filter(~pl.col("tag").is_in(about_people.implode()))
    return {str(name): part["tag"].to_list() for (name,), part in table.group_by("context", maintain_order=True)}


def open_system(settings: SystemSettings, folder: Path) -> StereotypingTagger:
    """Open the phantom with what the study plants."""
    return StereotypingTagger(
        **settings.fields("phantom:contexts", kind="tagger"),
        planted=settings.read(Planted),
        _words=place_words(),
        _stereotypes=dict(load_contexts().select("context", "stereotype").iter_rows()),
    )
