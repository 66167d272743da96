"""The gold captions of tests/golden/captions: each sentence about a woman, a man and a person, with its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from portrayal.text.captions.scene_graph import SceneGraph

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


def unnamed(graph: SceneGraph) -> SceneGraph:
    """Return the graph with the person words of all versions written alike and in one order, to be compared."""
    alike = {word: words[0] for words in _ALIKE for word in words}
    nouns = {alike.get(noun, noun) for noun in graph.objects}
    attributes = {(alike.get(noun, noun), word) for noun, word in graph.attributes}
    relations = {(alike.get(a, a), word, alike.get(b, b)) for a, word, b in graph.relations}
    return SceneGraph(tuple(sorted(nouns)), tuple(sorted(attributes)), tuple(sorted(relations)))


_ALIKE = (("person", "people", "woman", "man"), ("child", "girl", "boy"))
