"""The paper's grid of logistic regressions, 500 objects x 1,000 splits, on a GPU (and as torch on the CPU without one).

    python benchmarks/regressions.py

Needs numpy and torch only. Prints the time a fit takes on the device, the whole grid extrapolated from 5,000 fits, and
how far the coefficients lie from numpy's.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parents[1])]
SPLITS = 1000  # the paper's grid
SIZES = (50, 100, 200, 400, 800)  # images that show an object; five objects x 1,000 splits are 5,000 fits


def main() -> None:
    import torch
    from benchmarks.rows.logistic import TYPES, simulated

    from portrayal.stats.models.logistic import fit

    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    fit(*simulated(9, 50, SPLITS), device=device)  # the first call pays for the device's start
    spent, worst = 0.0, 0.0
    for number, size in enumerate(SIZES):
        features, outcome, train = simulated(number, size, SPLITS)
        began = time.perf_counter()
        found = fit(features, outcome, train, device=device)
        spent += time.perf_counter() - began
        few = fit(features, outcome, train[:, :5])
        worst = max(worst, float(np.abs(found.coefficients[:, :5] - few.coefficients).max()))
        print(f"{size} images: largest gradient {found.gradient.max():.1e}, {spent:.2f} s so far")
    grid = spent / (len(SIZES) * SPLITS) * TYPES * SPLITS
    print(
        f"{name}: {1000 * spent / len(SIZES) / SPLITS:.3f} ms a fit; the grid of {TYPES} x {SPLITS:,} would take "
        f"{grid / 60:.1f} minutes; largest difference of a coefficient from numpy's {worst:.1e}"
    )


if __name__ == "__main__":
    main()
