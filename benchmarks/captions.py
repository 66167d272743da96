"""The captions audit on 100,000 captions: seconds, processor time and memory of parsing and measuring.

    python benchmarks/captions.py [--captions 100000] [--json FILE]

Its peers (scene graphs, WordNet, logistic regressions) are in `python -m benchmarks`.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.saved import write_found

GOLD = Path(__file__).parents[1] / "tests" / "golden" / "scene_graphs.jsonl"
CAPTIONS = 100_000
SHARED = Path(__file__).parents[2] / "shared" / "data" / "captions" / "coco_systems"


PROCESSES = 2


def parsing(count: int = CAPTIONS) -> dict[str, dict[str, float]]:
    """Parse and measure captions that are all distinct, captions of which half repeat, and real ones where they are there."""
    sources = {
        "distinct": made_captions(count, count),
        "half of them repeated": made_captions(count, count // 2, count),
    }
    if SHARED.exists() and count == CAPTIONS:
        sources["of COCO"] = real_captions()
    found = {}
    for name, tables in sources.items():
        found[name] = _parsed_and_measured(*tables)
        print(f"{count:,} captions, {name}: {_said(found[name], count)}", flush=True)
    return found


def _said(found: dict[str, float], count: int) -> str:
    total = found["seconds"]
    return (
        f"parsed in {found['parsing_seconds']:.0f} s, parsed and measured in {total:.0f} s ({total * 100_000 / count:.0f} s per"
        f" 100,000; {found['rows']:,} rows); processor time of all processes {found['processor']:.0f} s; peak memory so far,"
        f" parent and largest child, {found['memory_gb']:.2f} GB"
    )


def _parsed_and_measured(human: pl.DataFrame, system: pl.DataFrame, people: pl.DataFrame) -> dict[str, float]:
    from portrayal.audits.captions.measure import parsing_bar
    from portrayal.audits.captions.measures.audit import measure_system
    from portrayal.audits.captions.reading.mentions import read_captions
    from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages

    images = sorted(set(system["image"]) | set(human["image"]))
    stages = Stages(images, people=people.select(*PEOPLE))
    start, busy = time.perf_counter(), _processor()
    for captions, stage in ((human, HUMAN_CAPTIONS), (system, SYSTEM_CAPTIONS)):
        with parsing_bar(stage) as bar:
            stages = stages.with_system(*read_captions(captions, stage, images, processes=PROCESSES, progress=bar))
    parsed, parsing_busy = time.perf_counter() - start, _processor() - busy
    found = measure_system(stages, "benchmark", Options(permutations=199, bootstraps=50))
    total = time.perf_counter() - start
    memory = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1e6
    return {
        "parsing_seconds": parsed, "parsing_processor": parsing_busy, "seconds": total,
        "processor": _processor() - busy, "rows": len(found.rows), "memory_gb": memory,
    }  # fmt: skip


def _processor() -> float:
    """Processor seconds of this process and of the children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def real_captions() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """100,000 captions: three systems as three samples of an image, and human captions of the same and other images."""
    systems = pl.read_csv(SHARED / "captions.csv.gz")
    ages = pl.read_csv(SHARED / "age_dataset.csv.gz").filter(pl.col("source") == "human")
    val = pl.read_csv(SHARED / "human_captions_val2017.csv.gz")
    text = [pl.col("image_id").cast(pl.String).alias("image"), pl.col("caption").alias("text")]
    human = pl.concat([ages.select(text), val.select(text)])
    system = systems.select(text)
    # Images that no system captioned get their first human caption as a stand-in, so that all 100,000 are measured.
    rest = human.filter(~pl.col("image").is_in(system["image"].unique().to_list()))
    system = pl.concat([system, rest.unique("image", maintain_order=True)])
    human = human.head(100_000 - len(system))
    people = systems.filter(pl.col("gender").is_in(["female", "male"])).unique("image_id").select(
        pl.col("image_id").cast(pl.String).alias("image"), pl.lit("gender").alias("axis"), pl.col("gender").alias("group"),
        pl.lit("words of the human captions").alias("assigned_by"),
    )  # fmt: skip
    return human, system, people


def made_captions(count: int, distinct: int, first: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Captions made from the gold ones; the distinct ones have numbers of their own, from `first` on."""
    texts = gold()["caption"].to_list()
    rows = [
        (str(i // 2), f"{texts[i % distinct % len(texts)].rstrip('.')} near {first + i % distinct} trees.")
        for i in range(count)
    ]
    table = pl.DataFrame(rows, schema=["image", "text"], orient="row")
    images = table["image"].unique()
    people = pl.DataFrame({"image": images, "axis": "gender", "assigned_by": "chance"}).with_columns(
        pl.when(pl.col("image").cast(pl.Int64) % 2 == 0).then(pl.lit("female")).otherwise(pl.lit("male")).alias("group")
    )
    return table[::2], table[1::2], people


def gold() -> pl.DataFrame:
    return pl.read_ndjson(GOLD)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--captions", type=int, default=CAPTIONS)
    parser.add_argument("--json", help="a file for the figures")
    asked = parser.parse_args()
    found = parsing(asked.captions)
    write_found(asked.json, {"captions": asked.captions, "processes": PROCESSES, "sources": found})


if __name__ == "__main__":
    main()
