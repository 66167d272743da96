"""Running tests in forks of a process that has everything imported, so that a run of few tests takes a second or two.

The parent never uses polars, only imports it: its threads do not survive a fork, so each child starts its own.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HEAVY = (
    "hypothesis.strategies", "scipy.stats", "scipy.optimize", "scipy.sparse", "pandas", "pyarrow", "sklearn.linear_model",
    "statsmodels.formula.api", "statsmodels.stats.api", "spacy", "torch", "altair",
)  # fmt: skip
PATIENCE = 5  # times its limit a child may take by the clock: it may wait for the processor, or for ever
OPTIONS = (
    "-n",
    "0",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed",
    "0",
    "--no-header",
    "--tb",
    "no",
    "--assert",
    "plain",
)


class Job(NamedTuple):
    """Work for one child: what it does in its own empty folder, and for how many seconds of the processor at most."""

    name: Any
    work: Callable[[Path], Mapping[str, Any]]
    limit: float


class Done(NamedTuple):
    """Outcome of a job: its result, or None and its last words when the child hung or died."""

    name: Any
    result: Mapping[str, Any] | None
    hung: bool
    last_words: str


@dataclass
class Outcomes:
    """A plug-in of pytest that keeps what each test took, and which failed or were skipped.

    Seconds are those of the processor, which do not grow when the machine is busy.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Time one test with its fixtures."""
        began = sum(os.times()[:4])
        done = yield
        self.seconds[item.nodeid] = sum(os.times()[:4]) - began
        return done

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what one phase of a test came to."""
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)
        if report.skipped:
            self.skipped.append(report.nodeid)


def import_everything(source: Path) -> list[str]:
    """Import every module below a source folder, and what tests import; return what could not be."""
    lost = []
    modules = [".".join(path.relative_to(source).with_suffix("").parts) for path in sorted(source.rglob("*.py"))]
    for name in [*HEAVY, *(name.removesuffix(".__init__") for name in modules if "__main__" not in name)]:
        try:
            importlib.import_module(name)
        except ImportError as error:
            lost.append(f"{name}: {error}")
    return lost


def run_tests(tests: Iterable[str], folder: Path, stop: bool, *plugins: Any) -> tuple[int, Outcomes]:
    """Run tests in this process; return pytest's exit code and what each test came to."""
    outcomes = Outcomes()
    options = [*OPTIONS, "--basetemp", str(folder / "pytest"), *(["-x"] if stop else [])]
    return int(pytest.main([*options, *tests], plugins=[outcomes, *plugins])), outcomes


def in_forks(jobs: Iterable[Job], at_once: int) -> Iterator[Done]:
    """Do each job in a fork of this process, a few at once; yield them as they end."""
    waiting, running = iter(jobs), dict[int, tuple[Job, Path, float]]()
    try:
        while True:
            while len(running) < at_once and (job := next(waiting, None)) is not None:
                folder = Path(tempfile.mkdtemp(prefix="mutants-"))
                running[_fork(job, folder)] = job, folder, time.monotonic()
            if not running:
                return
            time.sleep(0.02)
            for child, (job, folder, began) in list(running.items()):
                ended, status = os.waitpid(child, os.WNOHANG)
                asleep = not ended and time.monotonic() - began > PATIENCE * job.limit
                if ended or asleep:
                    del running[child]
                    spun = bool(ended) and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
                    yield Done(job.name, *_end(child, folder, not ended, asleep or spun))
    finally:  # on Ctrl-C no child stays behind
        for child, (_, folder, _) in running.items():
            _end(child, folder, True, True)


def _fork(job: Job, folder: Path) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()  # so that whatever a test starts can be ended with it
        resource.setrlimit(resource.RLIMIT_CPU, (int(job.limit), int(job.limit) + 5))
        _speak_into(folder / "said")
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
        (folder / "result.part").write_text(json.dumps(job.work(folder)))
        (folder / "result.part").rename(folder / "result.json")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _speak_into(path: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    said = os.open(path, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(said, stream)


def _end(child: int, folder: Path, alive: bool, hung: bool) -> tuple[Mapping[str, Any] | None, bool, str]:
    """End what is left of a child; return its result, whether it hung, and what it said last."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if alive:
        os.waitpid(child, 0)
    result, said = folder / "result.json", folder / "said"
    found = json.loads(result.read_text()) if result.exists() and not hung else None
    lines = said.read_text(errors="replace").split("\n") if said.exists() else []
    shutil.rmtree(folder, ignore_errors=True)
    return found, hung, next((line for line in reversed(lines) if line.strip()), "")
