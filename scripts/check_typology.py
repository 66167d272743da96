"""Print how right the typology is: against the coded tags, by half, and how much of recorded services' tags it reads.

    python scripts/check_typology.py [TAGS.csv.gz]

The coded tags are tests/golden/tag_clusters.csv (see its .source.md). TAGS is a table of recorded tags with the columns
tagger and tag.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.raters import cohen_kappa
from portrayal.text.words.tag_spelling import normalise
from portrayal.text.words.typology import classify_tags, clusters_of, load_typology, read_tags

GOLD = Path(__file__).parents[1] / "tests" / "golden" / "tag_clusters.csv"


def judged() -> pl.DataFrame:
    """Return the coded tags with what the typology says (`read`) and whether that is right."""
    gold = pl.read_csv(GOLD)
    clusters = classify_tags(gold["tag"].to_list()).select("tag", read=pl.coalesce("sub_cluster", "super_cluster"))
    read = clusters.group_by("tag").agg(pl.col("read").drop_nulls().unique().sort().str.join(";"))
    return gold.join(read, on="tag", maintain_order="left").with_columns(right=pl.col("agreed") == pl.col("read"))


def agreement(gold: pl.DataFrame) -> tuple[float, float]:
    """Return the share of equal codes of the two passes, and Cohen's kappa."""
    codes = sorted(set(gold["first"]) | set(gold["second"]))
    first, second = (np.array([codes.index(code) for code in gold[side]], float) for side in ("first", "second"))
    return float((first == second).mean()), cohen_kappa(first, second).value


def coverage(tags: Path) -> pl.DataFrame:
    """Return, by tagger, the share of tag uses and of distinct tags that are read."""
    table = pl.read_csv(tags, infer_schema=False).drop_nulls("tag").filter(pl.col("tag") != "")
    table = table.with_columns(pl.col("tag").map_elements(normalise, return_dtype=pl.String))
    read = pl.Series(list(read_tags(table["tag"].unique(), clusters_of(load_typology()))))
    seen = table.with_columns(read=pl.col("tag").is_in(read.implode()))
    uses = seen.group_by("tagger").agg(uses=pl.col("read").mean())
    distinct = seen.unique(["tagger", "tag"]).group_by("tagger").agg(tags=pl.len(), distinct=pl.col("read").mean())
    return uses.join(distinct, on="tagger").sort("tagger").select("tagger", "tags", "uses", "distinct")


def main() -> None:
    """Print agreement, accuracy and coverage."""
    gold = judged()
    share, kappa = agreement(gold)
    print(f"two passes agree on {share:.1%} of {gold.height} tags, kappa {kappa:.2f}")
    for (half,), part in gold.group_by("half", maintain_order=True):
        right = wilson(int(part["right"].sum()), part.height)
        print(f"{half}: {right.value:.1%} of {part.height} right (95% interval {right.low:.1%} to {right.high:.1%})")
        people = part.filter(~pl.col("agreed").is_in(["concrete", "other"]))
        print(f"  of its {people.height} tags about people {int(people['right'].sum())} are right")
    if sys.argv[1:]:
        for tagger, count, uses, distinct in coverage(Path(sys.argv[1])).iter_rows():
            print(f"{tagger}: {uses:.1%} of tag uses, {distinct:.1%} of {count} distinct tags are read")


if __name__ == "__main__":
    main()
