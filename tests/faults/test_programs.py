"""Programs and functions that misbehave: stray lines, wrong ids, grandchildren, signals. Answers stay with their questions."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Recorder
from portrayal.run.folder import Run
from portrayal.run.status import states_table
from portrayal.systems.core.base import Question, Unreachable
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

EXAMPLES = Path(__file__).parents[2] / "examples"
# Answers with what it was asked, so that an answer on another question shows; `before` runs before each answer.
PROGRAM = """
import json, os, subprocess, sys, time
print({greeting!r}, end="", flush=True)
for number, line in enumerate(sys.stdin):
    question = json.loads(line)
    {before}
    print(json.dumps({{"id": question["id"], "answer": [question["content"]]}}), flush=True)
    {after}
"""


def record(folder: Path, use: str, contents: list[str], **limits: Any) -> tuple[Recorder, Mapping[str, Any]]:
    """Record the contents with one system, in real time; return the recorder and the entries by content."""
    settings = SystemSettings(name="mine", use=use, limits={"timeout": 20, **limits})
    system = open_system(settings, folder, "tagger")
    questions = {content: Question(content, "text", content, content) for content in contents}

    async def no_pause(seconds: float) -> None:
        await asyncio.sleep(0.01)

    with Ledger(folder / "ledger.sqlite") as ledger:
        ledger.plan(Planned(key, "mine", "x", "", {}, key, 0, "tagger") for key in questions)
        recorder = Recorder(ledger, sleep=no_pause)
        asyncio.run(recorder.record([(system, questions)]))
        return recorder, {entry.key: entry for entry in ledger.entries()}


def command(
    folder: Path, greeting: str = "", before: str = "pass", after: str = "pass", name: str = "program.py"
) -> str:
    (folder / name).write_text(PROGRAM.format(greeting=greeting, before=before, after=after))
    return f"command:{sys.executable} {name}"


def on_their_own(entries: Mapping[str, Any]) -> list[str]:
    """Return the done questions, after checking that each has its own answer."""
    done = {key: entry for key, entry in entries.items() if entry.state == "done"}
    for key, entry in done.items():
        assert json.loads(entry.answer.raw)["answer"] == [key]
    return sorted(done)


CONTENTS = [f"picture {number:02}" for number in range(20)]


@pytest.mark.parametrize(
    "stray", ["print('loading ...', flush=True)", "print('{}', flush=True)", "print('[1]', flush=True)"]
)
def test_a_stray_line_never_puts_an_answer_on_another_question(tmp_path: Path, stray: str) -> None:
    """The review's first finding: one stray line shifted every later answer by one, all done."""
    use = command(tmp_path, before=f"{stray} if number == 3 else None")
    _, entries = record(tmp_path, use, CONTENTS)
    # The process lives for three answers and the stray line: every fourth question is unknown.
    assert on_their_own(entries) == [content for i, content in enumerate(CONTENTS) if i % 4 != 3]
    lost = [entry for entry in entries.values() if entry.state != "done"]
    assert {entry.state for entry in lost} == {"unknown"}
    assert "no answer to question" in lost[0].error


def test_a_stray_line_between_two_questions_ends_the_program_and_loses_none(tmp_path: Path) -> None:
    use = command(tmp_path, after="print('saved.', flush=True) if number == 3 else None")
    _, entries = record(tmp_path, use, CONTENTS[:8])
    done = on_their_own(entries)
    assert len(done) >= 7  # it may also come while the next one is answered, which is then unknown
    assert done[:4] == CONTENTS[:4]


def test_a_program_that_greets_is_stopped_after_three_questions(tmp_path: Path) -> None:
    recorder, entries = record(tmp_path, command(tmp_path, greeting="loading model...\n"), CONTENTS)
    states = [entries[content].state for content in CONTENTS]
    assert states == ["unknown"] * 3 + ["planned"] * 17
    assert len(recorder.messages) == 1
    assert "mine: stopped" in recorder.messages[0]
    assert "loading model" in recorder.messages[0]


@pytest.mark.parametrize(
    "line", ["{**reply, 'id': '1-other'}", "{'answer': ['x']}", "[reply['id'], ['x']]", "{**reply, 'tags': []}", "7"]
)
def test_a_line_without_the_right_id_is_no_answer(tmp_path: Path, line: str) -> None:
    said = f"reply = {{'id': question['id'], 'answer': ['x']}}; print(json.dumps({line}), flush=True); continue"
    _, entries = record(tmp_path, command(tmp_path, before=said), ["a"])
    assert entries["a"].state == "unknown"


def test_an_old_answer_that_comes_late_meets_no_other_question(tmp_path: Path) -> None:
    """A program that answers each question with the id of the one before it."""
    late = "old, last = globals().get('last', 'none'), question['id']; question['id'] = old"
    _, entries = record(tmp_path, command(tmp_path, before=late), CONTENTS[:6])
    assert on_their_own(entries) == []


