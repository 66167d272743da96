"""SIGKILL at 50 random points of a recorded run, then resume: nothing finished is lost, nothing is paid for twice."""

from __future__ import annotations

import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run
from portrayal.run.status import states_table

KILLS = 50
HERE = Path(__file__).parent
# Record only: what is killed is the recording; measuring afterwards is a pure function of the ledger. One warm process
# forks a child for every recording, so that 50 starts do not import everything 50 times.
NURSERY = """
import os, sys
from portrayal import flow
from portrayal.study.registry import get_audit
get_audit("associations")
for line in sys.stdin:
    command, *words = line.split()
    if command == "wait":
        print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
    elif child := os.fork():
        print(child, flush=True)
    else:
        flow.record(*words, quiet=True)
        os._exit(0)
"""


class Nursery:
    """Starts recordings, kills them, and waits for them."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", NURSERY], **pipes)

    def say(self, *words: object) -> int:
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def finish(self, study: Path, run: Path) -> None:
        assert self.say("wait", self.say("start", study, run)) == 0

    def kill_at(self, study: Path, run: Path, questions: int) -> None:
        """Kill a recording once its fake system was asked `questions` questions, wherever it is then."""
        already = len(asked(study))
        child = self.say("start", study, run)
        give_up = time.monotonic() + 30
        while len(asked(study)) - already < questions and time.monotonic() < give_up:
            time.sleep(0.0005)
        os.kill(child, signal.SIGKILL)
        assert self.say("wait", child) == -signal.SIGKILL


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.process.stdin.close()
    nursery.process.wait()
    nursery.process.stdout.close()


def write_study(folder: Path, ask_unknown_again: bool, pause: float = 0.002) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "fake_encoder.py", folder / "fake_encoder.py")
    path = folder / "study.toml"
    path.write_text(
        f"""
name = "killed"
audit = "associations"
ask_unknown_again = {str(ask_unknown_again).lower()}

[[systems]]
name = "fake"
use = "python:fake_encoder:embed"
limits = {{ concurrency = 3 }}
parameters = {{ log = "{folder / "asked.log"}", pause = {pause} }}

[associations]
tests = ["weat1", "weat6"]
"""
    )
    return path


def asked(study: Path) -> list[str]:
    log = study.parent / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def responses(run: Path) -> pl.DataFrame:
    from portrayal import flow

    flow.measure(run)
    return pl.read_parquet(Run(run).responses).drop("reason")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("undisturbed")
    study = write_study(folder, True)
    nursery.finish(study, folder / "run")
    return responses(folder / "run")


@pytest.mark.xdist_group("kill")
def test_fifty_kills_and_resumes_equal_an_undisturbed_run(
    tmp_path: Path, nursery: Nursery, undisturbed: pl.DataFrame
) -> None:
    """Resume again and again through 50 kills; only unknown questions may be asked twice."""
    draw = random.Random(0)
    study, run = write_study(tmp_path, True), tmp_path / "run"
    marked_unknown = 0
    kills = 0
    while kills < KILLS:
        if run.exists() and states_table(Run(run))["planned"].sum() < 5:
            shutil.rmtree(run)  # this run is nearly through: begin another, with a log of its own
            check_and_clear(study, marked_unknown)
            marked_unknown = 0
        nursery.kill_at(study, run, draw.randint(0, 6))
        kills += 1
        if Run(run).ledger.exists():
            states = states_table(Run(run))
            assert sum(states.drop("system").sum().row(0)) in (0, len(undisturbed))
            marked_unknown += int(states["unknown"].sum())
    nursery.finish(study, run)
    assert responses(run).equals(undisturbed)
    check_and_clear(study, marked_unknown)


def check_and_clear(study: Path, marked_unknown: int) -> None:
    """No question was asked twice except those marked unknown, by the fake system's own count."""
    counts = collections.Counter(asked(study))
    assert sum(count - 1 for count in counts.values()) <= marked_unknown
    (study.parent / "asked.log").unlink()


