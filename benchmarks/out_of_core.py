"""Data larger than memory: rows, seconds and peak memory of each job, in a process of its own.

    python benchmarks/out_of_core.py [JOB...] [10000000 100000000] [--json FILE]

Jobs: tags, mentions, series, lists (the same queries, longer lists), queries (more queries), emotions, depictions, flags;
all by default.

The data are made up (seed 0) in a temporary folder, which is deleted; 100 million rows take under 3 GB of disk there. Peak
memory should not grow with the rows: the last line of each job prints the largest over the smallest.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.counted import MADE, counted, make_counted
from benchmarks.larger_than_memory import lists, make_lists, make_queries, make_series, series
from benchmarks.saved import write_found

SIZES = (10_000_000, 100_000_000)
SHARD = 2_000_000  # rows in a file
PART = 500_000  # mentions in a part, which is held whole: its size, not their number, is what memory hangs on
GENDERS = ("female", "male", "nonbinary")
PLACES = (None, "F1", "F2", "M1", "M2")
WORDS = (
    "woman",
    "man",
    "girl",
    "boy",
    "lady",
    "gentleman",
    "dress",
    "garage",
    "kitchen",
    "beautiful",
    "happy",
    "tree",
    "zqx",
    "doctor",
)
EACH = 20  # tags of a picture
PEOPLE, SYSTEMS = 150, 3
CAPTIONS = 5  # of an image, with eight mentions each
OBJECTS = {
    "woman": "woman.n.01",
    "man": "man.n.01",
    "person": "person.n.01",
    "dog": "dog.n.01",
    "tree": "tree.n.01",
    "female": "female.n.01",
}
ATTRIBUTES = {
    "black": "black.a.01",
    "tall": "tall.a.01",
    "crazy": "crazy.a.01",
    "young": "young.a.01",
    "red": "red.s.01",
}


NOUNS = [0.15, 0.15, 0.1, 0.29, 0.3, 0.01]  # how often each object is said: few captions demean
DESCRIBED = [0.3, 0.3, 0.01, 0.09, 0.3]


def stimuli() -> pl.DataFrame:
    rows = [
        (f"{person}@{place}", "composite" if place else "baseline", f"p{person}", place, place, GENDERS[person % 3], "AB"[person % 2])
        for person in range(PEOPLE)
        for place in PLACES
    ]  # fmt: skip
    names = ["stimulus", "role", "person", "context", "background", "gender", "race"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def make_tags(folder: Path, rows: int, shard: int = SHARD, seed: int = 0) -> None:
    """Write tags of pictures; one answer in a hundred is refused and has a row without a tag, one tag in 500 is null."""
    random, names = np.random.default_rng(seed), stimuli()["stimulus"]
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, shard)):
        pictures = np.arange(start // EACH, min(start + shard, rows) // EACH)
        each = np.where(random.random(len(pictures)) < 0.01, 1, EACH)
        picture = np.repeat(pictures, each)
        refused = pl.Series(np.repeat(each == 1, each))
        tags = pl.Series(WORDS).gather(random.integers(0, len(WORDS), len(picture)))
        absent = refused | pl.Series(random.random(len(picture)) < 0.002)
        of_system = picture // SYSTEMS
        pl.DataFrame({
            "system": pl.Series([f"s{i}" for i in range(SYSTEMS)]).gather(picture % SYSTEMS),
            "stimulus": names.gather(of_system % len(names)), "repeat": pl.Series(of_system // len(names)),
            "refused": refused, "absent": absent, "tag": tags,
        }).select(
            "system", "stimulus", "repeat",
            status=pl.when("refused").then(pl.lit("refused")).otherwise(pl.lit("answered")),
            tag=pl.when("absent").then(None).otherwise("tag"),
        ).write_parquet(folder / f"{number:05}.parquet", compression="zstd", compression_level=1)  # fmt: skip


def make_mentions(folder: Path, rows: int, shard: int = PART, seed: int = 0) -> None:
    """Write parts of mentions, captions and people: four objects and four attributes a caption, five captions an image."""
    for name in ("mentions", "captions", "people"):
        (folder / name).mkdir(parents=True)
    random = np.random.default_rng(seed)
    for number, start in enumerate(range(0, rows, shard)):
        images = np.arange(start // (8 * CAPTIONS), min(start + shard, rows) // (8 * CAPTIONS))
        for name, table in _part(images, random).items():
            table.write_parquet(folder / name / f"{number:05}.parquet", compression="zstd", compression_level=1)


def _part(images: np.ndarray, random: np.random.Generator) -> dict[str, pl.DataFrame]:
    captions = pl.DataFrame(
        {"image": np.repeat(images, CAPTIONS), "caption": np.tile(np.arange(CAPTIONS), len(images))}
    )
    stage = pl.when(pl.col("caption") < 2).then(pl.lit("human captions")).otherwise(pl.lit("system captions"))
    captions = captions.select(image=pl.format("i{}", "image"), stage=stage, caption=pl.col("caption").cast(pl.Int64))
    count = captions.height
    nouns, words = (
        random.choice(len(kinds), (count, 4), p=chance) for kinds, chance in ((OBJECTS, NOUNS), (ATTRIBUTES, DESCRIBED))
    )
    objects = [_said(captions, "object", OBJECTS, nouns[:, i]) for i in range(4)]
    attributes = [_said(captions, "attribute", ATTRIBUTES, words[:, i], nouns[:, i]) for i in range(4)]
    text = pl.Series(["a woman with a dog", "a man by a tree", "a person", ""]).gather(random.integers(0, 4, count))
    people = pl.DataFrame(
        {
            "image": [f"i{i}" for i in images],
            "axis": "gender",
            "group": pl.Series(GENDERS[:2]).gather(images % 2),
            "assigned_by": "chance",
        }
    )
    return {
        "mentions": pl.concat([*objects, *attributes]),
        "captions": captions.with_columns(text=text),
        "people": people,
    }


def _said(
    captions: pl.DataFrame, kind: str, words: dict[str, str], chosen: np.ndarray, of: np.ndarray | None = None
) -> pl.DataFrame:
    nothing = pl.lit(None, pl.String)
    subject = pl.Series(list(OBJECTS)).gather(of) if of is not None else nothing
    of_subject = pl.Series(list(OBJECTS.values())).gather(of) if of is not None else nothing
    return captions.select(
        "image", "stage", "caption", kind=pl.lit(kind), subject=subject, word=pl.Series(list(words)).gather(chosen),
        object=nothing, synset=pl.Series(list(words.values())).gather(chosen), subject_synset=of_subject, object_synset=nothing,
    )  # fmt: skip


def tags(folder: Path) -> pl.DataFrame:
    from portrayal import tag_shares

    return tag_shares(folder, stimuli())


def mentions(folder: Path) -> pl.DataFrame:
    from portrayal import mention_shares

    return mention_shares(folder)


JOBS = {
    "tags": (make_tags, tags),
    "mentions": (make_mentions, mentions),
    "series": (make_series, series),
    "lists": (make_lists, lists),
    "queries": (make_queries, lists),
    **{name: (partial(make_counted, name), partial(counted, name)) for name in MADE},
}


def run(job: str, rows: int, root: Path, **shard: int) -> dict[str, float]:
    """Make the data, run the job in a process of its own, delete the data."""
    folder = root / f"{job}_{rows}"
    JOBS[job][0](folder, rows, **shard)
    said = subprocess.run(
        [sys.executable, __file__, "--job", job, str(folder)], check=True, capture_output=True, text=True
    )
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    for file in folder.rglob("*.parquet"):
        file.unlink()
    return {**json.loads(said.stdout.splitlines()[-1]), "disk": size / 1e9}


def child(job: str, folder: str) -> None:
    start, busy = time.perf_counter(), time.process_time()
    found = JOBS[job][1](Path(folder))
    spent = {"seconds": time.perf_counter() - start, "processor": time.process_time() - busy}
    print(json.dumps({**spent, "peak": peak_memory(), "results": found.height}))


def peak_memory() -> float:
    """Return this process's own peak in GB. What `getrusage` says is at least the peak of the process that started it."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e9


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="JOB or ROWS")
    parser.add_argument("--json", help="a file for the figures")
    asked = parser.parse_args(given)
    odd = [name for name in asked.names if name not in JOBS and not name.isdecimal()]
    if odd:
        parser.error(f"{odd[0]!r} is no job and no number of rows. Known jobs: {', '.join(JOBS)}.")
    jobs = [name for name in asked.names if name in JOBS] or list(JOBS)
    sizes = [int(size) for size in asked.names if size not in JOBS] or list(SIZES)
    with tempfile.TemporaryDirectory() as root:
        found = {job: grown(job, sizes, Path(root)) for job in jobs}
    write_found(asked.json, {"jobs": {**earlier(asked.json), **found}})


def earlier(file: str | None) -> dict[str, list[dict[str, float]]]:
    """Return the jobs a file of figures has already: whoever runs one job keeps the others."""
    return json.loads(Path(file).read_text())["jobs"] if file and Path(file).is_file() else {}


def grown(job: str, sizes: list[int], root: Path) -> list[dict[str, float]]:
    """Run a job at each size, and print each and how its memory grew."""
    every = []
    for rows in sizes:
        found = run(job, rows, root)
        every.append({"rows": rows, **found})
        print(f"{job}, {rows:,} rows ({found['disk']:.2f} GB of Parquet): {found['seconds']:.0f} s, processor time "
              f"{found['processor']:.0f} s, peak memory {found['peak']:.2f} GB, "
              f"{found['results']:,} results", flush=True)  # fmt: skip
    peaks = [found["peak"] for found in every]
    print(f"{job}: largest peak over smallest {max(peaks) / min(peaks):.2f}", flush=True)
    return every


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--job"] else main(sys.argv[1:])
