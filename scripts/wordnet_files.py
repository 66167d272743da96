"""WordNet's own files, as far as building the typology needs them: senses in order, trees, lexicographer files, uses."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

DEEPEST = 99
PARTS = {"n": "noun", "a": "adj", "v": "verb"}
KINDS = {"1": "n", "2": "v", "3": "a", "5": "a"}  # of sense keys
UNFIT = ("slur", "offensive", "derogatory", "disparag", "vulgar", "obscene", "prostitut", "sexual")
PEOPLE_FILES = {"noun.person", "noun.group", "noun.communication", "noun.Tops"}  # a people's language shares its name


class Dictionary:
    """Senses in order, what lies under a synset, lexicographer files."""

    def __init__(self, folder: Path) -> None:
        self.files = dict(line.split()[:2] for line in (folder / "lexnames").read_text().splitlines())
        self.lemmas: dict[str, list[str]] = {}
        self.file_of: dict[str, str] = {}
        self.below: dict[str, set[str]] = defaultdict(set)
        self.beside: dict[str, set[str]] = defaultdict(set)
        self.senses: dict[tuple[str, str], list[str]] = {}
        self.uses: dict[tuple[str, str], int] = defaultdict(int)
        self.pertains: dict[str, set[str]] = defaultdict(set)  # adjective to the nouns it is made of
        self.verb_of: dict[str, str] = {}  # irregular participles: broken, woven
        self.unfit: set[str] = set()
        self.single: set[str] = set()  # synsets of one thing in the world: a town, a river
        for part, name in PARTS.items():
            for line in _lines(folder / f"data.{name}"):
                self._synset(line, part)
            for line in _lines(folder / f"index.{name}"):
                self._index(line, part)
        for line in _lines(folder / "index.sense"):
            self._count(line)
        for line in _lines(folder / "verb.exc"):
            form, verb = line.split()[:2]
            self.verb_of[form] = verb

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
            if symbol == "@i":
                self.single.add(key)
            if symbol == "&":
                self.beside["a" + target].add(key)
            if symbol == "\\" and kind == "n":
                self.pertains[key].add("n" + target)

    def _index(self, line: str, part: str) -> None:
        fields = line.split()
        count = int(fields[2])
        self.senses[fields[0], part] = [part + offset for offset in fields[-count:]]

    def _count(self, line: str) -> None:
        sense, _, _, count = line.split()
        lemma, _, rest = sense.partition("%")
        self.uses[lemma, KINDS.get(rest[0], "-")] += int(count)

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

    def led_by(self, keys: set[str], part: str, within: int = 1) -> list[str]:
        """Return the lemmas one of whose `within` most common senses is one of the synsets.

        Senses that are one person or thing in the world are passed over: a crane is a machine or a bird, not Stephen Crane.
        """
        keys = keys - self.unfit
        lemmas = {lemma.lower() for key in keys for lemma in self.lemmas[key]}
        return sorted(lemma for lemma in lemmas if keys.intersection(self.kinds(lemma, part)[:within]))

    def kinds(self, lemma: str, part: str) -> list[str]:
        """Return the senses of a lemma that are kinds of things, or places of their own."""
        senses = self.senses.get((lemma, part), [])
        return [key for key in senses if key not in self.single or self.file_of[key] == "noun.location"] or senses

    def means_people(self, lemma: str) -> bool:
        """Say whether all noun senses of the lemma are people, or their language, and none is unfit."""
        senses = self.senses[lemma, "n"]
        return all(self.file_of[key] in PEOPLE_FILES and key not in self.unfit for key in senses)

    def verb_file(self, verb: str) -> str:
        """Return the lexicographer file of a verb's most common sense; nothing for another word."""
        senses = self.senses.get((verb, "v"))
        return self.file_of[senses[0]] if senses else ""


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("  ")]
