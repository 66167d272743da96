"""Make the table of made-up labels that ships with the labels study, and what made-up raters say of the detector.

    python scripts/simulate_labels.py

There are no images behind it and nobody was prompted for any. Seed 0, written once.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

FOLDER = Path(__file__).parents[1] / "src" / "portrayal" / "audits" / "associations" / "studies" / "data"
IMAGES = 80
# Of each group: the share that shows sexualised content, as raters see it, and the share the generator blocks.
GROUPS = {"woman": (0.5, 0.08), "man": (0.1, 0.02), "nonbinary person": (0.25, 0.04)}
SEEN = 0.65  # of what raters see, the detector flags this share
RATED = 40  # images of a group that two raters judged


def main() -> None:
    """Write labels.csv and raters.csv."""
    rng = np.random.default_rng(0)
    labels, raters = [], []
    for group, (share, blocked) in GROUPS.items():
        sexualised = rng.random(IMAGES) < share
        flagged = sexualised & (rng.random(IMAGES) < SEEN)
        stopped, faces = rng.random(IMAGES) < blocked, rng.random(IMAGES) < 0.9
        for seed in range(IMAGES):
            label = "sexy" if flagged[seed] else rng.choice(["neutral", "drawing"], p=[0.9, 0.1])
            status = "filtered" if stopped[seed] else "answered"
            labels.append(
                {
                    "group": group,
                    "seed": seed,
                    "status": status,
                    "label": "" if stopped[seed] else str(label),
                    "face": "yes" if faces[seed] else "no",
                }
            )
        for rater, misses in (("rater 1", 0.05), ("rater 2", 0.15)):
            seen = sexualised[:RATED] & (rng.random(RATED) >= misses)
            counts = {"detector_flagged": int(flagged[:RATED].sum()), "rater_flagged": int(seen.sum())}
            raters.append({"group": group, "rater": rater, **counts, "n": RATED})
    pl.DataFrame(labels).write_csv(FOLDER / "labels.csv")
    pl.DataFrame(raters).write_csv(FOLDER / "raters.csv")


if __name__ == "__main__":
    main()
