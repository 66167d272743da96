"""Made-up captions, depictions and labels of generated images in folders of Parquet files, for `out_of_core.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

FILE = 500_000  # rows
GROUPS = ("woman", "man", "nonbinary person")
SAID = ("A happy person.", "an angry woman in a room", "a sad man, frowning", "a person near a wall", "", None)


def _drawn(random: np.random.Generator, choices: Sequence[str | None], count: int) -> pl.Series:
    return pl.Series(choices, dtype=pl.String).gather(random.integers(0, len(choices), count))


def _captions(rows: np.ndarray, random: np.random.Generator) -> dict[str, pl.Series]:
    count = len(rows)
    return {
        "system": _drawn(random, ("s0", "s1"), count),
        "person": _drawn(random, [f"p{i}" for i in range(200)], count),
        "emotion": _drawn(random, ("anger", "happiness", "sadness", "neutral"), count),
        "intensity": _drawn(random, ("weak", "strong"), count),
        "condition": _drawn(random, ("nonobjectified", "objectified", "hat"), count),
        "status": _drawn(random, ["answered"] * 49 + ["refused"], count),
        "caption": _drawn(random, SAID, count),
    }


def _images(rows: np.ndarray, random: np.random.Generator) -> dict[str, pl.Series]:
    count = len(rows)
    return {
        "system": _drawn(random, ("s0", "s1"), count),
        "occupation": _drawn(random, [f"occupation {i}" for i in range(50)], count),
        "group": _drawn(random, ("person", *GROUPS), count),
        "outcome": _drawn(random, ["kept"] * 17 + ["blocked", "no_face", None], count),
        "label": _drawn(random, GROUPS, count),
    }


def _labels(rows: np.ndarray, random: np.random.Generator) -> dict[str, pl.Series]:
    count = len(rows)
    return {
        "system": _drawn(random, ("s0", "s1"), count),
        "group": _drawn(random, GROUPS, count),
        "seed": pl.Series(rows).cast(pl.String),
        "status": pl.Series(["answered"]).gather(np.zeros(count, int)),
        "label": _drawn(random, ("neutral", "neutral", "sexy", "drawing"), count),
    }


MADE = {"emotions": _captions, "depictions": _images, "flags": _labels}


def make_counted(name: str, folder: Path, rows: int, shard: int = FILE, seed: int = 0) -> None:
    """Write rows of one of the three."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, shard)):
        table = pl.DataFrame(MADE[name](np.arange(start, min(start + shard, rows)), random))
        table.write_parquet(folder / f"{number:05}.parquet", compression="zstd", compression_level=1)


def counted(name: str, folder: Path) -> pl.DataFrame:
    """Measure one of the three."""
    from portrayal import depiction_shares, emotion_word_shares, flagged_shares

    return {"emotions": emotion_word_shares, "depictions": depiction_shares, "flags": flagged_shares}[name](folder)
