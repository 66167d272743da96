"""WordNet 3.0 [1] as a compact table: senses, hypernyms, similarity, and who is a person.

The table is built by scripts/build_wordnet.py. The most common synset is a heuristic that fails in known ways: `pop` comes out
as a father, `controller` as an accountant. The captions page names these cases and the tests hold them in place.
[1] Fellbaum (1998), WordNet: An Electronic Lexical Database.
[2] Leacock, Chodorow (1998), Combining local context and WordNet similarity for word sense identification.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Mapping
from functools import cache, cached_property
from importlib.resources import files

import numpy as np

from portrayal.errors import PortrayalError, nearest

WNID = re.compile("[nvar][0-9]{8}")
PARTS = "nvar"  # nouns, verbs, adjectives, adverbs, in the order ties are broken

PERSON = "person.n.01"
# Words for several people do not lie under person.n.01 in WordNet, so these roots stand beside it.
PEOPLE = (PERSON, "people.n.01", "couple.n.01", "crowd.n.01", "audience.n.01", "family.n.01", "family.n.02")
# And `human`, `humans` and `mankind` lie under primate: in a caption they are people. Their fossil kinds are left where they are.
HUMANS = frozenset(["homo.n.02", "homo_sapiens.n.01", "homo_sapiens_sapiens.n.01", "world.n.08"])


# Ending and what replaces it, as in WordNet's morphological processor.
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
          ("ies", "y")),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


class Morphology:
    """Finds base forms that are in the dictionary."""

    def __init__(self, exceptions: str, known: Mapping[str, Container[str]]) -> None:
        self._known = known
        self._exceptions: dict[str, dict[str, list[str]]] = {part: {} for part in ENDINGS}
        self._irregular: dict[str, dict[str, list[str]]] = {part: {} for part in ENDINGS}
        for line in exceptions.splitlines():
            part, form, *lemmas = line.split()
            self._exceptions[part][form] = lemmas
            for lemma in lemmas:
                self._irregular[part].setdefault(lemma, []).append(form)

    def base_forms(self, word: str, part: str) -> tuple[str, ...]:
        """Return the word itself where it is known, then its base forms, most direct first."""
        known = self._known[part]
        irregular = self._exceptions[part].get(word)
        further = irregular or _shorten(word, part)
        if not further:
            return (word,) if word in known else ()
        return tuple(dict.fromkeys(form for form in (word, *further) if form in known))

    def inflected(self, base: str, part: str) -> list[str]:
        """Return the forms that have this base form, itself among them."""
        regular = (base.removesuffix(new) + old for old, new in ENDINGS[part] if base.endswith(new))
        candidates = (base, *self._irregular[part].get(base, ()), *regular)
        return [form for form in candidates if base in self.base_forms(form, part)]


_LAST = {part: frozenset(old[-1] for old, _ in endings) for part, endings in ENDINGS.items()}


def _shorten(word: str, part: str) -> list[str]:
    if word[-1:] not in _LAST[part]:  # most words: they end as no ending does
        return []
    return [word[: -len(old)] + new for old, new in ENDINGS[part] if word.endswith(old)]


class Wordnet:
    """The table in memory. Use `load`, which reads it once."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.lemmas: list[str] = bytes(arrays["lemmas"]).decode().split("\n")
        self._part = arrays["part"]
        self._satellite = np.unpackbits(arrays["satellite"]).astype(bool)
        self._head = arrays["head"]
        self._offset = np.cumsum(arrays["offset_step"])
        self._senses, self._counts = _by_lemma(self.lemmas, arrays)
        self._parents = _ragged(arrays["hypernyms"], arrays["hypernym_number"])
        self._instance = np.unpackbits(arrays["instance"])
        self._morphology = Morphology(bytes(arrays["exceptions"]).decode(), self._senses)
        self._most_common = cache(self._first_sense)
        self._steps_up = cache(self._distances)
        self.ancestors = cache(self._ancestors)
        self.is_person = _Answers(self._is_person).__getitem__  # captions ask it of every word

    @cached_property
    def names(self) -> list[str]:
        """Every synset's name, by its number in the table."""
        return [self._name(number) for number in range(len(self._part))]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def _name(self, number: int) -> str:
        lemma, part = self.lemmas[self._head[number]], PARTS[self._part[number]]
        sense = self._senses[part][lemma].index(number) + 1
        return f"{lemma}.{'s' if self._satellite[number] else part}.{sense:02d}"

    def number(self, synset: str) -> int:
        """Return the synset's number in the table, or refuse its name."""
        number = self._numbers.get(synset)
        number = self._alias(synset) if number is None else number
        if number is None:
            hint = nearest(synset, self.synsets(str(synset).partition(".")[0]))
            raise PortrayalError(f"WordNet has no synset {synset!r}.{hint} Expected e.g. 'dog.n.01'.")
        return number

    def _alias(self, synset: str) -> int | None:
        """Return the synset that another of its lemmas names: `tie.n.01` for `necktie.n.01`."""
        lemma, _, rest = str(synset).partition(".")
        part, _, sense = rest.rpartition(".")
        senses = self._senses.get("a" if part == "s" else part, {}).get(lemma, ())
        return senses[int(sense) - 1] if sense.isdigit() and 0 < int(sense) <= len(senses) else None

    def lemmas_of(self, word: str, part: str) -> tuple[str, ...]:
        """Return the base forms of a word that WordNet knows for this part of speech."""
        return self._morphology.base_forms(_key(word), part)

    def count(self, word: str, part: str) -> int:
        """Return the count of the word's first sense in tagged texts."""
        return max((self._counts[part][lemma] for lemma in self.lemmas_of(word, part)), default=0)

    def inflected(self, word: str, parts: str = "nv") -> frozenset[str]:
        """Return the word and all forms that share a base form with it."""
        pairs = [(base, part) for part in parts for base in self.lemmas_of(word, part)]
        return frozenset((word, *(form for base, part in pairs for form in self._morphology.inflected(base, part))))

    def synsets(self, word: str, part: str | None = None) -> tuple[str, ...]:
        """Return all synsets of a word, most common first within each part of speech."""
        parts = PARTS if part is None else _known_part("a" if part == "s" else part)
        pairs = [(lemma, p) for p in parts for lemma in self.lemmas_of(word, p)]
        return tuple(dict.fromkeys(self.names[n] for lemma, p in pairs for n in self._senses[p].get(lemma, ())))

    def most_common(self, word: str, part: str = "n") -> str | None:
        """Return the word's most common synset of this part of speech, else of any."""
        return self._most_common(word, _known_part(part))

    def hypernyms(self, synset: str) -> tuple[str, ...]:
        """Return the synsets directly above, those it is an instance of among them."""
        return tuple(self.names[number] for number in self._parents[self.number(synset)])

    def _ancestors(self, synset: str) -> frozenset[str]:
        """Return all synsets above, the synset itself not among them."""
        return frozenset(self.names[n] for n, steps in self._distances(self.number(synset)).items() if steps)

    def is_a(self, synset: str, ancestor: str) -> bool:
        """Say whether a synset is `ancestor` or lies anywhere under it."""
        return synset == ancestor or ancestor in self.ancestors(synset)

    def _is_person(self, word: str) -> bool:
        """Tell whether a word's most common synset is a person or people."""
        synset = self.most_common(word, "n")
        return synset is not None and self.is_person_synset(synset)

    def is_person_synset(self, synset: str) -> bool:
        """Tell whether a synset is a person, a human or several people."""
        if synset in HUMANS:
            return True
        above = self.ancestors(synset)
        return any(synset == root or root in above for root in PEOPLE)

    def similarity(self, first: str, second: str) -> float | None:
        """Return the Leacock-Chodorow similarity [2], or None where no path joins the two."""
        a, b = self.number(first), self.number(second)
        part = int(self._part[a])
        if part != self._part[b] or part > 1:  # only nouns and verbs have a hierarchy
            return None
        distance = self._distance(a, b, rooted=part == 1)
        return None if distance is None else -math.log((distance + 1) / (2.0 * self._depths[part]))

    def _distance(self, a: int, b: int, rooted: bool) -> int | None:
        if a == b:
            return 0
        up_a, up_b = self._steps_up(a), self._steps_up(b)
        through = [up_a[n] + up_b[n] for n in up_a.keys() & up_b.keys()]
        if rooted:
            through.append(max(up_a.values()) + max(up_b.values()) + 2)
        return min(through, default=None)

    def _distances(self, number: int) -> dict[int, int]:
        """Return every synset above (and this one) with the fewest steps to it."""
        steps, edge = {number: 0}, [number]
        while edge:
            edge = [p for n in edge for p in self._parents[n] if p not in steps]
            steps.update(dict.fromkeys(edge, max(steps.values()) + 1))
        return steps

    @cached_property
    def _depths(self) -> tuple[int, int]:
        """The longest path to a root among nouns, and among verbs with the assumed root."""
        depth: dict[int, int] = {}
        for number in range(len(self._part)):
            _longest(number, self._parents, depth)
        nouns, verbs = (max(depth[n] for n in np.flatnonzero(self._part == part).tolist()) for part in (0, 1))
        return nouns, verbs + 1

    def wnid(self, synset: str) -> str:
        """Return the identifier ImageNet uses: part of speech and offset, `n02084071`."""
        number = self.number(synset)
        return f"{PARTS[self._part[number]]}{self._offset[number]:08d}"

    def from_wnid(self, wnid: str) -> str:
        """Return the synset of an ImageNet identifier."""
        number = self._by_offset.get((PARTS.index(wnid[0]), int(wnid[1:]))) if WNID.fullmatch(wnid) else None
        if number is None:
            raise PortrayalError(f"WordNet has no synset at {wnid!r}. Expected e.g. 'n02084071'.")
        return self.names[number]

    @cached_property
    def _by_offset(self) -> dict[tuple[int, int], int]:
        return {key: i for i, key in enumerate(zip(self._part.tolist(), self._offset.tolist(), strict=True))}

    def _first_sense(self, word: str, part: str) -> str | None:
        if part and (right := self.lemmas_of(word, part)):
            return self.names[self._senses[part][right[0]][0]]
        candidates = [(p, lemma) for p in PARTS for lemma in self.lemmas_of(word, p)]
        if not candidates:
            return None
        p, lemma = max(candidates, key=lambda pair: self._counts[pair[0]][pair[1]])
        return self.names[self._senses[p][lemma][0]]


