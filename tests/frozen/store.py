"""Freeze cases: python -m frozen.store [NAME ...], with src, tests and the root in PYTHONPATH."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from frozen import tables
from frozen.cases import CASES


def main() -> None:
    """Run the cases that are named, or all, and write what they give."""
    names = sys.argv[1:] or list(CASES)
    for name in names:
        began = time.perf_counter()
        with TemporaryDirectory(prefix="frozen-") as folder:
            os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
            made = CASES[name].tables(Path(folder))
        size = tables.write(name, made)
        print(f"{name}: {size:,} bytes, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
