"""Worlds of the search audit: phantom collections with planted slopes.

Each relevant document of a query has words whose expected genderedness follows the query's a little. Each system mixes relevant
documents with others, pulled one way or the other by chance: the more gendered the query, the more. Without an effect nothing ties
that pull to the query's gender; with one a system's lists rise with the query's gender by exactly that much more.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.inputs import inputs
from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import History, score_many
from portrayal.audits.search.stimuli import stimuli
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import read_responses
from portrayal.run.recording import ask, write_questions
from portrayal.study.audit import Evidence
from portrayal.study.questions import plan_work
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.text.collections.runs import run_table, write_run
from portrayal.text.languages import NAMES
from portrayal.text.lexicons import read_lexicon

HALF = 150  # words of each half of the vocabulary
UPPER, LOWER = np.arange(HALF), np.arange(HALF, 2 * HALF)
LENGTH = 24  # words of a document
BASELINE = 0.1  # the perfect system's slope, of the order of Table 2's
PULL = 0.3  # of a system's own documents, for each unit of the query's genderedness
LEAST = 0.02  # the same for a query that is not gendered
RELEVANT = (2, 8)  # documents of a query, at least and at most
FRESH = 0.75  # share of a list that the judgments do not call relevant
APART = 0.03  # spread of a word's score from one ruler to the other
SYSTEMS = ("engine one", "engine two")
RULERS = ["ruler0.txt", "ruler1.txt"]
STUDY = {
    "name": "simulated",
    "audit": "search",
    "systems": [{"name": name, "use": f"run:{place}.run"} for place, name in enumerate(SYSTEMS)],
    "search": {
        "collection": "collection", "vectors": RULERS, "validate_direction": False, "variants": False,
        "languages": sorted(NAMES),  # its words are of none: the gate takes a few of them for Uzbek
    },
}  # fmt: skip
BANK = 20_000  # phantom questions that planned audits are drawn from


# Questions, wordings of each. The wordings of templates share a word across questions, and their list if not "apart"; others
# are told by their name: "templates 60x5 apart unjudged".
SHAPES = {
    "demo": (79, 1), "small": (10, 1), "clustered": (15, 3), "large": (250, 1), "templates": (20, 5), "templates unjudged": (20, 5),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words and their scores under each ruler; the same in every simulated audit."""

    words: Sequence[str]
    scores: np.ndarray  # rulers x words, the first half of the words above zero and the second below


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary, with scores as skewed as real ones."""
    rng = np.random.default_rng(0)
    words = ["zq" + "".join(letters) for letters in product(ascii_lowercase, repeat=2)][: 2 * HALF]
    first = np.concatenate([rng.gamma(2.0, 0.06, HALF), -rng.gamma(2.0, 0.06, HALF)])
    return Vocabulary(words, np.clip([first, first + rng.normal(0, APART, 2 * HALF)], -0.9, 0.9))


@dataclass(frozen=True, eq=False)
class Free:
    """The words of one question's documents, by half, with each half's mean score."""

    sides: tuple[np.ndarray, np.ndarray]
    high: float
    low: float


def free_words(terms: np.ndarray) -> Free:
    """Return the words of each half that are not the question's own."""
    scores = vocabulary().scores[0]
    sides = (np.delete(UPPER, terms[terms < HALF]), np.delete(LOWER, terms[terms >= HALF] - HALF))
    return Free(sides, *(float(scores[side].sum()) / len(side) for side in sides))


