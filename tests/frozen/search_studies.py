"""Studies of search: toy collections with their reference systems, and a collection of our own with run files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozen.places import made, run, simulated, table
from frozen.series import chance
from frozen.tables import Tables

JOBS = (
    "nurse",
    "plumber",
    "teacher",
    "engineer",
    "librarian",
    "carpenter",
    "secretary",
    "pilot",
    "dancer",
    "mechanic",
    "baker",
    "judge",
)
WORDS = (
    "she",
    "he",
    "woman",
    "man",
    "mary",
    "john",
    "care",
    "tools",
    "kitchen",
    "war",
    "family",
    "office",
    "dress",
    "engine",
    "music",
    "court",
)


def toy(folder: Path, collection: str = "toy", **further: Any) -> Tables:
    """Rank a toy collection by its reference systems and by rankers that ship, compared and beside published rows."""
    uses = (
        "stereotypical",
        "neutral",
        "counter-stereotypical",
        "perfect",
        "random",
        "bm25",
        "qlm",
        "tfidf",
        "add",
        "si",
    )
    if collection == "balanced":
        uses = uses[3:]
    systems = [
        simulated(use, f"a {use} one" if use in ("perfect", "random") else use, collection=collection, depth=30)
        for use in uses
    ]
    systems.append(simulated("add", "add, direction removed", collection=collection, depth=30, debias="regular"))
    own = {
        "collection": collection,
        "compare": {"add": ["add, direction removed"], "bm25": ["qlm"]},
        "published": {"bm25": "BM25"},
    }
    return run(folder, {"name": "toy", "audit": "search", "systems": systems, "search": {**own, **further}})


def own(folder: Path, judged: bool = True) -> Tables:
    """Rank documents of our own: leaning, even, raising and recorded engines, run files with ties and doubles."""
    docs = {
        f"d{number}": [word for word in (*WORDS, *JOBS) if chance(number, word) < 0.3] or ["nothing"]
        for number in range(40)
    }
    place = folder / "collection"
    place.mkdir()
    lines = [json.dumps({"id": name, "text": " ".join(words)}) for name, words in docs.items()]
    (place / "documents.jsonl").write_text("\n".join(lines) + "\n")
    queries = {job: job if number % 4 else f"{job} for women" for number, job in enumerate(JOBS)} | {"odd": "zqx"}
    (place / "queries.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in queries.items()))
    gains = [
        (job, doc, 1 + int(2 * chance("gain", job, doc)))
        for job in JOBS[:-2]
        for doc in docs
        if chance("relevant", job, doc) < 0.2
    ]
    (place / "qrels.tsv").write_text(
        "".join(f"{job}\t0\t{doc}\t{gain}\n" for job, doc, gain in gains) if judged else ""
    )
    if not judged:
        (place / "qrels.tsv").unlink()
    for name, doubled in (("engine", False), ("doubled", True)):
        found = [
            (job, f"d{int(chance(name, job, rank) * 40)}" if doubled else f"d{(7 * rank + len(job)) % 40}", rank)
            for job in JOBS
            for rank in range(1, 9)
        ]
        text = "".join(f"{job} Q0 {doc} {rank} {(9 - rank) // 2} {name}\n" for job, doc, rank in found)
        (folder / f"{name}.run").write_text(text)
    recorded = [(job, f"d{(rank * 11) % 40}", rank, 1 / rank, "") for job in JOBS[3:] for rank in range(1, 6)] + [
        ("nurse", "", "", "", "refused")
    ]
    table(folder / "answers.csv", ("stimulus", "doc", "rank", "score", "status"), recorded)
    systems = [
        made("ranker", "leaning", lean=0.6),
        made("ranker", "even"),
        made("raising", "raising"),
        simulated("run:engine.run", "engine"),
        simulated("run:doubled.run", "doubled"),
        simulated("replay:answers.csv", "recorded"),
        simulated("bm25", "bm25", collection="collection", depth=20),
    ]
    mentions = {"female": ["she", "woman", "mary"], "male": ["he", "man", "john"], "other": ["person", "people"]}
    settings = {
        "collection": "collection", "vectors": ["glove", "spacy-md"], "cutoff": 7, "validate_direction": False, "mentions": mentions,
        "quality": ["map", "nDCG@5", "P_10"], "compare": {"leaning": ["even"]}, "discount": "code", "top": 10, "penalty": 0.5,
    }  # fmt: skip
    data = {"name": "own", "audit": "search", "seed": 4, "systems": systems, "search": settings}
    return run(
        folder, {**data, "family": {"measures": ["gsr", "gsr_difference", "gsr_change", "over_representation_trend"]}}
    )


STUDIES: dict[str, Callable[[Path], Tables]] = {
    "own_search_toy": lambda folder: toy(folder, variants=False),
    "own_search_synthetic": lambda folder: toy(folder, "synthetic", validate_direction=False, direction="mean", inflected=False),
    "own_search_balanced": lambda folder: toy(
        folder, "balanced", validate_direction=False, variants=False, pairs=[["young", "old"], ["new", "ancient"]], poles=["young", "old"],
        mentions={"young": ["girl", "boy"], "old": ["grandmother", "grandfather"]},
    ),
    "own_search_judged": own,
    "own_search_unjudged": lambda folder: own(folder, judged=False),
}  # fmt: skip
