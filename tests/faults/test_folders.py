"""Folders of the user's, and run folders of somebody else's: nothing is overwritten, followed or run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from PIL import Image

from portrayal import flow
from portrayal.cli import main
from portrayal.edges.folders import claim
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run, is_recording, locked, reading
from portrayal.study.study_file import example_study
from portrayal_rankers.index import build_index, save_index

MINE = {"study.toml": "mine", "results.csv": "a,b\n", "tables/mine.csv": "x\n", "charts/mine.png": "no picture"}


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "run"
    flow.audit(example_study(), folder, quiet=True)
    return folder


@pytest.fixture
def audited(recorded: Path, tmp_path: Path) -> Path:
    """A run of one's own copy."""
    import shutil

    return Path(shutil.copytree(recorded, tmp_path / "run"))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of the user's own work, with names that we use too."""
    folder = tmp_path / "work"
    for name, text in MINE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("command", ["audit", "report", "demo"])
def test_out_refuses_a_folder_of_the_users_and_leaves_it_alone(command: str, mine: Path, audited: Path, capsys) -> None:
    before = contents(mine)
    arguments = {"audit": [example_study(), "-q"], "report": [audited], "demo": ["-q"]}[command]
    code, said, error = run(capsys, command, *arguments, "--out", mine)
    assert (code, said) == (2, "")
    assert "was not made by Portrayal" in error
    assert error.count("\n") == 1
    assert contents(mine) == before


def test_a_run_is_no_place_for_another_report_nor_a_report_for_a_run(audited: Path, tmp_path: Path) -> None:
    other, page = tmp_path / "other", tmp_path / "page"
    flow.audit(example_study(), other, quiet=True)
    before = contents(other)
    with pytest.raises(PortrayalError, match="holds a run"):
        flow.report([audited], other)
    assert contents(other) == before
    flow.report([audited], page)
    flow.report([audited], page)  # again, into a folder of ours
    with pytest.raises(PortrayalError, match="holds a report"):
        flow.audit(example_study(), page, quiet=True)


def test_files_of_the_user_inside_a_run_are_kept(audited: Path) -> None:
    for name in ("notes.txt", "tables/mine.csv", "charts/mine.png"):
        (audited / name).write_text("mine")
    flow.audit(example_study(), audited, quiet=True)
    assert [(audited / name).read_text() for name in ("notes.txt", "tables/mine.csv", "charts/mine.png")] == [
        "mine"
    ] * 3
    (audited / "inputs" / "mine.csv").write_text("mine")
    with pytest.raises(PortrayalError, match="was not put there by Portrayal"):
        flow.audit(example_study(), audited, quiet=True)
    assert (audited / "inputs" / "mine.csv").read_text() == "mine"


def test_a_chart_of_the_user_with_a_name_we_need_is_refused(audited: Path) -> None:
    mark = json.loads((audited / ".portrayal").read_text())
    taken = next(name for name in mark["files"]["report"] if name.endswith(".svg"))
    mark["files"]["report"].remove(taken)
    (audited / ".portrayal").write_text(json.dumps(mark))
    (audited / taken).write_text("mine")
    with pytest.raises(PortrayalError, match="was not made by Portrayal"):
        flow.report([audited])
    assert (audited / taken).read_text() == "mine"


def test_the_run_of_an_earlier_version_is_ours(audited: Path) -> None:
    """Before there were marks a ledger of ours made a run."""
    (audited / ".portrayal").unlink()
    shutil.rmtree(audited / "rows")  # which earlier versions did not write
    stale = audited / "charts" / "stale.svg"
    stale.write_text("<svg/>")
    flow.audit(example_study(), audited, quiet=True)
    assert not stale.exists()


# A run folder from somebody else ------------------------------------------------------------------------------------

