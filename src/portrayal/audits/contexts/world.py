"""World of made-up people, places and taggers: all that phantoms, simulations, calibrations and plans draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from portrayal.settings import Settings
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

GENDER_TAGS = {
    "feminine": ("woman", "girl", "lady"),
    "masculine": ("man", "guy", "gentleman"),
    "nonbinary": ("nonbinary", "androgynous", "genderqueer"),
}
GENDERS = tuple(GENDER_TAGS)
LABELS = {"feminine": ["female"], "masculine": ["male"], "nonbinary": ["nonbinary"]}  # of people
NO_GENDER = -1  # of named genders as numbers
CONCRETE = ("portrait", "hair", "face", "t-shirt", "clothing", "shirt", "neck", "chin", "white", "standing")
ABSTRACT = (
    "beautiful", "serious", "confident", "happy", "calm", "model", "attractive", "friendly", "elegant", "professional",
)  # fmt: skip
RIGHT = (8.5, 1.5)  # Beta of the chance to name a person's labelled gender: .85 on average, and not the same for all


@cache
def place_words() -> dict[str, list[str]]:
    """Return the words of each place, without those about a gender or traits."""
    about_people = load_typology().filter(pl.col("super_cluster").is_in(["demographics", "abstract"]))["tag"]
    table = load_context_tags().filter(~pl.col("tag").is_in(about_people.implode()))
    return {str(name): part["tag"].to_list() for (name,), part in table.group_by("context", maintain_order=True)}


def draw_genders(
    own: np.ndarray, place: int | None, right: np.ndarray, follow: float, kinds: int, random: np.random.Generator
) -> np.ndarray:
    """Return the gender a tagger names for each person."""
    draw = random.random(len(own))
    others = (own + 1 + random.integers(0, max(kinds - 1, 1), len(own))) % kinds
    named = np.where(draw < right, own, np.where(draw < (1 + right) / 2, NO_GENDER, others))
    if place is None or not follow:
        return named
    return np.where(random.random(len(own)) < follow, place, named)


OWN = dict.fromkeys(("female", "woman", "women"), "feminine") | dict.fromkeys(("male", "man", "men"), "masculine")


class Planted(Settings):
    """Effects that a study plants in the phantom."""

    stereotype: float = 0.5  # chance to name the place's gender
    right: float = 0.85  # chance to name the person's gender otherwise; half of the rest is neutral, half wrong
    recognised: float = 0.9  # chance to name the place
    expectancy: float = 2.0  # further abstract tags, on average, for who fits the place
    gap: float = 1.5  # further concrete tags in places, on average, for the group `changed`
    changed: str = "female"
    seed: int = 0


def describe(
    gender: str | None,
    context: str | None,
    planted: Planted,
    stereotypes: Mapping[str, str],
    random: np.random.Generator,
) -> list[str]:
    """Return the tags of one picture: of somebody, of a place, or of both."""
    own, place, tags = OWN.get(gender or "", ""), stereotypes.get(context or "", ""), []
    if gender:
        draw, follow = random.random(), random.random()
        other = "masculine" if own == "feminine" else "feminine"
        named = own if draw < planted.right else "" if draw < (1 + planted.right) / 2 else other
        named = place if place and follow < planted.stereotype else named
        tags = ["person", *([str(random.choice(GENDER_TAGS[named]))] if named in GENDER_TAGS else [])]
        concrete = 3 + random.poisson(planted.gap * bool(place and gender == planted.changed))
        abstract = 2 + random.poisson(planted.expectancy * bool(place and place == own))
        for words, count in ((CONCRETE, concrete), (ABSTRACT, abstract)):
            tags += random.choice(words, min(count, len(words)), replace=False).tolist()
    if context and random.random() < planted.recognised:
        tags += random.choice(place_words()[context], 2, replace=False).tolist()
    return tags


@dataclass(frozen=True)
class Shape:
    """Size of an audit: people before backgrounds, and how often nothing is answered."""

    women: int
    men: int
    races: int = 2
    places: int = 4  # half of them of each stereotype
    backgrounds: int = 1  # of each place
    silent: float = 0.0  # chance that a picture is refused
    nonbinary: int = 0  # people; where there are none, nobody is called so

    def own(self) -> list[int]:
        """Return the place of each person's gender in GENDERS."""
        return [0] * self.women + [1] * self.men + [2] * self.nonbinary


