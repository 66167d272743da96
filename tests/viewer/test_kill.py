"""kill -9 after any of 50 random judgments loses none; and many reviewers at once."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from portrayal.runs.judgments import read_judgments
from viewer.conftest import fields

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.viewer import quantile, reviewing

KILLS = 5  # processes; each is killed at a random one of its judgments
JUDGMENTS = 50


class Server:
    """`portrayal view` in a process of its own."""

    def __init__(self, run: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "portrayal", "view", str(run), "--reviewer", "Ann"],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr
        lines = [self.process.stderr.readline() for _ in range(2)]
        self.link = re.sub(r"^Ann: ", "", lines[1]).strip()
        self.client = httpx2.Client(base_url=self.link.partition("/enter/")[0])
        assert self.client.post(self.link).status_code == 303

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.client.close()
        assert self.process.stderr
        self.process.stderr.close()


def test_a_kill_after_any_judgment_loses_none(runs: list[Path]) -> None:
    draw, path, acknowledged = random.Random(0), "/review/1/pictures", []
    stops = [*sorted(draw.sample(range(1, JUDGMENTS), KILLS - 1)), JUDGMENTS]
    for stop in stops:
        server = Server(runs[0])
        while len(acknowledged) < stop:
            held = fields(server.client.get(path).text) if len(acknowledged) < 48 else None
            if held is None:  # every picture is judged: take the last one back, which is an act as well
                held = {**fields(server.client.get(path).text, "undo"), "act": "undo"}
            judgment = draw.choice(["usable", "flawed", "cannot tell"])
            assert server.client.post(path, data={**held, "judgment": judgment}).status_code == 303
            acknowledged.append((held["item"], "" if "act" in held else judgment))
            # What another process reads at this moment is what a kill at this moment would leave.
            assert on_disk(runs[0]) == acknowledged
        server.kill()
        assert on_disk(runs[0]) == acknowledged


def on_disk(run: Path) -> list[tuple[str, str]]:
    acts = read_judgments(run / "judgments.jsonl")
    return [(act["item"], act["rows"][0]["judgment"] if act.get("rows") else "") for act in acts]


def test_a_few_reviewers_at_once_wait_little(runs: list[Path]) -> None:
    """A small share of benchmarks/viewer.py, which has 50 reviewers."""
    times = reviewing(runs[0], reviewers=8, each=5, pause=0.2)
    assert len(times) == 40
    assert quantile(times, 0.5) < 0.5


def test_what_stands_in_the_way_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], runs: list[Path]
) -> None:
    from portrayal.cli import main

    for words in ([str(tmp_path / "nothing")], [str(runs[0]), "--reviewer", ""], [str(runs[0]), "--host", "0.0.0.0"],
                  [str(runs[0]), "--host", "203.0.113.9"]):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main(["view", *words])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert said.count("\n") == 1
