"""Whole search audits that never took place: phantom collections and runs, written to files and read as a study's are.

Two engines are asked. Without an effect neither differs from the perfect system (`portrayal.audits.search.phantoms`); with one
the first does. In the clustered shape each question is asked in three wordings of the same words, which share their documents.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from portrayal.audits.search.gsr_of_run import responses_of
from portrayal.audits.search.inputs import inputs, stimuli
from portrayal.audits.search.phantoms import Phantoms, world
from portrayal.audits.search.power import power
from portrayal.runs.audit import Evidence
from portrayal.runs.calibration import Simulated
from portrayal.runs.study_file import make_study
from portrayal.text.collections.runs import run_table, write_run
from portrayal.text.lexicons import read_lexicon


@dataclass(frozen=True)
class Shape:
    """How many questions are asked, and each in how many wordings."""

    questions: int
    wordings: int = 1


SHAPES = {"demo": Shape(79), "small": Shape(10), "clustered": Shape(15, 3), "large": Shape(250)}
SYSTEMS = ("engine one", "engine two")
STUDY = {
    "name": "simulated",
    "audit": "search",
    "systems": [{"name": name, "use": f"run:{place}.run"} for place, name in enumerate(SYSTEMS)],
    "search": {
        "collection": "collection",
        "vectors": ["ruler0.txt", "ruler1.txt"],
        "validate_direction": False,
        "variants": False,
    },
}


def simulate(shape: str, seed: int, effect: float) -> Simulated:
    """Return one audit of two systems, in which the first one's slope exceeds the perfect system's by `effect`."""
    made = SHAPES[shape]
    phantoms = Phantoms((effect, 0.0), np.random.default_rng([seed, made.questions, made.wordings]))
    for question in range(made.questions):
        phantoms.ask(question, made.wordings)
    with tempfile.TemporaryDirectory() as folder:
        _write(phantoms, Path(folder))
        study = make_study(STUDY, Path(folder))
        shown = stimuli(study)
        evidence = Evidence(shown, responses_of(study, shown), inputs(study), seed=study.seed)
    return Simulated(study, evidence, {"system": SYSTEMS[0], "measure": "gsr_difference"})


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a slope and the power that `portrayal plan` states for it."""
    return {
        shape: (slope, power(SHAPES[shape].questions, len(SYSTEMS), slope))
        for shape, slope in (("demo", 0.1), ("small", 0.3))
    }


def _write(phantoms: Phantoms, folder: Path) -> None:
    """Write the collection, the two rulers and the two runs."""
    words = world().words
    held = folder / "collection"
    held.mkdir()
    texts = (
        " ".join(["woman" if woman else "man", *(words[place] for place in places)])
        for places, woman in zip(phantoms.documents, phantoms.women, strict=True)
    )
    documents = [json.dumps({"id": f"d{number}", "text": text}) for number, text in enumerate(texts)]
    (held / "documents.jsonl").write_text("\n".join(documents))
    asked = [
        f"{query}\t{' '.join(words[place] for place in places)}" for query, places in phantoms.queries.items()
    ]
    (held / "queries.tsv").write_text("\n".join(asked))
    judged = [
        f"{query}\t0\td{number}\t1" for query, numbers in phantoms.relevant.items() for number in numbers
    ]
    (held / "qrels.tsv").write_text("\n".join(judged))
    for place, lists in enumerate(phantoms.lists):
        rows = [
            (query, f"d{number}", rank, 1 / rank)
            for query, docs in lists.items()
            for rank, number in enumerate(docs, 1)
        ]
        write_run(run_table(rows), folder / f"{place}.run")
    for place, text in enumerate(_rulers()):
        (folder / f"ruler{place}.txt").write_text(text)


@cache
def _rulers() -> tuple[str, ...]:
    """Return the two files of word vectors: the gendered pairs lie along the first axis, so a word's score is its first number."""
    pairs = read_lexicon("gender_pairs").rows()
    poles = {word: sign for pair in pairs for word, sign in zip(pair, (0.4, -0.4), strict=True)}
    scored = (
        {**poles, **dict(zip(world().words, scores.tolist(), strict=True))} for scores in world().scores
    )
    return tuple(
        "\n".join(f"{word} {g:.6f} {np.sqrt(1 - g**2):.6f} 0.0" for word, g in known.items())
        for known in scored
    )
