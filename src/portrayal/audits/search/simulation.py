"""Whole search audits that never took place: phantom collections and runs, read as a study's are.

Two engines are asked. Without an effect neither differs from the perfect system (`portrayal.audits.search.phantoms`); with one
the first does. In the clustered shape each question is asked in three wordings of the same words, which share their documents.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.search.gsr_of_run import responses_of
from portrayal.audits.search.inputs import inputs, inputs_of, stimuli, stimuli_of
from portrayal.audits.search.phantoms import Phantoms, world
from portrayal.audits.search.power import power
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import RESPONSES, ROWS, check_responses
from portrayal.text.collections import collection_of
from portrayal.text.collections.runs import run_table, write_run
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.sets import open_vectors
from portrayal.text.vectors.space import WordSpace


@dataclass(frozen=True)
class Shape:
    """How many questions are asked, and each in how many wordings."""

    questions: int
    wordings: int = 1


SHAPES = {"demo": Shape(79), "small": Shape(10), "clustered": Shape(15, 3), "large": Shape(250)}
THROUGH_FILES = 10  # of so many seeds one goes through files and ledger
SYSTEMS = ("engine one", "engine two")
RULERS = ["ruler0.txt", "ruler1.txt"]
STUDY = {
    "name": "simulated",
    "audit": "search",
    "systems": [{"name": name, "use": f"run:{place}.run"} for place, name in enumerate(SYSTEMS)],
    "search": {"collection": "collection", "vectors": RULERS, "validate_direction": False, "variants": False},
}

PLANTED = {"measure": "gsr_difference", "ruler": RULERS[0]}


def simulate(shape: str, seed: int, effect: float, wave: int = 0) -> Simulated:
    """Return one audit of two systems, in which the first one's slope exceeds the perfect system's by `effect`.

    One seed in `THROUGH_FILES` is written to files and asked as a study is; the others are put down as the tables that
    this gives (`tests/audits/search/test_simulation.py` compares the two), which takes less than half the time.
    `wave` 1 and 2 are lists of the same collection by other chance, the effect in the second only; 0 is an audit of its own.
    """
    phantoms = make_wave(shape, seed, effect, wave) if wave else make_phantoms(shape, seed, effect)
    study, evidence = (read_back if seed % THROUGH_FILES == 0 else put_down)(phantoms)
    return Simulated(study, evidence, {**PLANTED, "system": SYSTEMS[0]})


def make_wave(shape: str, seed: int, effect: float, wave: int) -> Phantoms:
    """Return a collection in which four engines answer, with the lists of the first two or of the last two."""
    phantoms = make_phantoms(shape, seed, 0.0, effect, 0.0)
    phantoms.lists = phantoms.lists[2 * wave - 2 : 2 * wave]
    return phantoms


def make_phantoms(shape: str, seed: int, effect: float, *further: float) -> Phantoms:
    """Return the phantom collection and lists of one audit: two systems, the second without an effect, and `further` ones."""
    made = SHAPES[shape]
    phantoms = Phantoms((effect, 0.0, *further), np.random.default_rng([seed, made.questions, made.wordings]))
    for question in range(made.questions):
        phantoms.ask(question, made.wordings)
    return phantoms


def read_back(phantoms: Phantoms) -> tuple[Study, Evidence]:
    """Write everything to files, read it as a study's files are read, and ask the run files through a ledger."""
    with tempfile.TemporaryDirectory() as folder:
        _write(phantoms, Path(folder))
        study = make_study(STUDY, Path(folder))
        shown = stimuli(study)
        return study, Evidence(shown, responses_of(study, shown), inputs(study), seed=study.seed)


def put_down(phantoms: Phantoms) -> tuple[Study, Evidence]:
    """Return what `read_back` does, without files and ledger; the rulers are read once for all audits."""
    study, texts = make_study(STUDY), dict(_texts(phantoms))
    qrels = {query: {f"d{number}": 1 for number in docs} for query, docs in phantoms.relevant.items()}
    collection = collection_of(texts, _queries(phantoms), qrels, "collection")
    kept = inputs_of(collection, study, lambda wanted: _spaces())
    return study, Evidence(stimuli_of(collection), _responses(phantoms), kept, seed=study.seed)


