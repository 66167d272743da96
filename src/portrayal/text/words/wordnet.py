"""WordNet 3.0 [1] as a compact table: senses, hypernyms, similarity, and who is a person.

The table is built by scripts/build_wordnet.py. The most common synset is a heuristic that fails in known ways: `pop` comes out
as a father, `controller` as an accountant. The captions page names these cases and the tests hold them in place.
[1] Fellbaum (1998), WordNet: An Electronic Lexical Database.
[2] Leacock, Chodorow (1998), Combining local context and WordNet similarity for word sense identification.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from functools import cached_property, lru_cache
from importlib.resources import files

import numpy as np

from portrayal.errors import PortrayalError, nearest

PARTS = "nvar"  # nouns, verbs, adjectives, adverbs, in the order ties are broken

PERSON = "person.n.01"
# Words for several people do not lie under person.n.01 in WordNet, so these roots stand beside it.
PEOPLE = (PERSON, "people.n.01", "couple.n.01", "crowd.n.01", "audience.n.01", "family.n.01", "family.n.02")
# And `human`, `humans` and `mankind` lie under primate: in a caption they are people. Their fossil kinds are left where they are.
HUMANS = frozenset(["homo.n.02", "homo_sapiens.n.01", "homo_sapiens_sapiens.n.01", "world.n.08"])


# Ending and what replaces it, as in WordNet's morphological processor.
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


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
        self._lemmas: list[str] = bytes(arrays["lemmas"]).decode().split("\n")
        self._part = arrays["part"]
        self._satellite = np.unpackbits(arrays["satellite"]).astype(bool)
        self._head = arrays["head"]
        self._offset = np.cumsum(arrays["offset_step"])
        self._senses, self._counts = _by_lemma(self._lemmas, arrays)
        self._parents = _ragged(arrays["hypernyms"], arrays["hypernym_number"])
        self._instance = np.unpackbits(arrays["instance"])
        self._morphology = Morphology(bytes(arrays["exceptions"]).decode(), self._senses)
        self._first: dict[str, _First] = {part: _First(self, part) for part in (*PARTS, "")}
        self._people = _People(self)
        self._ancestors: dict[str, frozenset[str]] = {}

    @cached_property
    def names(self) -> list[str]:
        """Every synset's name, by its number in the table."""
        return [self._name(number) for number in range(len(self._part))]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def _name(self, number: int) -> str:
        lemma, part = self._lemmas[self._head[number]], PARTS[self._part[number]]
        sense = self._senses[part][lemma].index(number) + 1
        return f"{lemma}.{'s' if self._satellite[number] else part}.{sense:02d}"

    def number(self, synset: str) -> int:
        """Return the synset's number in the table, or refuse its name."""
        found = self._numbers.get(synset)
        if found is None:
            found = self._alias(synset)
        if found is None:
            hint = nearest(synset, self.synsets(str(synset).partition(".")[0]))
            raise PortrayalError(f"WordNet has no synset {synset!r}.{hint} Expected e.g. 'dog.n.01'.")
        return found

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
        parts, key = PARTS if part is None else _one_part(part), _key(word)
        found = [
            self.names[number]
            for p in parts
            for lemma in self._morphology.base_forms(key, p)
            for number in self._senses[p].get(lemma, ())
        ]
        return tuple(dict.fromkeys(found))

    def most_common(self, word: str, part: str = "n") -> str | None:
        """Return the word's most common synset of this part of speech, else of any."""
        try:
            return self._first[part][word]
        except KeyError:
            raise PortrayalError(f"no part of speech {part!r}. Known: {', '.join(PARTS)}.") from None

    def hypernyms(self, synset: str) -> tuple[str, ...]:
        """Return the synsets directly above, those it is an instance of among them."""
        return tuple(self.names[number] for number in self._parents[self.number(synset)])

    def ancestors(self, synset: str) -> frozenset[str]:
        """Return all synsets above, the synset itself not among them."""
        found = self._ancestors.get(synset)
        if found is None:
            numbers = _distances(self.number(synset), self._parents)
            found = frozenset(self.names[n] for n, distance in numbers.items() if distance)
            self._ancestors[synset] = found
        return found

    def is_a(self, synset: str, ancestor: str) -> bool:
        """Say whether a synset is `ancestor` or lies anywhere under it."""
        return synset == ancestor or ancestor in self.ancestors(synset)

    @property
    def is_person(self) -> Callable[[str], bool]:
        """Return the look-up that tells whether a word's most common synset is people."""
        return self._people.__getitem__

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

    def _steps_up(self, number: int) -> dict[int, int]:
        """Return every synset above with the fewest steps to it."""
        if number not in self._steps:
            self._steps[number] = _distances(number, self._parents)
        return self._steps[number]

    @cached_property
    def _steps(self) -> dict[int, dict[int, int]]:
        return {}

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
        part, digits = wnid[:1], wnid[1:]
        right = part in PARTS and len(wnid) == 9 and digits.isascii() and digits.isdigit()
        number = self._by_offset.get((PARTS.index(part), int(digits))) if right else None
        if number is None:
            raise PortrayalError(f"WordNet has no synset at {wnid!r}. Expected e.g. 'n02084071'.")
        return self.names[number]

    @cached_property
    def _by_offset(self) -> dict[tuple[int, int], int]:
        return {key: i for i, key in enumerate(zip(self._part.tolist(), self._offset.tolist(), strict=True))}

    def _most_common(self, word: str, part: str) -> str | None:
        right = self.lemmas_of(word, part) if part else ()
        if right:
            return self.names[self._senses[part][right[0]][0]]
        candidates = [(p, lemma) for p in PARTS for lemma in self.lemmas_of(word, p)]
        if not candidates:
            return None
        p, lemma = max(candidates, key=lambda pair: self._counts[pair[0]][pair[1]])
        return self.names[self._senses[p][lemma][0]]


