"""Memory of an index: gigabytes a million documents of 200 words, in its own process.

    python benchmarks/index_size.py [--documents 100000] [--json FILE]

The documents are made one after the other, so that what grows is the index and its word weights.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks.saved import write_found  # noqa: E402


def peak(documents: int) -> int:
    """Return the most bytes a fresh process had while it indexed so many documents."""
    command = [sys.executable, __file__, "--child", str(documents)]
    return int(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def child(documents: int) -> None:
    """Index, weigh, and print the peak of memory."""
    from benchmarks.rows.texts import documents as texts

    from portrayal_rankers.index import build_index
    from portrayal_rankers.lexical import bm25

    bm25(build_index((str(number), text) for number, text in enumerate(texts(documents))))
    print(json.dumps(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def main() -> None:
    """Read the command line and measure: what the documents beyond a tenth of them add."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", help="a file for the figures")
    asked = parser.parse_args()
    if asked.child:
        child(asked.child)
        return
    fewer = max(1, asked.documents // 10)
    each = (peak(asked.documents) - peak(fewer)) / (asked.documents - fewer)
    print(f"{each:,.0f} bytes a document at the peak of indexing: {each / 1e3:.2f} GB a million")
    write_found(asked.json, {"documents": asked.documents, "bytes_each": each})


if __name__ == "__main__":
    main()
