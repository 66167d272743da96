"""Readers on damaged input for some minutes: `python tests/fuzz/fuzz.py --minutes 10`.

A case is a reader's name and a seed, and replays with `--only NAME --first SEED --cases 1`. Where atheris is installed,
`--atheris NAME` looks for new paths through one reader by coverage. Found cases become tests in `test_found.py`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.mutations import mutate
from fuzz.targets import TARGETS, Target
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Refused, Unreadable

SAID = (PortrayalError, Unreadable, Refused, CallFailed)  # one line for whoever wrote the file, or the ledger
SLOW = 5.0  # seconds that a small file may take


def case(name: str, seed: int) -> bytes:
    """Return the input of this case."""
    rng = random.Random(f"{name} {seed}")
    return mutate(rng.choice(TARGETS[name].examples), rng)


def fails(target: Target, data: bytes, folder: Path) -> str:
    """Read damaged input; return what went wrong, or nothing."""
    path = folder / target.file
    path.write_bytes(data)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(path)
    except SAID as error:
        if "\n" in str(error).strip() or len(str(error)) > 2000:
            return f"a message of {len(str(error))} characters: {str(error)[:200]!r}"
    except Exception:
        return traceback.format_exc(limit=-4)
    took = time.process_time() - began
    return f"{took:.0f} s for {len(data)} bytes" if took > SLOW else ""


def fuzz(names: list[str], first: int, cases: int, seconds: float) -> tuple[int, dict[str, str]]:
    """Try cases of every reader in turn; return how many, and the first failure of each kind by its case."""
    failures: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    tried, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            for name in names:
                if time.monotonic() > end:
                    return tried, failures
                tried += 1
                if wrong := fails(TARGETS[name], case(name, seed), Path(folder)):
                    kind = f"{name}: {wrong.strip().splitlines()[-1][:80]}"
                    kinds[kind] += 1
                    if kinds[kind] == 1:
                        failures[f"{name} {seed}"] = wrong
    return tried, failures


def _with_atheris(name: str) -> None:
    atheris = import_module("atheris")  # no dependency: it installs on few machines
    folder = Path(tempfile.mkdtemp())

    def one(data: bytes) -> None:
        if wrong := fails(TARGETS[name], data, folder):
            raise AssertionError(wrong)

    atheris.Setup([sys.argv[0]], atheris.instrument_func(one))
    atheris.Fuzz()


def main() -> int:
    """Fuzz and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, default=10**9, help="of each reader at most")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(TARGETS))
    parser.add_argument("--atheris", metavar="NAME", choices=list(TARGETS))
    options = parser.parse_args()
    if options.atheris:
        _with_atheris(options.atheris)
    tried, failures = fuzz(options.only or list(TARGETS), options.first, options.cases, 60 * options.minutes)
    for which, wrong in failures.items():
        print(f"--- {which}\n{wrong}")
    print(f"{tried:,} cases of {len(options.only or TARGETS)} readers, {len(failures)} kinds of failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
