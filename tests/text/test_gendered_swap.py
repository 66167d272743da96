"""A text about the other gender has the same graph about the other gender: captions and paragraphs."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import polars as pl

from portrayal.text.captions.parsing import scene_graphs
from text.gold_scores import english
from text.swapped import content, swap_text, swap_words

CAPTIONS, PARAGRAPHS = 1500, 300
MOST_DIFFERENT = 0.02  # of texts
SLOTS = {
    "W": (
        "woman",
        "lady",
        "mother",
        "waitress",
        "policewoman",
        "grandmother",
        "girl",
        "businesswoman",
        "actress",
        "bride",
        "nun",
        "queen",
    ),
    "M": (
        "man",
        "father",
        "waiter",
        "gentleman",
        "boy",
        "uncle",
        "king",
        "husband",
        "fisherman",
        "grandson",
        "actor",
        "monk",
    ),
    "people": (
        "two women",
        "three men",
        "several girls",
        "a group of boys",
        "two sisters",
        "a few ladies",
        "four businessmen",
        "her sons",
        "his daughters",
    ),
    "old": ("young", "elderly", "tall", "Black", "Asian", "white", "Latino", "blind", "smiling", "middle-aged"),
    "place": ("park", "kitchen", "train station", "library", "crowded street", "museum", "garden", "hotel lobby"),
    "thing": ("camera", "blue umbrella", "newspaper", "violin", "basket of apples", "laptop", "map", "paper bag"),
    "wears": ("red coat", "straw hat", "leather jacket", "blue uniform", "striped scarf"),
    "animal": ("dog", "cat", "horse", "parrot"),
}
TEMPLATES = (
    "The image shows a {old} {W} in a {place}. She is holding a {thing}, and her {animal} is sitting beside her."
    " In the background, a {M} looks at his phone.",
    "A {M} in a {wears} is talking to {people}. He has a {thing} under his arm. None of them is smiling.",
    "**Subject:** a {old} {M}\n**Action:** he is carrying a {thing}\n- His {animal} follows him.\n- No other men are visible.",
    "Sure! Here's a description: a {W} and a {M} are standing in a {place}. He might be her brother, but she does not look at him.",
    "There are {people} in the {place}. One of them is wearing a {wears}. A {W} hands her {thing} to a {M}.",
    "A person, possibly a {old} {W}, sits in a {place}. She seems to be reading. There is neither a {animal} nor a {thing} near her.",
    "In this photo, a {old} {M} is teaching a {W} how to play. His hand rests on the {thing}. The {W} laughs at him, and he is not amused.",
    'A {M} or a {W} is hiding behind a {thing}. A {animal} is looking for them. A sign reads "NO MEN".',
    "She is standing alone in a {place}, without a {thing}. Her {wears} looks new. The {M} behind the counter ignores her.",
    "A {old} {W} who uses a wheelchair is feeding a {animal}. Her husband watches from a {place};"
    " he appears to be tired, and she isn't wearing a {wears}.",
)


def paragraphs() -> list[str]:
    """Return the gold texts that name a gender, and as many filled templates as make 300."""
    gold = [row["text"] for half in ("tune", "report") for row in english(half)]
    gendered = [text for text in gold if swap_text(text) != text]
    rng = random.Random(0)
    made: dict[str, None] = {}
    while len(gendered) + len(made) < PARAGRAPHS:
        words = {slot: rng.choice(fillings) for slot, fillings in SLOTS.items()}
        text = TEMPLATES[len(made) % len(TEMPLATES)].format(**words)
        made[re.sub(r"\b([Aa]) (?=[aeiouAEIO])", r"\1n ", text)] = None
    return gendered + list(made)


def differing(texts: Sequence[str]) -> list[str]:
    """Return the texts whose graph is not that of the swapped text with everybody swapped back."""
    here = scene_graphs(list(texts))
    there = scene_graphs([swap_text(text) for text in texts])
    return [text for text, a, b in zip(texts, here, there, strict=True) if content(a, swap_words) != content(b)]


def assert_swapped(texts: Sequence[str], kind: str, capsys) -> None:
    different = differing(texts)
    with capsys.disabled():
        print(f"\ngendered swap: {len(different)} of {len(texts)} {kind} have another graph", end="")
    assert len(different) <= MOST_DIFFERENT * len(texts), different[:20]


def test_texts_are_swapped_word_by_word() -> None:
    pairs = {
        "She gave him her hat.": "He gave her his hat.",
        "Women and their fathers watch her.": "Men and their mothers watch him.",
        "The WAITRESS's sons hug her in a park.": "The WAITER's daughters hug him in a park.",
        "A policeman and his niece": "A policewoman and her nephew",
    }
    assert {text: swap_text(text) for text in pairs} == pairs


def test_paragraphs_of_the_other_gender_have_the_swapped_graph(capsys) -> None:
    texts = paragraphs()
    assert len(set(texts)) == PARAGRAPHS
    assert all(swap_text(text) != text for text in texts)
    assert_swapped(texts, "paragraphs", capsys)


def test_captions_of_the_other_gender_have_the_swapped_graph(shared, capsys) -> None:
    table = pl.read_csv(shared("data/captions/coco_systems/human_captions_val2017.csv.gz"))
    told = table["caption"].unique(maintain_order=True).to_list()
    gendered = [text for text in told if swap_text(text) != text]
    assert_swapped(random.Random(0).sample(gendered, CAPTIONS), "captions", capsys)