class _First(dict):
    """The most common synset by word, worked out when first asked for."""

    def __init__(self, wordnet: Wordnet, part: str) -> None:
        super().__init__()
        self._wordnet, self._part = wordnet, part

    def __missing__(self, word: str) -> str | None:
        self[word] = found = self._wordnet._most_common(word, self._part)
        return found


class _People(dict[str, bool]):
    """Lazily filled table of the words that name a person."""

    def __init__(self, wordnet: Wordnet) -> None:
        super().__init__()
        self._wordnet = wordnet

    def __missing__(self, word: str) -> bool:
        synset = self._wordnet.most_common(word, "n")
        self[word] = found = synset is not None and self._wordnet.is_person_synset(synset)
        return found


@lru_cache(maxsize=1)
def load() -> Wordnet:
    """Read the table that ships with the package, once."""
    with files("portrayal.text").joinpath("data/wordnet.npz").open("rb") as file:
        table = np.load(file, allow_pickle=False)
        return Wordnet({name: table[name] for name in table.files})


def _key(word: str) -> str:
    return word.lower() if word.isalnum() else "_".join(word.lower().split())


def _one_part(part: str) -> str:
    part = "a" if part == "s" else part
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


def _distances(number: int, parents: list[tuple[int, ...]]) -> dict[int, int]:
    """Return every synset above (and this one) with the fewest steps to it."""
    found, edge, steps = {number: 0}, [number], 0
    while edge:
        steps += 1
        edge = [p for n in edge for p in parents[n] if p not in found]
        found.update(dict.fromkeys(edge, steps))
    return found


def _longest(number: int, parents: list[tuple[int, ...]], depth: dict[int, int]) -> int:
    """Return the longest way up to a root, remembering what was worked out."""
    if number not in depth:
        depth[number] = 1 + max((_longest(p, parents, depth) for p in parents[number]), default=-1)
    return depth[number]