class _Answers(dict[str, bool]):
    """Table of answers by word, each worked out when first asked for."""

    def __init__(self, answer: Callable[[str], bool]) -> None:
        self._answer = answer

    def __missing__(self, word: str) -> bool:
        self[word] = answer = self._answer(word)
        return answer


@cache
def load() -> Wordnet:
    """Read the table that ships with the package, once."""
    with files("portrayal.text").joinpath("data/wordnet.npz").open("rb") as file:
        table = np.load(file, allow_pickle=False)
        return Wordnet({name: table[name] for name in table.files})


def _key(word: str) -> str:
    return word.lower() if word.isalnum() else "_".join(word.lower().split())


def _known_part(part: str) -> str:
    if part not in (*PARTS, ""):
        raise PortrayalError(f"no part of speech {part!r}. Known: {', '.join(PARTS)}.")
    return part


def _by_lemma(
    lemmas: list[str], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, dict[str, tuple[int, ...]]], dict[str, dict[str, int]]]:
    """Return the senses of each lemma and its first sense's count, by part."""
    senses: dict[str, dict[str, tuple[int, ...]]] = {part: {} for part in PARTS}
    counts: dict[str, dict[str, int]] = {part: {} for part in PARTS}
    numbers, tagged = arrays["senses"].tolist(), arrays["counts"].tolist()
    sizes, start = iter(arrays["sense_number"].tolist()), 0
    for lemma, mask in zip(lemmas, arrays["lemma_parts"].tolist(), strict=True):
        for i, part in enumerate(PARTS):
            if mask >> i & 1:
                end = start + next(sizes)
                senses[part][lemma], counts[part][lemma] = tuple(numbers[start:end]), tagged[start]
                start = end
    return senses, counts


def _ragged(values: np.ndarray, sizes: np.ndarray) -> list[tuple[int, ...]]:
    ends = np.cumsum(sizes)
    flat = values.tolist()
    return [tuple(flat[end - size : end]) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]


def _longest(number: int, parents: list[tuple[int, ...]], depth: dict[int, int]) -> int:
    """Return the longest way up to a root, remembering what was worked out."""
    if number not in depth:
        depth[number] = 1 + max((_longest(p, parents, depth) for p in parents[number]), default=-1)
    return depth[number]
