"""Public functions on made-up numbers: measures without a study, shares of folders, calibrations."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import portrayal
from frozen import series, shares, tables
from frozen.runs import command, places_of
from frozen.tables import Tables

CAPTIONS = [
    "A tall woman rides a brown horse.",
    "Two men in suits are standing next to an old car, and a girl holds a red umbrella.",
    "A close up of an african american man in white with a hearing aid",
    "a deaf person uses a laptop on the table in front of the window",
    "The woman, who wears a hijab, smiles at her children.",
    "An elderly couple sitting on a park bench under a tree",
    "a dog",
    "",
    "A man taking a picture of a woman in a wheelchair with his phone.",
    "man man woman, woman; a hot dog & a taco!",
    "Some people watching a baseball game while a black boy eats pizza",
    "Une femme avec un chien.",
    "a group of young men playing a game of frisbee",
    "A nurse is being helped by a doctor.",
]
TAGS = [
    "hostess", "kitchen", "Girl", "t-shirt", "zqx", "handsome man", "black woman", "modern kitchen", "group of women",
    "women's shoe", "lady beetle", "spaceplane", "salesgirl", "busboy", "crane", "table", "bikini", "happy", "elderly",
    "nonbinary person", "engineers", "angry face", "wedding_dress", "african", "Smiling", "beauty", "person", "", "nurse (male)",
]  # fmt: skip


def eat(folder: Path) -> Tables:
    """Test associations in every way the function knows."""
    rng = np.random.default_rng(5)
    sets = {
        "small": [rng.normal(size=(size, 6)) for size in (6, 7, 5, 4)],
        "large": [rng.normal(size=(size, 6)) + shift for size, shift in ((24, 0.2), (22, 0.0), (8, 0.2), (8, 0.0))],
        "equal": [np.ones((3, 4)), np.ones((3, 4)), rng.normal(size=(2, 4)), rng.normal(size=(2, 4))],
    }
    rows = []
    for name, (x, y, a, b) in sets.items():
        for alternative in ("greater", "less", "two-sided"):
            for ddof in (0, 1):
                row = portrayal.eat(x, y, a, b, alternative=alternative, ddof=ddof, permutations=2000, seed=3)
                rows.append(row.with_columns(case=pl.lit(f"{name}, {alternative}, ddof {ddof}")))
    x, y, a, b = (rng.normal(size=(size, 5)) for size in (12, 12, 4, 4))
    people = [f"p{number % 6}" for number in range(12)]
    whose = {"both sides": (people, people), "own sides": (people, [f"q{name}" for name in people])}
    for name, cluster in whose.items():
        row = portrayal.eat(x, y, a, b, alternative="two-sided", cluster=cluster, seed=1)
        rows.append(row.with_columns(case=pl.lit(name)))
    return {"rows": tables.of_frame(pl.concat(rows, how="diagonal_relaxed"), {})}


def gsr(folder: Path) -> Tables:
    """Take slopes of few and many queries, of queries that count together, and of lists that do not vary."""
    rng = np.random.default_rng(7)
    found = []
    for size in (3, 6, 13, 60):
        scores = rng.normal(size=size)
        lists = [None if number % 11 == 7 else 0.2 * score + rng.normal() / 5 for number, score in enumerate(scores)]
        table = pl.DataFrame({"query_score": scores, "list_score": lists})
        found.append(portrayal.gsr(table, seed=2))
        unit = pl.Series("unit", [f"u{number // 2}" for number in range(size)])
        found.append(portrayal.gsr(table.with_columns(unit)))
        found.append(portrayal.gsr(table.with_columns(list_score=pl.lit(0.25))))
    rows = [_fields(slope, ("value", "low", "high", "p", "intercept", "n", "n_missing", "note")) for slope in found]
    return {"slopes": tables.of_rows(rows, rows[0])}


def label_slopes(folder: Path) -> Tables:
    """Take slopes of labels with several attributes, poles, repeats, refusals and systems, under each correction."""
    stimuli, responses = series.slopes(people=16)
    found = {}
    for method in ("holm", "bonferroni", "benjamini-hochberg", "none"):
        found[method] = tables.of_frame(portrayal.label_slopes(stimuli, responses, seed=4, method=method), {})
    few = stimuli.filter(pl.col("person").is_in(["p0", "p1", "p2", "p3", "p4"]))
    found["few"] = tables.of_frame(portrayal.label_slopes(few, responses), {})
    return found


def scene_graphs(folder: Path) -> Tables:
    """Read captions into graphs."""
    graphs = portrayal.scene_graphs(CAPTIONS)
    rows = [_fields(graph, ("objects", "attributes", "relations")) for graph in graphs]
    return {"graphs": {"caption": CAPTIONS, **tables.of_rows(rows, rows[0])}}


def classify_tags(folder: Path) -> Tables:
    """Find the clusters of tags."""
    return {"tags": tables.of_frame(portrayal.classify_tags(TAGS), {})}


def occupation_shares(folder: Path) -> Tables:
    """Count who is shown for each occupation, as somebody labelled them."""
    rng = np.random.default_rng(3)
    groups = ["woman", "man", "nonbinary person", ""]
    lines = [
        f"{job},{rng.choice(groups, p=[share, 0.9 - share, 0.05, 0.05])}"
        for job, share in {"nurse": 0.7, "pilot": 0.1, "chef": 0.4}.items()
        for _ in range(23)
    ]
    table = folder / "labels.csv"
    table.write_text("\n".join(["occupation,group", *lines, ""]))
    found = {"shares": tables.of_frame(portrayal.occupation_shares(table), places_of(folder))}
    return {**found, "command": command("faces", "shares", table, folder=folder)["lines"]}


def gsr_of_run(folder: Path) -> Tables:
    """Rank collections and measure the runs, with several settings, in Python and by command."""
    rows, runs = [], {}
    for collection, ranker in (
        ("toy", "stereotypical"),
        ("toy", "bm25"),
        ("synthetic", "counter-stereotypical"),
        ("toy", "add"),
    ):
        run, without = portrayal.rank_collection(collection, ranker, out=folder / f"{collection}-{ranker}.run")
        runs[f"{collection} {ranker}"] = [Path(run).read_text().splitlines(), list(without)]
        for settings in (
            {},
            {"cutoff": 5, "discount": "code", "quality": ["map", "nDCG@10"]},
            {"direction": "mean", "inflected": False},
        ):
            found = portrayal.gsr_of_run(collection, run, **settings)
            rows.append({"case": f"{collection} {ranker} {settings}", "found": tables.plain(found)})
    said = command("gsr", "toy", "--run", folder / "toy-bm25.run", "--cutoff", "7", "--seed", "3", folder=folder)
    said["lines"]["line"] = [json.loads(line) if line.startswith("{") else line for line in said["lines"]["line"]]
    lists = [{"run": name, "lines": len(lines), "hash": tables.digest(lines), "without": without}
             for name, (lines, without) in runs.items()]  # fmt: skip
    return {"gsr": tables.of_rows(rows, rows[0]), "runs": tables.of_rows(lists, lists[0]), "command": said["lines"]}


def calibrate(stem: str, runs: int, folder: Path) -> Tables:
    """Run an instrument against phantoms a few times."""
    found = portrayal.calibrate(stem, runs=runs)
    told = {name: tables.plain(getattr(found, name)) for name in ("stem", "runs", "false_alarm", "power", "coverage")}
    tabled = {name: [dict(row) for row in getattr(found, name)] for name in ("conditions", "nulls", "plans")}
    columns = {name: sorted({key for row in rows for key in row}) for name, rows in tabled.items()}
    return {
        "told": tables.of_rows([told], told),
        **{name: tables.of_rows(rows, columns[name]) for name, rows in tabled.items()},
    }


def _fields(found: Any, names: tuple[str, ...]) -> dict[str, Any]:
    assert dataclasses.is_dataclass(found) or isinstance(found, tuple), type(found)
    return {name: tables.plain(getattr(found, name)) for name in names}


RUNS = {"associations": 2, "experiments": 4, "search": 3, "contexts": 1, "counterfactuals": 2, "captions": 1}
FUNCTIONS: dict[str, Callable[[Path], Tables]] = {
    "function_eat": eat,
    "function_gsr": gsr,
    "function_label_slopes": label_slopes,
    "function_scene_graphs": scene_graphs,
    "function_classify_tags": classify_tags,
    "function_occupation_shares": occupation_shares,
    "function_gsr_of_run": gsr_of_run,
    **{f"function_{name}": made for name, made in shares.SHARES.items()},
    **{f"calibrate_{stem}": partial(calibrate, stem, runs) for stem, runs in RUNS.items()},
}
SLOW = {f"calibrate_{stem}" for stem in RUNS if stem != "experiments"}