SHAPES: Mapping[str, Shape] = {
    "demo": Shape(7, 3, places=8, backgrounds=2, silent=0.02),
    "small": Shape(4, 4),
    "clustered": Shape(6, 6, backgrounds=3),
    "large": Shape(60, 60, races=4, places=8),
    "three genders": Shape(8, 8, silent=0.05, nonbinary=8),
}


@cache
def draw_stimuli(shape: Shape) -> pl.DataFrame:
    """Return everybody alone and in places; nothing of it is drawn by chance."""
    stereotype = pl.int_range(pl.len()).over("stereotype")
    places = load_contexts().filter(stereotype < shape.places // 2)["context"].to_list()
    slots = [(None, None), *((place, f"{place}-{at}") for place in places for at in range(shape.backgrounds))]
    rows = [
        {
            "stimulus": f"p{number:03d}@{background}", "kind": "image", "content": "", "source": "simulated",
            "hash": f"p{number:03d}@{background}", "license": "none", "consent": "generated", "person": f"p{number:03d}",
            "role": "composite" if place else "baseline", "context": place, "background": background,
            "gender": LABELS[GENDERS[own]][0], "race": f"race {number % shape.races + 1}",
        }
        for number, own in enumerate(shape.own())
        for place, background in slots
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def draw_tags(
    shape: Shape, follow: float, traits: np.random.Generator, random: np.random.Generator
) -> Iterator[tuple[str, list[str], bool]]:
    """Yield each stimulus, a tagger's tags, and a refusal; `traits` outlast a wave."""
    own = np.array(shape.own())
    right, lean = traits.beta(*RIGHT, len(own)), traits.normal(0.0, 0.3, len(own))
    stereotypes = dict(load_contexts().select("context", "stereotype").iter_rows())
    seen, wordy = ({place: traits.uniform(*ends) for place in stereotypes} for ends in ((0.6, 0.95), (0.5, 1.5)))
    for (place,), part in draw_stimuli(shape).group_by("context", maintain_order=True):
        kind = GENDERS.index(stereotypes[str(place)]) if place else None
        for (_,), slot in part.group_by("background", maintain_order=True):
            named = draw_genders(own, kind, right, follow, 3 if shape.nonbinary else 2, random)
            for at, name in enumerate(slot.sort("person")["stimulus"]):
                concrete = 1 + random.poisson(2 * wordy.get(place, 1.0) * np.exp(lean[at]))
                counts, words = (concrete, random.poisson(2 * np.exp(-lean[at]))), []
                for pool, count in zip((CONCRETE, ABSTRACT), counts, strict=True):
                    words += random.permutation(pool)[:count].tolist()
                own_gender = named[at] != NO_GENDER
                gender = [GENDER_TAGS[GENDERS[named[at]]][random.integers(3)]] if own_gender else []
                tags = ["person", *gender, *words]
                if place and random.random() < seen[str(place)]:
                    tags += random.choice(place_words()[str(place)], 2, replace=False).tolist()
                yield name, tags, bool(shape.silent) and random.random() < shape.silent


STEREOTYPES = {f"{kind[0].upper()}{at}": kind for kind in ("feminine", "masculine") for at in range(1, 5)}
CLUSTERS = ("demographics", "concrete", "abstract", "other")
SEEN = 0.7  # share of places recognised where a gender is named
TASTE = 0.4  # standard deviation of how far a person is described by things (above 0) or abstractly


@dataclass(frozen=True)
class World:
    """A simulated audit: its people and places, and the effects that are planted."""

    people: int = 120
    genders: int = 2
    backgrounds: int = 1
    places: int = 4  # half of them of each stereotype
    silent: float = 0.0  # share of pictures without an answer
    stereotype: float = 0.0  # chance that the place decides the gender
    right: float = 0.45  # chance to name the person's own gender; half of the rest is neutral, half another gender
    expectancy: float = 0.0  # share of tags moved from concrete to abstract for who fits the place
    recognition: float = 0.0  # how much less often a place is recognised where no gender is named


NULLS = (
    World(),
    World(people=60, genders=3, backgrounds=2, silent=0.05),
    World(people=30, genders=3, places=8, silent=0.05),
)
PLANTED = World(backgrounds=2, silent=0.05, stereotype=0.3, expectancy=0.15, recognition=0.3)
WORLDS = (
    *(replace(PLANTED, people=people) for people in (10, 30, 120)),
    *(replace(PLANTED, people=people, genders=3, places=8, backgrounds=1) for people in (30, 60)),
)


def draw_pictures(world: World, random: np.random.Generator) -> pl.DataFrame:
    """Return the table that `describe_pictures` makes: everybody alone, and in places of two stereotypes."""
    own = np.arange(world.people) % world.genders
    race = np.array(list("ABLW"))[random.integers(0, 4, world.people)]
    taste = random.normal(0, TASTE, world.people)
    places = [place for place in STEREOTYPES if int(place[1]) <= world.places // 2]
    slots = [(None, 0), *((place, slot) for place in places for slot in range(world.backgrounds))]
    labels = [LABELS[GENDERS[gender]][0] for gender in own]
    people = pl.DataFrame({"person": [f"p{i:04d}" for i in range(world.people)], "gender": labels, "race": race})
    return pl.concat([_draw_slot(world, place, slot, own, taste, people, random) for place, slot in slots])


def _draw_slot(
    world: World, place: str | None, slot: int, own: np.ndarray, taste: np.ndarray, people: pl.DataFrame,
    random: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Draw the pictures of everybody before one background, or alone."""
    n, names = world.people, np.array([*GENDERS[: world.genders], "neutral"])
    draw, rest = random.random(n), (1 - world.right) / 2
    other = (own + random.integers(1, world.genders, n)) % world.genders
    named = np.where(draw < world.right, own, np.where(draw < world.right + rest, other, world.genders))
    inferred = names[named]
    if place:
        inferred = np.where(random.random(n) < world.stereotype, STEREOTYPES[place], inferred)
    fits = names[own] == STEREOTYPES[place] if place else np.zeros(n, bool)
    shares = _tag_shares(taste)  # of twelve tags
    moved = np.minimum(fits * world.expectancy, shares[:, 1] * 0.9)
    shares[:, 1] -= moved
    shares[:, 2] += moved
    counts = random.multinomial(12, shares / shares.sum(axis=1, keepdims=True))
    seen = random.random(n) < SEEN - world.recognition * (inferred == "neutral")
    status = np.where(random.random(n) < world.silent, "failed", "answered")
    return people.with_columns(
        pl.Series("stimulus", [f"{i}@{place}-{slot}" for i in range(n)]), pl.Series("status", status),
        pl.Series("inferred", inferred), pl.Series("recognised", seen), pl.Series("tags", counts.sum(axis=1)),
        *(pl.Series(f"in {name}", counts[:, at]) for at, name in enumerate(CLUSTERS)),
        system=pl.lit("phantom"), repeat=pl.lit(0, pl.Int64), place=pl.lit(1, pl.Int64), role=pl.lit("composite" if place else "baseline"),
        context=pl.lit(place, pl.String), background=pl.lit(f"{place}-{slot}" if place else None, pl.String),
    )  # fmt: skip


def _tag_shares(taste: np.ndarray) -> np.ndarray:
    """Return each person's shares of tags by cluster, in the order of CLUSTERS."""
    two = np.full(len(taste), 2.0)
    weights = np.stack([two, 5 * np.exp(taste), 3 * np.exp(-taste), two], axis=1)
    return weights / weights.sum(axis=1, keepdims=True)


def truths(world: World) -> dict[str, float]:
    """Return what the planted values come to, with as many people of each gender."""
    rest, others_of = (1 - world.right) / 2, world.genders - 1
    # Inferred feminine in a feminine place:
    woman, other = (world.stereotype + (1 - world.stereotype) * chance for chance in (world.right, rest / others_of))
    recognised = SEEN - world.recognition * (1 - world.stereotype) * rest
    hits, others = (SEEN * chance / recognised for chance in (woman, other))
    taste, weights = np.polynomial.hermite_e.hermegauss(40)  # integrates over the people's tastes
    _, concrete, abstract, _ = _tag_shares(TASTE * taste).T
    moved = np.minimum(world.expectancy, concrete * 0.9) / (concrete + abstract)
    return {
        "congruence": world.stereotype,
        "inferred_change": world.stereotype * (1 - (world.right + rest) / world.genders),
        "recognition_independence": world.recognition,
        "gender_f1": 2 * hits / (hits + others_of * others + 1),
        "expectancy": float(np.average(moved, weights=weights)),
    }
