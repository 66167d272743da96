"""Answer of a peer's script: it calls `told(call, version)` at its end; `benchmarks/one.py` runs it.

    python benchmarks/peers/SCRIPT.py FOLDER RUNS

FOLDER holds what the benchmark gave; times go to FOLDER/times.json and the answer's arrays to FOLDER/answer.npz.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from timing import timed

FOLDER = Path(sys.argv[1])
RUNS = int(sys.argv[2])


def told(call: Callable[[], dict[str, np.ndarray]], version: str) -> None:
    """Time the call and write what it took and answered."""
    times = timed(call, RUNS)
    np.savez(FOLDER / "answer.npz", **times.answer)
    found = {"seconds": times.seconds, "processor": times.processor, "version": version}
    (FOLDER / "times.json").write_text(json.dumps(found))
