"""Write the shipped WordNet table back as a corpus folder NLTK can read, so the two can be compared offline.

NLTK seeks to a synset's offset in the data file, so every line is padded to the length Princeton's had.
Glosses,
examples and other pointers are not there; names, senses, hypernyms and depths are.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from portrayal.text.words.wordnet import PARTS, Wordnet

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
LEXICOGRAPHER_FILES = 45


def write(wordnet: Wordnet, folder: Path) -> Path:
    """Write the files NLTK opens; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = _words(wordnet)
    for code, part in enumerate(PARTS):
        numbers = np.flatnonzero(wordnet._part == code).tolist()
        _write_data(wordnet, numbers, words, folder / f"data.{FILES[part]}")
        _write_index(wordnet, part, folder / f"index.{FILES[part]}")
        (folder / f"{FILES[part]}.exc").write_text(
            "".join(f"{form} {' '.join(bases)}\n" for form, bases in wordnet._morphology._exceptions[part].items())
        )
    names = "".join(f"{i:02d}\tfile{i}\t1\n" for i in range(LEXICOGRAPHER_FILES))
    (folder / "lexnames").write_text(names)
    for name in ("index.sense", "cntlist.rev"):
        (folder / name).write_text("")
    return folder


def _words(wordnet: Wordnet) -> dict[int, list[str]]:
    words = defaultdict(list)
    for senses in wordnet._senses.values():
        for lemma, numbers in senses.items():
            for number in numbers:
                words[number].append(lemma)
    return words


def _write_data(wordnet: Wordnet, numbers: list[int], words: dict[int, list[str]], path: Path) -> None:
    lines, edge = [], 0
    for number in range(numbers[0], numbers[-1] + 1):
        head = wordnet.lemmas[wordnet._head[number]]
        lemmas = [head, *(word for word in words[number] if word != head)]
        part = PARTS[wordnet._part[number]]  # satellites too: their heads are not in the table
        parents = wordnet._parents[number]
        line = f"{wordnet._offset[number]:08d} 03 {part} {len(lemmas):02x} "
        line += " ".join(f"{lemma} 0" for lemma in lemmas) + f" {len(parents):03d}"
        line += "".join(f" @ {wordnet._offset[p]:08d} {PARTS[wordnet._part[p]]} 0000" for p in parents)
        if part == "v":
            line += " 00"
        lines.append((int(wordnet._offset[number]), line + " | "))
    text = bytearray(b" " * lines[0][0])
    text[:2], text[-1:] = b"  ", b"\n"
    ends = [offset for offset, _ in lines[1:]] + [lines[-1][0] + len(lines[-1][1]) + 1]
    for (offset, line), edge in zip(lines, ends, strict=True):
        encoded = line.encode()
        if offset + len(encoded) >= edge:  # must not happen: ours is a subset of Princeton's line
            raise ValueError(f"line at {offset} does not fit")
        text += encoded + b" " * (edge - offset - len(encoded) - 1) + b"\n"
    path.write_bytes(bytes(text))


def _write_index(wordnet: Wordnet, part: str, path: Path) -> None:
    rows = []
    for lemma, numbers in sorted(wordnet._senses[part].items()):
        offsets = " ".join(f"{wordnet._offset[number]:08d}" for number in numbers)
        rows.append(f"{lemma} {part} {len(numbers)} 0 {len(numbers)} 0 {offsets}\n")
    path.write_text("".join(rows))
