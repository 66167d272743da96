"""Run the benchmarks: ours and the peers on the same data, saved as JSON and written into docs/benchmarks.md.

    python -m benchmarks                          all of them; `make bench` does this
    python -m benchmarks tags "exact p"           some
    python -m benchmarks --share 0.01 --runs 1    quickly, to see that they run; nothing is saved

Each runs in a process of its own. One that fails, or a peer that is missing, is a line in the table.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.registry import BENCHMARKS

from benchmarks import environments, runner


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--share", type=float, default=1.0, help="of the whole size; below 1 nothing is saved")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each, whose median counts")
    parser.add_argument("--no-growth", action="store_true", help="leave out the three sizes of the exponent")
    parser.add_argument("--install", action="store_true", help="make the peers' environments first")
    parser.add_argument("--page", action="store_true", help="only write docs/benchmarks.md from what is saved")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {unknown[0]!r}. Expected some of: {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    if asked.install:
        for name in environments.NAMES:
            print(environments.install(name), flush=True)
    if not asked.page:
        runner.run_all(asked.names or list(BENCHMARKS), asked.share, asked.runs, not asked.no_growth)
    if asked.page or asked.share == 1:
        runner.write_page()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
