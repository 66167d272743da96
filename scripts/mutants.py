"""Do the tests notice when the code is wrong? Draw small wrong changes, run the tests that reach each, count the noticed.

    python scripts/mutants.py [--count 120] [--seed 0] [--jobs 2] [--only stats/groups.py] [--tests stats,text] [--day]

Drawn over the measures, stats, recorder and text. Each change is made in a fork of a process that has everything imported, and
the tests that reach its line run there for at most 60 seconds. A change is killed when a test fails that passes without it,
or when tests hang that without it take a third of that time. tests/equal_mutants.toml lists changes that alter nothing anybody could
observe, each with its reason; they are reported apart and are not counted as killed.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "POLARS_ALLOW_FORKING_THREAD"):
    os.environ.setdefault(name, "1")  # before anything is imported that reads them

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from mutation import Mutant, find_mutants, live_functions, put_in  # noqa: E402
from reach import Reach, read_reach  # noqa: E402
from warm_tests import Job, import_everything, in_forks, run_tests  # noqa: E402

ROOMS = ("audits/*/measures/**/*.py", "stats/**/*.py", "recorder/**/*.py", "text/**/*.py")
# Tests that reach those rooms only in other processes, or not at all; and those too long for any mutant's budget.
LEFT_OUT = ("browser/", "pictures/", "test_dependencies.py", "test_kill.py", "test_moved_run.py", "calibration.py")
EQUAL = ROOT / "tests" / "equal_mutants.toml"
CACHE = ROOT / ".mutants" / "reach.json"
LIMIT = 60.0  # seconds for one mutant
# Seconds its tests take without it, so that only a hanging one runs into the limit. Most are killed by the first few tests.
BUDGETS = (4.0, 20.0)
LEAST = 0.85
DAY = ("-m", "not night")  # which tests pytest runs for `--day`
HANGS, STOPS = "hangs", "stops the tests"  # killers that are no single test


@dataclass
class Verdict:
    """Outcome of one mutant."""

    mutant: Mutant
    killer: str = ""  # the test that noticed; empty where none did
    reaching: int = 0
    passed: set[str] = field(default_factory=set)  # tests that did not notice
    barred: set[str] = field(default_factory=set)  # tests that also fail without the change


def main() -> int:
    """Draw, run, print; exit with 1 when too few were killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no child stays behind
    options = _options()
    began = time.monotonic()
    os.chdir(ROOT)
    sources = sorted({path for room in ROOMS for path in (ROOT / "src" / "portrayal").glob(room)})
    drawn, places = draw(sources, options)
    for line in import_everything(ROOT / "src"):
        print(f"not imported: {line}")
    reach = read_reach(ROOT, _test_files(options.tests), sources, CACHE, options.jobs, DAY if options.day else ())
    for name in reach.troubled:
        print(f"left out: {name}")
    for name in reach.failed:
        print(f"left out: {name} fails without any change")
    verdicts = judge(drawn, reach, options.jobs)
    print(f"\n{len(drawn)} of {places} places drawn with seed {options.seed}; {time.monotonic() - began:.0f} s")
    return tell(verdicts, _equals())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="a part of the path, such as stats/groups.py")
    parser.add_argument(
        "--tests", default="", help="folders of tests to run alone, such as stats,text: kills are a lower bound"
    )
    parser.add_argument("--day", action="store_true", help="tests of `make test` alone: kills are a lower bound")
    return parser.parse_args()


def draw(sources: Iterable[Path], options: argparse.Namespace) -> tuple[list[Mutant], int]:
    """Return the mutants of the lowest rank, and among how many they were drawn."""
    found = [mutant for path in sources for mutant in find_mutants(path, ROOT, options.seed)]
    wanted = [mutant for mutant in found if options.only in mutant.path]
    return sorted(wanted, key=lambda mutant: mutant.rank)[: options.count], len(wanted)


def _test_files(folders: str) -> list[Path]:
    tests = ROOT / "tests"
    paths = sorted(path for folder in folders.split(",") for path in (tests / folder).rglob("test_*.py"))
    files = {path.relative_to(tests).as_posix(): path for path in paths}
    return [path for name, path in files.items() if not any(part in name for part in LEFT_OUT)]


def judge(drawn: Sequence[Mutant], reach: Reach, at_once: int) -> list[Verdict]:
    """Run every mutant, the survivors of few tests with more."""
    verdicts, live = [Verdict(mutant) for mutant in drawn], live_functions(ROOT / "src")
    gc.freeze()  # what a child never touches is not copied for it
    sound: dict[tuple[str, ...], bool] = {}
    for budget in BUDGETS:
        going = [verdict for verdict in verdicts if not verdict.killer]
        while going:
            killers = _run(going, {id(verdict): choose(verdict, reach, budget) for verdict in going}, live, at_once)
            _check({tests for _, tests in killers if tests not in sound}, sound, at_once)
            going = [verdict for verdict, tests in killers if not sound[tests] and _may_run_again(verdict)]
    return verdicts


def _may_run_again(verdict: Verdict) -> bool:
    """Take back a kill by tests that also fail, or hang, without the change; return whether others are left to try."""
    single = verdict.killer not in (HANGS, STOPS)
    verdict.barred.update([verdict.killer] if single else [])
    verdict.killer = ""
    return single


