"""The captions audit on 100,000 captions: seconds, processor time and memory of parsing and measuring.

    python benchmarks/captions.py

Its peers (scene graphs, WordNet, logistic regressions) are in `python -m benchmarks`.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import polars as pl

GOLD = Path(__file__).parents[1] / "tests" / "golden" / "scene_graphs.jsonl"
SHARED = Path(__file__).parents[2] / "shared" / "data" / "captions" / "coco_systems"


def parsing() -> None:
    from portrayal.audits.captions.measure import parsing_bar
    from portrayal.audits.captions.measures.audit import measure_system
    from portrayal.audits.captions.measures.mentions import read_captions
    from portrayal.audits.captions.measures.options import Options
    from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, PEOPLE, SYSTEM_CAPTIONS, Stages

    human, system, people = real_captions() if SHARED.exists() else made_captions()
    images = sorted(set(system["image"]))
    stages = Stages(images, people=people.select(*PEOPLE))
    start = time.perf_counter()
    for captions, stage in ((human, HUMAN_CAPTIONS), (system, SYSTEM_CAPTIONS)):
        with parsing_bar(stage) as bar:
            stages = stages.with_system(*read_captions(captions, stage, images, processes=2, progress=bar))
    parsed = time.perf_counter() - start
    found = measure_system(stages, "benchmark", Options(permutations=199, bootstraps=50))
    total = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(u.ru_utime + u.ru_stime for u in used)
    memory = sum(u.ru_maxrss for u in used) / 1e6
    print(f"{len(stages.captions):,} captions of {len(images):,} images: parsed in {parsed:.0f} s, parsed and measured in "
          f"{total:.0f} s ({len(found.rows):,} rows); processor time of all processes {processor:.0f} s; resident memory, "
          f"parent and largest child, {memory:.2f} GB")  # fmt: skip


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


def made_captions() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """100,000 captions made from the gold ones, each with a number of its own so that none is parsed twice."""
    texts = gold()["caption"].to_list()
    rows = [(str(i // 2), f"{texts[i % len(texts)].rstrip('.')} near {i} trees.") for i in range(100_000)]
    table = pl.DataFrame(rows, schema=["image", "text"], orient="row")
    images = table["image"].unique()
    people = pl.DataFrame({"image": images, "axis": "gender", "assigned_by": "chance"}).with_columns(
        pl.when(pl.col("image").cast(pl.Int64) % 2 == 0)
        .then(pl.lit("female"))
        .otherwise(pl.lit("male"))
        .alias("group")
    )
    return table[::2], table[1::2], people


def gold() -> pl.DataFrame:
    return pl.read_ndjson(GOLD)


if __name__ == "__main__":
    parsing()