class Phantoms:
    """A collection that grows by questions, with lists of systems of planted slopes."""

    def __init__(self, effects: Sequence[float], rng: np.random.Generator, judged: bool = True) -> None:
        self.effects, self.rng, self.judged = effects, rng, judged
        self.baseline = BASELINE if judged else 0.0
        self.documents: list[list[int]] = []  # the places of each document's words in the vocabulary
        self.women: list[bool] = []  # whom each document is about
        self.queries: dict[str, list[int]] = {}
        self.relevant: dict[str, list[int]] = {}
        self.lists: list[dict[str, list[int]]] = [{} for _ in effects]

    def ask(self, question: int, wordings: int = 1, templates: Sequence[int] = (), apart: bool = False) -> None:
        """Add a question in all its wordings, its relevant documents, and what each system answers."""
        terms = self.rng.permutation(2 * HALF)[: self.rng.integers(1, 4)]
        gender, free = float(vocabulary().scores[0][terms].mean()), free_words(terms)
        for wording in range(wordings):
            if apart or not wording:
                count = int(self.rng.integers(*RELEVANT, endpoint=True))
                relevant = self._documents(free, self.baseline * gender, 0.0, count)
                pools = [self._pool(free, gender, effect, relevant) for effect in self.effects]
            query = f"q{question}-{wording}"
            self.queries[query] = [*self.rng.permutation(terms).tolist(), *templates[wording : wording + 1]]
            self.relevant[query] = relevant
            for lists, pool in zip(self.lists, pools, strict=True):
                lists[query] = self.rng.permutation(pool).tolist()

    def _pool(self, free: Free, gender: float, effect: float, relevant: Sequence[int]) -> list[int]:
        """Return a system's documents: relevant ones, and others pulled one way."""
        fresh = max(round(FRESH * len(relevant)), 1)
        pull = float(self.rng.uniform(-1, 1)) * (LEAST + PULL * abs(gender))
        wanted = (self.baseline + effect * len(relevant) / fresh) * gender
        again = self.rng.permutation(relevant)[: len(relevant) - fresh]
        return [*again.tolist(), *self._documents(free, wanted, pull, fresh)]

    def _documents(self, free: Free, wanted: float, pull: float, count: int) -> list[int]:
        """Add documents of this expected genderedness and return their numbers."""
        room = max(min(free.high - wanted, wanted - free.low), 0.0)
        share = (wanted + min(max(pull, -room), room) - free.low) / (free.high - free.low)
        female = self.rng.random((count, LENGTH)) < share
        drawn = [side[self.rng.integers(0, len(side), (count, LENGTH))] for side in free.sides]
        first = len(self.documents)
        self.documents += np.where(female, *drawn).tolist()
        self.women += (self.rng.random(count) < 0.5).tolist()
        return list(range(first, first + count))

    def texts(self) -> dict[str, str]:
        """Return the text of each document."""
        words = vocabulary().words
        return {
            f"d{number}": " ".join(["woman" if woman else "man", *(words[place] for place in places)])
            for number, (places, woman) in enumerate(zip(self.documents, self.women, strict=True))
        }

    def words_of_queries(self) -> dict[str, list[str]]:
        """Return the words of each query."""
        words = vocabulary().words
        return {query: [words[place] for place in places] for query, places in self.queries.items()}

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the relevance of each query's relevant documents."""
        return {query: dict.fromkeys(docs, 1) for query, docs in named(self.relevant).items()}

    def results(self, system: int) -> Iterator[tuple[str, str, int, float]]:
        """Yield query, document, rank and score of one system."""
        for query, documents in named(self.lists[system]).items():
            yield from ((query, document, rank, 1 / rank) for rank, document in enumerate(documents, 1))


def named(lists: Mapping[str, Sequence[int]]) -> dict[str, list[str]]:
    """Return lists of documents by their names."""
    return {query: [f"d{number}" for number in docs] for query, docs in lists.items()}


def phantom_tables(size: int, effects: Sequence[float], rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    """Return the scored queries of the perfect system and of each effect's ("0", "1" ...)."""
    phantoms = Phantoms(effects, rng)
    for question in range(size):
        phantoms.ask(question)
    words, count = vocabulary().words, len(phantoms.documents)
    ids, borders = np.concatenate(phantoms.documents).astype(np.int32), LENGTH * np.arange(count + 1)
    bags = Bags([f"d{number}" for number in range(count)], words, ids, borders)
    history = History(phantoms.words_of_queries(), bags, phantoms.qrels(), inflected=False)
    lists: dict[str, Any] = {str(place): (named(one), False) for place, one in enumerate(phantoms.lists)}
    lists["perfect"] = (named(phantoms.relevant), True)
    return score_many(history, lists, dict(zip(words, vocabulary().scores[0].tolist(), strict=True)))


def make_phantoms(shape: str, seed: int, effect: float, *further: float) -> Phantoms:
    """Return the world of one audit: an effect, none, and `further` ones."""
    questions, wordings = SHAPES.get(shape) or map(int, shape.split()[1].split("x"))
    rng = np.random.default_rng([seed, questions, wordings])
    phantoms = Phantoms((effect, 0.0, *further), rng, judged="unjudged" not in shape)
    templates = rng.permutation(2 * HALF)[:wordings].tolist() if "templates" in shape else ()
    for question in range(questions):
        phantoms.ask(question, wordings, templates, apart="apart" in shape)
    return phantoms


def make_wave(shape: str, seed: int, effect: float, wave: int) -> Phantoms:
    """Return a world of four engines, with the lists of two of them."""
    phantoms = make_phantoms(shape, seed, 0.0, effect, 0.0)
    phantoms.lists = phantoms.lists[2 * wave - 2 : 2 * wave]
    return phantoms


def read_back(phantoms: Phantoms) -> tuple[Study, Evidence]:
    """Write a world to files, and ask and read them as a study does."""
    documents = [json.dumps({"id": name, "text": text}) for name, text in phantoms.texts().items()]
    queries = [f"{query}\t{' '.join(words)}" for query, words in phantoms.words_of_queries().items()]
    judged = [f"{query}\t0\t{doc}\t1" for query, docs in named(phantoms.relevant).items() for doc in docs]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "collection").mkdir()
        qrels = [("qrels.tsv", judged)] if phantoms.judged else []
        for name, lines in (("documents.jsonl", documents), ("queries.tsv", queries), *qrels):
            (Path(folder) / "collection" / name).write_text("\n".join(lines))
        for place in range(len(phantoms.lists)):
            write_run(run_table(list(phantoms.results(place))), Path(folder) / f"{place}.run")
        _write_rulers(Path(folder))
        study = make_study(STUDY, Path(folder))
        table = stimuli(study)
        return study, Evidence(table, responses_of(study, table), inputs(study), seed=study.seed)


