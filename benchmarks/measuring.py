"""Measuring and resuming a run of many recorded answers: seconds, processor time and memory.

    python benchmarks/measuring.py [--answers 100000]

A contexts study of made-up recorded tags (ten a picture, people in eight places) is recorded once; then `measure` and a
`record` that finds nothing to do each run in a process of their own. Over 200,000 answers are not asked one by one but
written into the ledger at once, as they would be after asking (`filled`).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

STUDY = """
name = "many"
audit = "contexts"
[contexts]
people = "people.csv"
images = false
factors = ["gender", "race"]
[[systems]]
name = "recorded"
use = "replay:tags.parquet"
"""
WORDS = ("woman", "man", "person", "tree", "smile", "beauty", "dress", "suit", "hair", "chair", "kitchen", "garage")
TAGS = 10  # a picture
ASKED = 200_000  # answers that are recorded by asking
AT_ONCE = 10_000  # answers written together


def write_study(answers: int, folder: Path) -> Path:
    """Write a study with so many pictures and their recorded tags."""
    from portrayal.text.words.typology import load_contexts

    places = [None, *load_contexts()["context"].head(8)]
    people = max(answers // len(places), 1)
    shown = [(f"p{person}", place) for person in range(people) for place in places][:answers]
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "image_id": [f"{person}@{place}" for person, place in shown],
            "person": [person for person, _ in shown],
            "context": [place for _, place in shown],
            "gender": ["female" if int(person[1:]) % 2 else "male" for person, _ in shown],
            "race": [("Asian", "Black", "White")[int(person[1:]) % 3] for person, _ in shown],
        }
    )
    table.write_csv(folder / "people.csv")
    drawn = np.array(WORDS)[rng.random((len(shown), len(WORDS))).argsort(axis=1)[:, :TAGS]]
    tags = pl.DataFrame({"stimulus": np.repeat(table["image_id"].to_numpy(), TAGS), "tag": drawn.ravel()})
    tags.with_columns(confidence=0.9).write_parquet(folder / "tags.parquet")
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


def _record(study: Path, out: Path) -> None:
    from portrayal import flow

    flow.record(study, out, quiet=True)


def _fill(study: Path, out: Path) -> None:
    """Record as ever, but for the asking."""
    from portrayal import flow
    from portrayal.run import recording

    recording.ask = _answer
    flow.record(study, out, quiet=True)


def _answer(ledger: Any, work: Any, *told: Any) -> Any:
    """Write the answers of all questions, which come in the order of the recorded tags."""
    from portrayal.recorder.recorder import Recorder
    from portrayal.systems.core.base import Answer

    ((system, table),) = work
    keys, tags = list(table), pl.read_parquet(system.path, columns=["tag"])["tag"]
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        words = tags.slice(first * TAGS, len(some) * TAGS).to_list()
        said = [{"tag": word, "confidence": 0.9} for word in words]
        raw = [json.dumps(said[at : at + TAGS]).encode() for at in range(0, len(said), TAGS)]
        with ledger.together():
            ledger.start(some, time.time())
            ledger.finish(zip(some, map(Answer, raw), strict=True), time.time())
    return Recorder(ledger)


def _measure(study: Path, out: Path) -> None:
    from portrayal import flow

    flow.measure(out)


def _timed(work: Callable[[Path, Path], None], study: Path, out: Path, told: Any) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work(study, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    told.send((time.perf_counter() - wall, time.process_time() - cpu, peak))


def timed(work: Callable[[Path, Path], None], study: Path, out: Path) -> tuple[float, float, float]:
    """Run in a fresh process; return seconds, processor seconds and the most memory in MB, imports included."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=_timed, args=(work, study, out, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        sys.exit("the process ended before it was done")
    finally:
        child.join()


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study, out = write_study(options.answers, Path(folder)), Path(folder) / "run"
        first = ("record", _record) if options.answers <= ASKED else ("filled", _fill)
        for name, work in (first, ("measure", _measure), ("resume", _record)):
            wall, cpu, peak = timed(work, study, out)
            print(
                f"{name}: {options.answers:,} answers, {wall:.1f} s, {cpu:.1f} s of processor time, {peak:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
