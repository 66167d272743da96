"""SIGKILL at 50 random points of a recorded run, then resume: nothing finished is lost, nothing is paid for twice."""

from __future__ import annotations

import collections
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from portrayal.record.ledger import Ledger
from portrayal.run import Run
from portrayal.status import states_table

KILLS = 50
HERE = Path(__file__).parent
# Record only: what is killed is the recording; measuring afterwards is a pure function of the ledger.
RECORD = "import sys; from portrayal import flow; flow.record(sys.argv[1], sys.argv[2], quiet=True)"


def write_study(folder: Path, ask_unknown_again: bool) -> Path:
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
parameters = {{ log = "{folder / "asked.log"}" }}

[associations]
tests = ["weat1", "weat6"]
"""
    )
    return path


def start(study: Path, run: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", RECORD, str(study), str(run)])


def finish(study: Path, run: Path) -> None:
    subprocess.run([sys.executable, "-c", RECORD, str(study), str(run)], check=True)


def kill_at(study: Path, run: Path, questions: int) -> None:
    """Kill the recording once its fake system was asked `questions` questions, wherever it is then."""
    log = study.parent / "asked.log"
    already = len(asked(study)) if log.exists() else 0
    process = start(study, run)
    while process.poll() is None:
        if log.exists() and len(asked(study)) - already >= questions:
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()


def asked(study: Path) -> list[str]:
    log = study.parent / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def responses(run: Path) -> pl.DataFrame:
    from portrayal import flow

    flow.measure(run)
    return pl.read_parquet(Run(run).responses).drop("reason")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("undisturbed")
    study = write_study(folder, True)
    finish(study, folder / "run")
    return responses(folder / "run")


@pytest.mark.xdist_group("kill")
def test_fifty_kills_and_resumes_equal_an_undisturbed_run(tmp_path: Path, undisturbed: pl.DataFrame) -> None:
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
        kill_at(study, run, draw.randint(0, 6))
        kills += 1
        if Run(run).ledger.exists():
            states = states_table(Run(run))
            assert sum(states.drop("system").sum().row(0)) in (0, len(undisturbed))
            marked_unknown += int(states["unknown"].sum())
    finish(study, run)
    assert responses(run).equals(undisturbed)
    check_and_clear(study, marked_unknown)


def check_and_clear(study: Path, marked_unknown: int) -> None:
    """No question was asked twice except those marked unknown, by the fake system's own count."""
    counts = collections.Counter(asked(study))
    assert sum(count - 1 for count in counts.values()) <= marked_unknown
    (study.parent / "asked.log").unlink()


@pytest.mark.xdist_group("kill")
def test_without_asking_again_exactly_the_unknown_rows_are_absent(
    tmp_path: Path, undisturbed: pl.DataFrame
) -> None:
    study, run = write_study(tmp_path, False), tmp_path / "run"
    kill_at(study, run, 20)
    kill_at(study, run, 20)
    finish(study, run)
    assert max(collections.Counter(asked(study)).values()) == 1
    table = responses(run)
    absent = table.filter(pl.col("status") == "unknown")
    assert 1 <= len(absent) <= 6  # three calls were in flight at each of two kills
    kept = table.filter(pl.col("status") != "unknown")
    expected = undisturbed.join(absent.select("stimulus"), on="stimulus", how="anti")
    assert kept.equals(expected)


@pytest.mark.xdist_group("kill")
def test_a_second_process_is_turned_away_and_status_works_beside(tmp_path: Path) -> None:
    study, run = write_study(tmp_path, True), tmp_path / "run"
    process = start(study, run)
    while process.poll() is None and len(asked(study)) < 5:
        time.sleep(0.001)
    second = subprocess.run(
        [sys.executable, "-m", "portrayal.cli", "audit", str(study), "--out", str(run)],
        capture_output=True,
        text=True,
    )
    beside = subprocess.run(
        [sys.executable, "-m", "portrayal.cli", "status", str(run)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.wait() == 0
    assert second.returncode == 2
    assert f"process {process.pid} is working on {run}" in second.stderr
    assert "recording now" in beside.stdout


def test_a_report_over_unfinished_work_says_so_at_its_top(tmp_path: Path) -> None:
    from portrayal import flow

    study, run = write_study(tmp_path, False), tmp_path / "run"
    kill_at(study, run, 40)
    flow.measure(run)
    page = flow.report([run]).read_text()
    ledger = Ledger(Run(run).ledger, readonly=True)
    open_questions = sum(states["planned"] for states in ledger.counts().values())
    ledger.close()
    assert open_questions > 0
    body = page[page.index("<main") if "<main" in page else page.index("<body") :]
    assert "no answer" in body[: body.index("<section")]
