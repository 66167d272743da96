"""Four systems over word vectors of GoogleNews' size: peak memory and seconds, in one run.

python benchmarks/vectors.py [--words 3000000] [--width 300] [--folder DIR]

The vectors are made up: a word2vec file of 3 million words, 3.6 GB, written once and kept in the folder.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np

from portrayal.text.collections import read_collection
from portrayal.text.lexicons import read_lexicon
from portrayal_rankers.registry import Searchable, make_ranker

SYSTEMS = {
    "add": {"debias": "none"},
    "add, regular": {"debias": "regular"},
    "add, strong": {"debias": "strong"},
    "si": {"debias": "none"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=3_000_000)
    parser.add_argument("--width", type=int, default=300)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=Path("vectors-benchmark"))
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    file = options.folder / f"made-up-{options.words}x{options.width}.bin"
    if not file.exists():
        write_vectors(file, options.words, options.width)
    write_collection(options.folder, options.words, options.documents)
    searchable = Searchable(read_collection(options.folder), folder=options.folder)
    start = time.perf_counter()
    rankers = {}
    for name, settings in SYSTEMS.items():
        rankers[name] = make_ranker(name.split(",")[0], searchable, {"vectors": file.name, **settings})
        rankers[name].search(searchable.collection.queries, 1000)
        kept = len(searchable.space(file.name).index)
        print(
            f"{name:14}{time.perf_counter() - start:8.1f} s  {peak():6.2f} GB at the peak  {kept:,} words kept",
            flush=True,
        )
    print(f"file           {file.stat().st_size / 1e9:8.2f} GB, {options.words:,} words of {options.width}")


def peak() -> float:
    """Return the most memory this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def name_of(number: int) -> str:
    return f"w{number:x}"


def write_vectors(path: Path, count: int, width: int) -> None:
    """Write a word2vec file: the gendered lists, then made-up words."""
    rng, listed = np.random.default_rng(0), gendered()
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(f"{count} {width}\n".encode())
        for start in range(0, count, 10_000):
            rows = rng.standard_normal((min(10_000, count - start), width), np.float32)
            names = [
                listed[place] if place < len(listed) else name_of(place) for place in range(start, start + len(rows))
            ]
            file.write(
                b"".join(b"%s %s\n" % (name.encode(), row.tobytes()) for name, row in zip(names, rows, strict=True))
            )
    part.replace(path)


def gendered() -> list[str]:
    pairs = [
        word
        for name in ("gender_pairs", "gender_equalize_pairs")
        for pair in read_lexicon(name).iter_rows()
        for word in pair
    ]
    return list(dict.fromkeys([*pairs, *read_lexicon("gender_specific")["word"]]))


def write_collection(folder: Path, words: int, documents: int) -> None:
    """Write documents of 200 words, the rarer the higher their number, and 50 queries."""
    rng = np.random.default_rng(1)
    drawn = (words * rng.random((documents, 200)) ** 4).astype(int)  # about 1.5 million of 3 million words occur
    lines = (
        json.dumps({"id": f"d{place}", "text": " ".join(map(name_of, row))}) for place, row in enumerate(drawn.tolist())
    )
    (folder / "documents.jsonl").write_text("\n".join(lines))
    queries = (f"q{place}\t{' '.join(map(name_of, row[:3]))}" for place, row in enumerate(drawn[:50].tolist()))
    (folder / "queries.tsv").write_text("\n".join(queries))


if __name__ == "__main__":
    main()
