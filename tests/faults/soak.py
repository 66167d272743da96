"""Many simulated worlds, one per seed: `python tests/faults/soak.py --seeds 1000`.

Prints a table of faults: times injected, answers lost, double bills, mix-ups. A seed that fails is named, and replays with
`--first SEED --seeds 1`; `--page FILE` puts the table into a page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.simulator.bills import Wrong
from faults.simulator.world import World, credentials, make_pictures

BEGIN, END = "<!-- soak:begin -->", "<!-- soak:end -->"
COLUMNS = ("lost", "double bill", "mixed up", "unknown, never sent", "left in flight")


def soak(
    seeds: range, seconds: float = float("inf"), to_the_end: bool = True
) -> tuple[Counter[str], list[tuple[int, Wrong]], int]:
    """Run worlds until the seeds or the time are over, or something is wrong (not `to_the_end`).

    Returns faults injected, what went wrong, and how many worlds there were.
    """
    injected: Counter[str] = Counter()
    wrong, end, done = [], time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder, credentials():
        pictures = make_pictures(Path(folder))
        for seed in seeds:
            if time.monotonic() > end or (wrong and not to_the_end):
                break
            (Path(folder) / "ledger.sqlite").unlink(missing_ok=True)
            world = World(seed, Path(folder), pictures)
            wrong += [(seed, each) for each in world.run()]
            injected += world.injected
            done += 1
    return injected, wrong, done


def table(injected: Counter[str], wrong: list[tuple[int, Wrong]]) -> str:
    """Return the table of `docs/reliability.md`."""
    lines = [f"| fault | injected | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 2) + "|"]
    for fault, count in sorted(injected.items()):
        hits = [sum(fault in each.faults and each.what == name for _, each in wrong) for name in COLUMNS]
        lines.append(f"| {fault} | {count:,} | {' | '.join(map(str, hits))} |")
    whole = [sum(each.what == name for _, each in wrong) for name in COLUMNS]
    return "\n".join([*lines, f"| all | {injected.total():,} | {' | '.join(map(str, whole))} |"])


def rewrite(page: Path, block: str) -> None:
    """Replace what stands between the two comments of the page."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{block}\n\n{END}{rest.split(END)[1]}")


def main() -> int:
    """Run, print, and say which seeds failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--page", type=Path, help="a page whose table between the two comments is replaced")
    options = parser.parse_args()
    injected, wrong, done = soak(range(options.first, options.first + options.seeds))
    told = f"{done:,} worlds, seeds {options.first} to {options.first + done - 1}.\n\n{table(injected, wrong)}"
    print(told)
    if options.page:
        rewrite(options.page, told)
    for seed, each in wrong[:20]:
        print(f"seed {seed}: {each}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