def _run(
    going: Sequence[Verdict], chosen: Mapping[int, Sequence[str]], live: Any, at_once: int
) -> list[tuple[Verdict, tuple[str, ...]]]:
    """Run these mutants; return those that were killed with the tests to blame."""
    jobs = (
        Job(verdict, lambda folder, one=verdict: _try(one.mutant, chosen[id(one)], folder, live), LIMIT)
        for verdict in going
        if chosen[id(verdict)]
    )
    killers: list[tuple[Verdict, tuple[str, ...]]] = []
    for ended, done in enumerate(in_forks(jobs, at_once), 1):
        verdict, tests = done.name, tuple(chosen[id(done.name)])
        result = done.result or {"failed": [], "died": not done.hung}
        verdict.killer = _killer(done.hung, result)
        if verdict.killer:
            killers.append((verdict, tuple(result["failed"]) or tests))
        else:
            verdict.passed.update(tests)
        print(f"\rmutants run: {ended} of {len(going)}, killed {len(killers)}", end="", flush=True)
    print()
    return killers


def choose(verdict: Verdict, reach: Reach, budget: float) -> list[str]:
    """Return the tests to run: those that reach the place, the narrowest first, then those beside them, within budget."""
    mutant = verdict.mutant
    direct = reach.reaching(mutant.path, range(mutant.line, mutant.last_line + 1))
    direct = direct or reach.reaching(mutant.path, [mutant.statement])
    verdict.reaching = len(direct)
    order = [*_narrowest(direct, reach), *_narrowest(reach.beside(direct) - direct, reach)]
    tests, spent = [], 0.0
    for test in (test for test in order if test not in verdict.passed | verdict.barred):
        if not tests or spent + reach.seconds[test] <= budget:
            tests.append(test)
            spent += reach.seconds[test]
    return tests


def _narrowest(tests: Iterable[str], reach: Reach) -> list[str]:
    return sorted(tests, key=lambda test: (reach.breadth.get(test, 0), test))


def _try(mutant: Mutant | None, tests: Sequence[str], folder: Path, live: Any = ()) -> Mapping[str, Any]:
    """Make the change, if any, and run the tests until one fails."""
    if mutant and not put_in(mutant, ROOT, live):
        return {"code": 0, "failed": [], "died": False}  # no living function has this code
    code, outcomes = run_tests(tests, folder, True)
    return {"code": code, "failed": outcomes.failed, "died": code not in (0, 1)}


def _killer(hung: bool, result: Mapping[str, Any]) -> str:
    if hung:
        return HANGS
    return result["failed"][0] if result["failed"] else STOPS if result["died"] else ""


def _check(groups: Iterable[tuple[str, ...]], sound: dict[tuple[str, ...], bool], at_once: int) -> None:
    """Run the tests that killed without any change: only those that pass, and in half the time, are sound."""
    jobs = [Job(tests, lambda folder, tests=tests: _try(None, tests, folder), LIMIT / 2) for tests in sorted(groups)]
    for done in in_forks(jobs, at_once):
        sound[done.name] = bool(done.result) and done.result["code"] == 0


def _equals() -> list[Mapping[str, str]]:
    return tomllib.loads(EQUAL.read_text(encoding="utf-8"))["equal"] if EQUAL.exists() else []


def tell(verdicts: Sequence[Verdict], equals: Sequence[Mapping[str, str]]) -> int:
    """Print the share killed, by room and kind, and the survivors; return the exit code."""
    survivors = [verdict for verdict in verdicts if not verdict.killer]
    reasons = {id(verdict): _reason(verdict.mutant, equals) for verdict in survivors}
    explained = [verdict for verdict in survivors if reasons[id(verdict)]]
    killed, hung = len(verdicts) - len(survivors), sum(verdict.killer == HANGS for verdict in verdicts)
    share = killed / len(verdicts) if verdicts else 0.0
    print(f"killed {killed} of {len(verdicts)}: {share:.1%} ({hung} of them hang)")
    print(
        f"survived {len(survivors)}: {len(explained)} equal to the original, {len(survivors) - len(explained)} not explained"
    )
    for title, name in (("room", lambda mutant: mutant.path.split("/")[2]), ("change", lambda mutant: mutant.kind)):
        print(f"by {title}: {_shares(verdicts, name)}")
    for verdict in sorted(survivors, key=lambda verdict: (verdict.mutant.path, verdict.mutant.line)):
        _show(verdict, reasons[id(verdict)])
    return 0 if share >= LEAST else 1


def _shares(verdicts: Sequence[Verdict], name: Any) -> str:
    groups = sorted({name(verdict.mutant) for verdict in verdicts})
    return ", ".join(
        f"{group} {sum(bool(v.killer) for v in verdicts if name(v.mutant) == group)}"
        f" of {sum(name(v.mutant) == group for v in verdicts)}"
        for group in groups
    )


def _reason(mutant: Mutant, equals: Sequence[Mapping[str, str]]) -> str:
    keys = {"file": Path(mutant.path).name, "function": mutant.function, "before": mutant.before, "after": mutant.after}
    return next((one["reason"] for one in equals if all(one[key] == keys[key] for key in keys)), "")


def _show(verdict: Verdict, reason: str) -> None:
    mutant = verdict.mutant
    reached = (
        f"{len(verdict.passed)} tests ran, {verdict.reaching} reach it" if verdict.reaching else "no test reaches it"
    )
    print(f"\n{mutant.path}:{mutant.line} in {mutant.function} ({mutant.kind}; {reached})")
    print(f"  - {mutant.before}\n  + {mutant.after}")
    if reason:
        print(f"  equal: {reason}")


if __name__ == "__main__":
    sys.exit(main())