def responses_of(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """Ask a study's run files every query in memory, and read the answers."""
    with Ledger(Path(":memory:")) as ledger:
        work = plan_work(study, table)
        write_questions(ledger, work)
        ask(ledger, work)
        return read_responses(ledger.entries(), table, "ranker")


def _write_rulers(folder: Path) -> None:
    """Write word vectors: a word's score is its first number."""
    pairs = read_lexicon("gender_pairs").rows()
    poles = {word: sign for pair in pairs for word, sign in zip(pair, (0.4, -0.4), strict=True)}
    for name, scores in zip(RULERS, vocabulary().scores, strict=True):
        known = {**poles, **dict(zip(vocabulary().words, scores.tolist(), strict=True))}
        (folder / name).write_text(
            "\n".join(f"{word} {g:.6f} {np.sqrt(1 - g**2):.6f} 0.0" for word, g in known.items())
        )


@dataclass(frozen=True, eq=False)
class Bank:
    """Phantom questions: their genderedness, and two systems' lists less the perfect system's."""

    genders: np.ndarray
    planted: np.ndarray  # of a system with the slope
    null: np.ndarray


@cache
def bank_of(slope: float) -> Bank:
    """Return questions asked of a system with this slope and of one without."""
    rng = np.random.default_rng(0)
    scores, terms = vocabulary().scores[0], np.arange(3) < rng.integers(1, 4, BANK)[:, None]
    genders = (rng.choice(scores, (BANK, 3)) * terms).sum(axis=1) / terms.sum(axis=1)
    counts = rng.integers(*RELEVANT, BANK, endpoint=True)
    shape = (BANK, RELEVANT[1])  # documents of LENGTH words lie about what is expected of them
    relevant = BASELINE * genders[:, None] + rng.standard_normal(shape) * scores.std() / np.sqrt(LENGTH)
    there = np.arange(RELEVANT[1]) < counts[:, None]
    perfect, fresh = (relevant * there).sum(axis=1) / counts, np.maximum(np.round(FRESH * counts), 1)
    lists = []
    for effect in (slope, 0.0):  # relevant documents and others pulled one way
        wanted = (BASELINE + effect * counts / fresh) * genders
        room = np.maximum(np.abs(scores).mean() - np.abs(wanted), 0)
        pull = np.clip(rng.uniform(-1, 1, BANK) * (LEAST + PULL * np.abs(genders)), -room, room)
        own = (wanted + pull)[:, None] + rng.standard_normal(shape) * scores.std() / np.sqrt(LENGTH)
        documents = np.where(np.arange(RELEVANT[1]) < fresh[:, None], own, relevant)
        order = np.argsort(np.argsort(np.where(there, rng.random(shape), 2.0), axis=1), axis=1)
        weights = np.where(there, 1 / np.log2(order + 2.0), 0.0)
        lists.append((documents * weights).sum(axis=1) / weights.sum(axis=1) - perfect)
    return Bank(genders, *lists)