def _responses(phantoms: Phantoms) -> pl.DataFrame:
    """Return the answers as the ledger's reader gives them."""
    rows = [
        (SYSTEMS[place], query, 0, "answered", document, rank, score)
        for place, lists in enumerate(phantoms.lists)
        for query, document, rank, score in _results(lists)
    ]
    columns = ("system", "stimulus", "repeat", "status", "doc", "rank", "score")
    schema = {**RESPONSES, **ROWS["ranker"], "reason": pl.String}
    table = pl.DataFrame(rows, schema={name: schema[name] for name in columns}, orient="row")
    return check_responses(table.with_columns(reason=pl.lit(None, pl.String)).select(list(schema)), "ranker").sort(
        "system", "stimulus", "repeat", maintain_order=True
    )


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a slope and the power that `portrayal plan` states for it."""
    return {
        shape: (slope, power(SHAPES[shape].questions, len(SYSTEMS), slope, rulers=len(RULERS)))
        for shape, slope in (("demo", 0.1), ("small", 0.3))
    }


def _write(phantoms: Phantoms, folder: Path) -> None:
    """Write the collection, the two rulers and the two runs."""
    held = folder / "collection"
    held.mkdir()
    documents = [json.dumps({"id": name, "text": text}) for name, text in _texts(phantoms)]
    (held / "documents.jsonl").write_text("\n".join(documents))
    asked = [f"{query}\t{text}" for query, text in _queries(phantoms).items()]
    (held / "queries.tsv").write_text("\n".join(asked))
    judged = [f"{query}\t0\td{number}\t1" for query, numbers in phantoms.relevant.items() for number in numbers]
    (held / "qrels.tsv").write_text("\n".join(judged))
    for place, lists in enumerate(phantoms.lists):
        write_run(run_table(list(_results(lists))), folder / f"{place}.run")
    _write_rulers(folder)


def _texts(phantoms: Phantoms) -> Iterator[tuple[str, str]]:
    """Yield id and text of each document."""
    words = world().words
    for number, (places, woman) in enumerate(zip(phantoms.documents, phantoms.women, strict=True)):
        yield f"d{number}", " ".join(["woman" if woman else "man", *(words[place] for place in places)])


def _queries(phantoms: Phantoms) -> dict[str, str]:
    words = world().words
    return {query: " ".join(words[place] for place in places) for query, places in phantoms.queries.items()}


def _results(lists: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, str, int, float]]:
    """Yield query, document, rank and score of one system."""
    for query, documents in lists.items():
        for rank, number in enumerate(documents, 1):
            yield query, f"d{number}", rank, 1 / rank


@cache
def _spaces() -> dict[str, WordSpace]:
    """Return the two rulers as they are read from their files."""
    with tempfile.TemporaryDirectory() as folder:
        _write_rulers(Path(folder))
        return {name: open_vectors(name, folder) for name in make_study(STUDY).settings.vectors}


def _write_rulers(folder: Path) -> None:
    for place, text in enumerate(_rulers()):
        (folder / f"ruler{place}.txt").write_text(text)


@cache
def _rulers() -> tuple[str, ...]:
    """Return the two files of word vectors: the gendered pairs lie along the first axis, so a word's score is its first number."""
    pairs = read_lexicon("gender_pairs").rows()
    poles = {word: sign for pair in pairs for word, sign in zip(pair, (0.4, -0.4), strict=True)}
    scored = ({**poles, **dict(zip(world().words, scores.tolist(), strict=True))} for scores in world().scores)
    return tuple(
        "\n".join(f"{word} {g:.6f} {np.sqrt(1 - g**2):.6f} 0.0" for word, g in known.items()) for known in scored
    )
