"""Person words of captions, beside NLTK's WordNet on the same table."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from benchmarks.rows import nltk_corpus
from benchmarks.shape import Benchmark, Peer

GOLD = Path(__file__).parents[2] / "tests" / "golden" / "scene_graphs.jsonl"
NLTK = 2000  # words NLTK is timed on


@dataclass(frozen=True)
class Words:
    """Words as they come in captions, and where NLTK finds the table."""

    words: list[str]
    folder: tempfile.TemporaryDirectory[str]


def prepare(size: int) -> Words:
    """Repeat the words of the gold captions up to so many."""
    from portrayal.text.words.wordnet import load

    said = [word for text in pl.read_ndjson(GOLD)["caption"] for word in text.lower().strip(".").split()]
    load().is_person("woman")
    return Words((said * (size // len(said) + 1))[:size], tempfile.TemporaryDirectory())


def ours(data: Words) -> list[bool]:
    from portrayal.text.words.wordnet import load

    return list(map(load().is_person, data.words))


@cache
def reader(folder: str) -> Any:
    """Open NLTK's reader on our table, written as the files it reads."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    from portrayal.text.words.wordnet import load

    nltk.data.path.append(folder)  # it opens nothing elsewhere
    return WordNetCorpusReader(str(nltk_corpus.write(load(), Path(folder) / "corpora" / "wordnet")), None)


def with_nltk(data: Words) -> list[bool]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wordnet = reader(data.folder.name)
        return [_names_a_person(wordnet, word) for word in data.words[:NLTK]]


def _names_a_person(wordnet: Any, word: str) -> bool:
    """Look the first noun sense up, and whether it is a person or lies under one."""
    from portrayal.text.words.wordnet import HUMANS, PEOPLE

    senses = wordnet.synsets(word, "n")
    if not senses:
        return False
    first = senses[0]
    above = {
        first.name(),
        *(one.name() for one in first.closure(lambda sense: sense.hypernyms() + sense.instance_hypernyms())),
    }
    return first.name() in HUMANS or not above.isdisjoint(PEOPLE)


def equal(data: Words, found: list[bool], theirs: list[bool]) -> str:
    off = [word for word, one, other in zip(data.words, found, theirs, strict=False) if one != other]
    return f"differs on {sorted(set(off))[:5]}" if off else ""


def check(data: Words, found: list[bool]) -> str:
    """Hold a few words against what anybody would say."""
    known = {"woman": True, "man": True, "boy": True, "dog": False, "street": False, "table": False}
    told = dict(zip(data.words, found, strict=True))
    off = [word for word, person in known.items() if word in told and told[word] != person]
    return f"wrong on {off}" if off else ""


def limit(data: Words) -> dict[str, float]:
    """Every word is read, hashed and found by a reference (8 bytes each for the word and its answer)."""
    return {"memory": sum(len(word) + 16 for word in data.words)}


BENCHMARK = Benchmark(
    name="is a person",
    work="whether a word names a person, 100,000 words of captions, a few hundred distinct",
    size=100_000,
    unit="words",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "NLTK's WordNet",
            200,
            "nltk",
            run=with_nltk,
            equal=equal,
            scale=lambda data: len(data.words) / min(NLTK, len(data.words)),
            scaled=f"timed on {NLTK:,} words, scaled",
        ),
    ),
    check=check,
    limit=limit,
    close=lambda data: data.folder.cleanup(),
    smallest=1000,
)
