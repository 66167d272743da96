"""kill -9 after random judgments loses none, and the reviewer comes back to the same place; and many reviewers at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.kills import Server, kill_often, on_disk
from benchmarks.viewer import quantile, reviewing

KILLS = 5  # of the 50 of benchmarks/kills.py


def test_a_kill_after_any_judgment_loses_none_and_the_browser_comes_back(runs: list[Path]) -> None:
    judged, lost = kill_often(runs[0], KILLS)
    assert judged >= KILLS
    assert lost == 0


def test_a_judgment_is_on_disk_when_it_is_acknowledged(runs: list[Path]) -> None:
    server, acknowledged = Server(runs[0]), []
    for judgment in ("usable", "flawed", "cannot tell"):
        acknowledged.append(server.judge(judgment))
        # What another process reads at this moment is what a kill at this moment would leave.
        assert on_disk(runs[0]) == acknowledged
    here, cookies = server.shown()["item"], server.client.cookies
    server.kill()
    again = Server(runs[0], cookies)
    assert again.shown()["item"] == here
    assert again.address == server.address
    again.kill()


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
