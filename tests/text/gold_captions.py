"""The gold captions of tests/golden/captions: each sentence about a woman, a man and a person, with its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from portrayal.text.scene_graph import SceneGraph

FOLDER = Path(__file__).parents[1] / "golden" / "captions"
KINDS = ("objects", "attributes", "relations")
PLACES = ("person", "child", "people", "their", "them", "themself", "they", "is")
VERSIONS = {
    "woman": ("woman", "girl", "women", "her", "her", "herself", "she", "is"),
    "man": ("man", "boy", "men", "his", "him", "himself", "he", "is"),
    "person": ("person", "child", "people", "their", "them", "themself", "they", "are"),
}
SINGULAR = {"women": "woman", "men": "man"}


@dataclass(frozen=True)
class Gold:
    """A sentence with places for the person's words, and the graphs that its codings gave it."""

    sentence: str
    graphs: tuple[str, ...]

    def caption(self, version: str) -> str:
        """Return the sentence about a woman, a man or a person."""
        words = dict(zip(PLACES, VERSIONS[version], strict=True))
        return self.sentence.format(**words, People=words["people"].capitalize())

    def graph(self, version: str, coding: int = 0) -> SceneGraph:
        """Return what that caption says, by the first or the second coding."""
        person, child, people = VERSIONS[version][:3]
        return read_graph(self.graphs[coding], {"P": person, "C": child, "G": SINGULAR.get(people, people)})


def read_gold(half: str) -> list[Gold]:
    """Return the sentences of `tuning` or `held_out`."""
    lines = (FOLDER / f"{half}.txt").read_text().splitlines()
    parts = [[part.strip() for part in line.split("|")] for line in lines]
    return [Gold(sentence, tuple(graphs)) for sentence, *graphs in parts]


def read_graph(text: str, names: dict[str, str]) -> SceneGraph:
    """Return the graph of a line such as `dress=red; P/in/dress,hat`."""
    attributes, relations, nouns = [], [], []
    for item in text.split("; "):
        subject, *rest = item.replace("=", "/=/").split("/")
        who = names.get(subject, subject)
        nouns.append(who)
        for target in rest[1].split(",") if rest else []:
            if rest[0] == "=":
                attributes.append((who, target))
            else:
                nouns.append(names.get(target, target))
                relations.append((who, rest[0], nouns[-1]))
    return SceneGraph(tuple(dict.fromkeys(nouns)), tuple(attributes), tuple(relations))


def scores(gold: Sequence[SceneGraph], read: Sequence[SceneGraph]) -> dict[str, tuple[float, float, float]]:
    """Return precision, recall and F1 of each kind of tuple over all captions."""
    found = {}
    for kind in KINDS:
        pairs = [(set(getattr(a, kind)), set(getattr(b, kind))) for a, b in zip(gold, read, strict=True)]
        hits = sum(len(a & b) for a, b in pairs)
        wanted, said = sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs)
        found[kind] = hits / said, hits / wanted, 2 * hits / (said + wanted)
    return found


def unnamed(graph: SceneGraph, version: str) -> SceneGraph:
    """Return the graph with the version's person words written alike, so that versions can be compared."""
    person, child, people = VERSIONS[version][:3]
    places = {person: "P", child: "C", SINGULAR.get(people, people): "G" if people == "people" else "P"}
    places |= {"people": "P", person: "P"}
    rename = lambda word: places.get(word, word)  # noqa: E731
    return SceneGraph(
        tuple(sorted({rename(noun) for noun in graph.objects})),
        tuple(sorted({(rename(noun), word) for noun, word in graph.attributes})),
        tuple(sorted({(rename(a), word, rename(b)) for a, word, b in graph.relations})),
    )
