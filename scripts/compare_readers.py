"""Print how long captions take to read, here and at an earlier commit, in one run and by turns.

    python scripts/compare_readers.py CAPTIONS.csv.gz [COMMIT] [NUMBER]

CAPTIONS has a column caption; the first NUMBER (10,000) different ones are read. COMMIT (by default the last before
paragraphs were read) must be in this checkout's history.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[1]
BEFORE = "b2374ef7"
BATCH = 1000
# Processor seconds of a batch; every text is new, so nothing comes from a cache.
READER = """
import json, sys, time
from portrayal.text.captions.parsing import scene_graphs
scene_graphs(["A dog runs."], 1)
for line in sys.stdin:
    texts = json.loads(line)
    start = time.process_time()
    scene_graphs(texts, 1)
    print(time.process_time() - start, flush=True)
"""


def checkout(commit: str, folder: Path) -> Path:
    """Write the package as it was at a commit into a folder."""
    packed = subprocess.run(["git", "-C", ROOT, "archive", commit, "src"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
    return folder / "src"


def reader(source: Path) -> subprocess.Popen[str]:
    """Start a process that reads batches with the package in `source`."""
    paths = os.pathsep.join([str(source), str(ROOT / "packages" / "faces" / "src")])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", READER], stdin=pipe, stdout=pipe, text=True, env=environment)


def seconds(process: subprocess.Popen[str], texts: list[str]) -> float:
    """Return the processor seconds that a reader takes for texts."""
    process.stdin.write(json.dumps(texts) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main(captions: str, commit: str = BEFORE, number: str = "10000") -> None:
    """Print seconds of both readers and their ratio."""
    texts = pl.read_csv(captions)["caption"].unique(maintain_order=True).head(int(number)).to_list()
    with tempfile.TemporaryDirectory() as folder:
        processes = reader(checkout(commit, Path(folder))), reader(ROOT / "src")
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        taken = [[seconds(process, batch) for process in processes] for batch in batches]
        for process in processes:
            process.communicate()
    before, now = (sum(times) for times in zip(*taken, strict=True))
    print(f"{len(texts)} captions: {before:.1f} s at {commit}, {now:.1f} s here, ratio {now / before:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