@pytest.mark.xdist_group("kill")
def test_without_asking_again_exactly_the_unknown_rows_are_absent(
    tmp_path: Path, nursery: Nursery, undisturbed: pl.DataFrame
) -> None:
    study, run = write_study(tmp_path, False), tmp_path / "run"
    nursery.kill_at(study, run, 20)
    nursery.kill_at(study, run, 20)
    nursery.finish(study, run)
    assert max(collections.Counter(asked(study)).values()) == 1
    table = responses(run)
    absent = table.filter(pl.col("status") == "unknown")
    assert 1 <= len(absent) <= 6  # three calls were in flight at each of two kills
    kept = table.filter(pl.col("status") != "unknown")
    expected = undisturbed.join(absent.select("stimulus"), on="stimulus", how="anti")
    assert kept.equals(expected)


@pytest.mark.xdist_group("kill")
def test_a_second_process_is_turned_away_and_status_works_beside(tmp_path: Path, nursery: Nursery) -> None:
    study, run = write_study(tmp_path, True, pause=0.2), tmp_path / "run"
    child = nursery.say("start", study, run)
    while len(asked(study)) < 5:
        time.sleep(0.01)
    second = subprocess.run(
        [sys.executable, "-m", "portrayal.cli", "audit", str(study), "--out", str(run)], capture_output=True, text=True
    )
    beside = subprocess.run(
        [sys.executable, "-m", "portrayal.cli", "status", str(run)], capture_output=True, text=True, check=True
    )
    os.kill(child, signal.SIGKILL)
    nursery.say("wait", child)
    assert second.returncode == 2
    assert f"process {child} is working on {run}" in second.stderr
    assert "recording now" in beside.stdout


def interrupted(study: Path, run: Path, questions: int) -> subprocess.Popen[str]:
    """Start an audit and press Ctrl-C once this many questions were asked."""
    command = [sys.executable, "-m", "portrayal.cli", "audit", str(study), "--out", str(run), "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while len(asked(study)) < questions:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.xdist_group("kill")
def test_ctrl_c_drains_and_leaves_the_rest_planned(tmp_path: Path) -> None:
    study, run = write_study(tmp_path, True, pause=0.1), tmp_path / "run"
    process = interrupted(study, run, 5)
    _, said = process.communicate()
    states = states_table(Run(run)).row(0, named=True)
    assert process.returncode == 130
    assert "run the same command again to go on" in said
    assert states["done"] == len(asked(study))
    assert states["planned"] > 0
    assert states["unknown"] == states["in_flight"] == 0


@pytest.mark.xdist_group("kill")
def test_a_second_ctrl_c_ends_at_once_and_leaves_unknowns(tmp_path: Path) -> None:
    study, run = write_study(tmp_path, True, pause=60), tmp_path / "run"
    process = interrupted(study, run, 3)
    with pytest.raises(subprocess.TimeoutExpired):  # the first one drains
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    states = states_table(Run(run)).row(0, named=True)
    named, last = said.splitlines()
    assert named.endswith("with your rights")  # the function, before it runs
    assert (process.returncode, last) == (130, "stopped; run the same command again to go on")
    assert (states["unknown"], states["done"], states["in_flight"]) == (3, 0, 0)


@pytest.mark.xdist_group("kill")
def test_a_report_over_unfinished_work_says_so_at_its_top(tmp_path: Path, nursery: Nursery) -> None:
    from portrayal import flow

    study, run = write_study(tmp_path, False), tmp_path / "run"
    nursery.kill_at(study, run, 40)
    flow.measure(run)
    page = flow.report([run]).read_text()
    ledger = Ledger(Run(run).ledger, readonly=True)
    open_questions = sum(states["planned"] for states in ledger.counts().values())
    ledger.close()
    assert open_questions > 0
    top = page[: page.index("<main")]
    assert "This is over unfinished work: " in top
    assert f"of {len(pl.read_parquet(Run(run).stimuli))} questions have no answer yet" in top