LINKS = ["report.html", "report.html.part", "results.json.part", "results.parquet", "lock", "warnings.json", "reviews.csv",
         "responses.parquet", "manifest.json", "ledger.sqlite-wal", ".portrayal", "charts", "tables"]  # fmt: skip


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("command", ["measure", "report", "status", "record"])
def test_no_link_is_written_through(name: str, command: str, audited: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "target"
    if name in ("charts", "tables"):
        target.mkdir()
        (target / "precious.csv").write_text("precious")
        (audited / name).rename(tmp_path / "away")
        (target / "associations_simulated.csv").write_text("precious")
    else:
        target.write_text("precious")
        (audited / name).unlink(missing_ok=True)
    (audited / name).symlink_to(target)
    before = contents(target) if target.is_dir() else target.read_bytes()
    code, _, error = run(capsys, command, audited)
    assert code in (0, 2)
    assert "Traceback" not in error
    assert (contents(target) if target.is_dir() else target.read_bytes()) == before


def test_a_hard_link_is_not_emptied_by_the_lock(audited: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (audited / "lock").unlink()
    os.link(tmp_path / "precious", audited / "lock")
    with pytest.raises(PortrayalError, match="shared with another file"):
        flow.measure(audited)
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_pipe_in_a_run_hangs_nobody(audited: Path, capsys) -> None:
    (audited / "manifest.json").unlink()
    os.mkfifo(audited / "manifest.json")
    code, _, error = run(capsys, "report", audited)
    assert code == 2
    assert "no plain file" in error


@pytest.mark.parametrize("name", ["../../precious.csv", "/precious.csv", "tables/../../precious.csv", "study.toml"])
def test_a_mark_from_somebody_else_removes_nothing_outside(name: str, audited: Path) -> None:
    (audited.parent.parent / "precious.csv").write_text("precious")
    mark = json.loads((audited / ".portrayal").read_text())
    mark["files"]["report"].append(name)
    (audited / ".portrayal").write_text(json.dumps(mark))
    flow.report([audited])
    assert (audited.parent.parent / "precious.csv").read_text() == "precious"
    assert (audited / "study.toml").exists()


def test_an_input_outside_the_run_is_not_read(audited: Path, capsys) -> None:
    (audited.parent / "secret.png").write_bytes(b"secret")
    listed = json.loads((audited / "inputs" / "inputs.json").read_text())
    listed["files"].append("../../secret.png")
    (audited / "inputs" / "inputs.json").write_text(json.dumps(listed))
    code, _, error = run(capsys, "measure", audited)
    assert code == 2
    assert "no file of its own" in error


def test_measure_report_and_status_run_no_code_and_reach_nobody(
    audited: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    """The study of a run names a function, a program and an address, its ledger a reader that is none."""

    def no_network(*arguments: object) -> None:
        raise AssertionError("somebody reached for the network")

    ran = tmp_path / "ran"
    (tmp_path / "hostile.py").write_text(f"open({str(ran)!r}, 'w')\ndef f(text): return [1.0]\n")
    study = (audited / "study.toml").read_text()
    for use in ("python:hostile:f", f"command:touch {ran}", "http://127.0.0.1:9/"):
        study += f'\n[[systems]]\nname = "{use[:6]}"\nuse = "{use}"\n'
    (audited / "study.toml").write_text(study)
    with Ledger(audited / "ledger.sqlite") as ledger:
        ledger.put_fact("study_folder", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(subprocess, "Popen", no_network)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for command in ("status", "measure", "report"):
        assert run(capsys, command, audited)[0] == 0
    assert not ran.exists()
    connection = sqlite3.connect(audited / "ledger.sqlite")
    with connection:
        connection.execute("UPDATE questions SET reader = 'os:system'")
    connection.close()
    code, _, error = run(capsys, "measure", audited)
    assert code == 2
    assert "no reader 'os:system'" in error


@pytest.mark.parametrize(
    "name",
    [
        "portrayal_plug_in.shouting:os.system",
        "portrayal_plug_in.loudness:read",
        "portrayal_plug_in.shouting:open_system",
    ],
)
def test_a_ledger_cannot_name_any_function_of_a_plug_in(name: str, monkeypatch) -> None:
    from importlib.metadata import EntryPoint

    from portrayal.systems.core import readers

    entry = EntryPoint("shouting", "portrayal_plug_in.shouting", "portrayal.systems")
    monkeypatch.setattr(readers, "entry_points", lambda group: [entry])
    with pytest.raises(PortrayalError, match="no reader"):
        readers.reader.__wrapped__(name)


# Ledgers ------------------------------------------------------------------------------------------------------------


def test_a_ledger_of_no_bytes_is_an_error_and_asks_nothing_again(audited: Path, capsys) -> None:
    (audited / "ledger.sqlite").write_bytes(b"")
    for command in (["audit", example_study(), "--out"], ["measure"], ["status"], ["record"], ["report"]):
        code, _, error = run(capsys, *command, audited)
        assert code == 2
        assert "its answers are gone" in error
    assert (audited / "ledger.sqlite").stat().st_size == 0


@pytest.mark.parametrize(
    "make",
    [
        "CREATE TABLE other (a)",
        "CREATE TABLE waves (a); CREATE TABLE facts (a); CREATE VIEW questions AS WITH RECURSIVE n(x) AS"
        " (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS key, x AS system FROM n",
        "CREATE TRIGGER t AFTER UPDATE ON questions BEGIN DELETE FROM questions; END",
    ],
    ids=["another database", "a view that never ends", "a trigger"],
)
def test_a_ledger_that_is_not_ours_is_an_error(make: str, audited: Path, capsys) -> None:
    path = audited / "ledger.sqlite"
    if "TRIGGER" not in make:
        path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript(make)
    connection.close()
    before = path.read_bytes()
    for command in (["status"], ["measure"], ["record"], ["audit", example_study(), "--out"]):
        code, _, error = run(capsys, *command, audited)
        assert code == 2
        assert "not a ledger of Portrayal" in error
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_no_ledger(tmp_path: Path, capsys) -> None:
    claim(tmp_path / "run", "run")
    (tmp_path / "run" / "ledger.sqlite").write_text("my diary, of more than a hundred bytes " * 10)
    code, _, error = run(capsys, "audit", example_study(), "--out", tmp_path / "run")
    assert code == 2
    assert "not a ledger of Portrayal" in error
    assert (tmp_path / "run" / "ledger.sqlite").read_text().startswith("my diary")


@pytest.mark.parametrize("name", ["manifest.json", "warnings.json", "results.parquet", "stimuli.parquet", "study.toml"])
def test_a_damaged_file_of_a_run_is_one_line(name: str, audited: Path, capsys) -> None:
    (audited / name).write_bytes(b"\x80 damaged")
    code, _, error = run(capsys, "report", audited)
    assert code == 2
    assert "is damaged" in error
    assert error.count("\n") == 1


# Locks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["measure"], ["report"], ["record"], ["audit", example_study(), "--out"]])
def test_who_works_on_a_run_keeps_the_others_out(command: list[object], audited: Path, capsys) -> None:
    before = contents(audited)
    with locked(Run(audited)):
        code, _, error = run(capsys, *command, audited)
        assert "recording now" in run(capsys, "status", audited)[1]
    assert code == 2
    assert f"process {os.getpid()} is working on" in error
    assert {name: data for name, data in contents(audited).items() if name != "lock"} == {
        name: data for name, data in before.items() if name != "lock"
    }


def test_a_report_elsewhere_waits_for_whoever_writes_and_lets_others_read(audited: Path, tmp_path: Path) -> None:
    with locked(Run(audited)), pytest.raises(PortrayalError, match="is working on"):
        flow.report([audited], tmp_path / "page")
    with reading(Run(audited)):
        flow.report([audited], tmp_path / "page")
        with pytest.raises(PortrayalError, match="is working on"), locked(Run(audited), patience=0):
            pass


def test_measuring_is_not_called_recording(audited: Path) -> None:
    with locked(Run(audited), doing="measuring"):
        assert not is_recording(Run(audited))


def test_a_lock_dies_with_its_owner_though_its_children_live(tmp_path: Path) -> None:
    """The parent is killed while a forked worker lives on: the run is free."""
    claim(tmp_path / "run", "run")
    script = textwrap.dedent(
        f"""
        import os, time
        from pathlib import Path
        from portrayal.run.folder import locked
        from portrayal.run.folder import Run
        with locked(Run(Path({str(tmp_path / "run")!r}))):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            print(child, flush=True)
            time.sleep(60)
        """
    )
    source = str(Path(flow.__file__).parents[2])
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        with (
            pytest.raises(PortrayalError, match=f"process {parent.pid} is working"),
            locked(Run(tmp_path / "run"), patience=0),
        ):
            pass
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        os.kill(child, 0)  # the worker lives
        with locked(Run(tmp_path / "run"), patience=2):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        parent.kill()
        parent.wait()
        parent.stdout.close()


def test_a_kill_while_measuring_leaves_no_results_beside_tables_of_others(audited: Path, monkeypatch, capsys) -> None:
    def killed(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("portrayal.run.contents.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        flow.measure(audited)
    monkeypatch.undo()
    code, _, error = run(capsys, "report", audited)
    assert code == 2
    assert "has no results yet" in error
    flow.measure(audited)
    assert run(capsys, "report", audited)[0] == 0


# Other files that commands write -----------------------------------------------------------------------------------


def test_rank_and_calibrate_overwrite_no_file_of_the_users(tmp_path: Path, capsys) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("my notes")
    code, _, error = run(capsys, "rank", "toy", "--ranker", "bm25", "--out", mine, "-q")
    assert (code, mine.read_text()) == (2, "my notes")
    assert "is no TREC run" in error
    out = tmp_path / "toy.run"
    for _ in range(2):
        assert run(capsys, "rank", "toy", "--ranker", "bm25", "--out", out, "-q")[0] == 0
    index = tmp_path / "index"
    index.mkdir()
    (index / "words.json").write_text("mine")
    with pytest.raises(PortrayalError, match="was not made by Portrayal"):
        save_index(build_index([("one", "text")]), index)
    assert (index / "words.json").read_text() == "mine"
    code, _, error = run(capsys, "calibrate", "experiments", "--runs", "1", "--json", mine)
    assert (code, mine.read_text()) == (2, "my notes")


def test_series_of_faces_go_into_an_empty_folder_or_one_of_ours(mine: Path, tmp_path: Path, capsys) -> None:
    """The folder named, not only the one made inside it, must be empty or hold earlier series."""
    Image.new("RGB", (64, 64), "white").save(tmp_path / "drawn.png")
    table = tmp_path / "pictures.csv"
    table.write_text("file,source,consent,age\ndrawn.png,drawn for this test,not needed: a drawing,30\n")
    before = contents(mine)
    code, said, error = run(capsys, "faces", "apply", table, "--out", mine)
    assert (code, said) == (2, "")
    assert "was not made by Portrayal" in error
    assert contents(mine) == before
    made = tmp_path / "series"
    for _ in range(2):  # the second time it holds the first series
        assert run(capsys, "faces", "apply", table, "--out", made)[0] == 0
    (made / ".portrayal").unlink()  # as an earlier version left it
    assert run(capsys, "faces", "apply", table, "--out", made)[0] == 0
    (made / ".portrayal").unlink()
    (made / "mine.txt").write_text("mine")
    assert run(capsys, "faces", "apply", table, "--out", made)[0] == 2
    assert not (made / ".portrayal").exists()