def test_the_reference_programs_keep_the_protocol(tmp_path: Path) -> None:
    for number, use in enumerate(
        (f"command:{sys.executable} {EXAMPLES / 'program.py'}", f"command:sh {EXAMPLES / 'program.sh'}")
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, entries = record(folder, use, ["a", 'with "quotes" and {"id": "x"}', "c"])
        assert {entry.state for entry in entries.values()} == {"done"}
        assert json.loads(entries["a"].answer.raw)["answer"] == ["person", "outdoors"]


def test_the_time_limit_ends_a_grandchild_that_keeps_the_pipe(tmp_path: Path) -> None:
    """1.5 s asked means about 1.5 s; the review waited 120 s. The grandchild ends with its group."""
    hang = "child = subprocess.Popen(['sleep', '60']); open('child', 'w').write(str(child.pid)); child.wait()"
    began = time.monotonic()
    _, entries = record(tmp_path, command(tmp_path, before=hang), ["a"], timeout=1.5)
    assert 1.4 < time.monotonic() - began < 4
    assert entries["a"].state == "unknown"
    assert entries["a"].error == "no answer within 1.5 s"
    assert not alive(int((tmp_path / "child").read_text()))


def test_a_program_that_ended_while_its_child_keeps_the_pipe_does_not_hold_us(tmp_path: Path) -> None:
    leave = "subprocess.Popen(['sleep', '60']); os._exit(3)"
    began = time.monotonic()
    _, entries = record(tmp_path, command(tmp_path, before=leave), ["a"], timeout=1.5)
    assert time.monotonic() - began < 4
    assert entries["a"].state == "unknown"


def alive(process: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


STUDY = """
name = "stopped"
audit = "associations"
[[systems]]
name = "mine"
use = "command:{python} embed.py"
[associations]
tests = ["weat1"]
"""
SLOW = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    question = json.loads(line)
    open("asked.log", "a").write(question["content"] + "\\n")
    time.sleep(0.5)
    print(json.dumps({"id": question["id"], "answer": [float(number), 1.0]}), flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_terminal_lets_the_program_finish(tmp_path: Path, number: int) -> None:
    """A terminal sends Ctrl-C to every process of its foreground group; the answer in flight is billed."""
    (tmp_path / "embed.py").write_text(SLOW)
    (tmp_path / "study.toml").write_text(STUDY.format(python=sys.executable))
    words = [sys.executable, "-m", "portrayal.cli", "audit", "study.toml", "--out", "run", "-q"]
    # Where the tests themselves run under nohup, SIGHUP would be ignored.
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # fmt: skip
    log = tmp_path / "asked.log"
    while not log.exists() or len(log.read_text().splitlines()) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=60)
    states = states_table(Run(tmp_path / "run")).row(0, named=True)
    assert process.returncode == 128 + number, said
    assert "run the same command again to go on" in said
    assert states["done"] == len(log.read_text().splitlines())
    assert states["unknown"] == states["in_flight"] == 0
    assert states["planned"] > 0


def test_functions_past_their_limit_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "hanging_tagger.py").write_text(
        "import threading\nEND = threading.Event()\nASKED = []\n"
        "def tags(text):\n    ASKED.append(text)\n    END.wait(60)\n    return [text]\n"
    )
    before = threading.active_count()
    recorder, entries = record(tmp_path, "python:hanging_tagger:tags", CONTENTS, concurrency=2, timeout=0.2, retries=2)
    module = sys.modules["hanging_tagger"]
    assert len(module.ASKED) == 2
    assert threading.active_count() - before <= 2
    module.END.set()
    states = [entries[content].state for content in CONTENTS]
    assert (states.count("unknown"), states.count("planned")) == (2, 18)  # what was never asked is not unknown
    assert "2 earlier calls of the function are past their time limit" in recorder.messages[0]
    assert "at most 2 may run at once" in recorder.messages[0]


def test_a_function_that_comes_back_late_gives_its_place_back(tmp_path: Path) -> None:
    (tmp_path / "late_tagger.py").write_text("import time\ndef tags(text):\n    time.sleep(0.3)\n    return [text]\n")
    settings = SystemSettings(name="mine", use="python:late_tagger:tags")
    system = open_system(settings, tmp_path, "tagger")

    async def asking() -> Any:
        question = [Question("a", "text", "a", "a")]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(system.ask(question), 0.1)
        with pytest.raises(Unreachable):
            await system.ask(question)
        await asyncio.sleep(0.4)
        return await system.ask(question)

    assert len(asyncio.run(asking())) == 1


def test_a_clock_set_back_does_not_pause_the_recorder(tmp_path: Path) -> None:
    """The wall clock goes back an hour in the middle; calls stay a hundredth of a second apart."""
    wall = iter([7200.0] * 4 + [3600.0] * 100)
    settings = SystemSettings(name="mine", use="python:json:dumps", limits={"per_second": 100})
    system = open_system(settings, tmp_path, "tagger")
    questions = {str(n): Question(str(n), "text", str(n), str(n)) for n in range(5)}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.plan(Planned(key, "mine", "x", "", {}, key, 0, "tagger") for key in questions)
        recorder = Recorder(ledger, clock=lambda: next(wall))
        began = time.monotonic()
        asyncio.run(asyncio.wait_for(recorder.record([(system, questions)]), 20))
        assert time.monotonic() - began < 5
        assert sum(ledger.counts()["mine"].values()) - ledger.counts()["mine"]["planned"] == 5
