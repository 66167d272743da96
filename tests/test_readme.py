"""The README prints what ships, and what it prints runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


PLACES = (
    "https://github.com/portrayal-audit/portrayal/blob/main/",
    "https://raw.githubusercontent.com/portrayal-audit/portrayal/main/",
)


def local(link: str) -> Path | None:
    """Return the file that a link of ours leads to; none of others' links."""
    return next((ROOT / link.removeprefix(place) for place in PLACES if link.startswith(place)), None)


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return text


def test_the_first_study_is_printed_as_it_ships() -> None:
    assert block("toml") == (ROOT / "examples/first_study/study.toml").read_text()
    assert block("python") == (ROOT / "examples/first_study/system.py").read_text()


def printed(word: str) -> list[str]:
    """Return the commands of this program in the README, without their comments."""
    lines = [line.partition(" #")[0].strip() for line in README.splitlines() if line.startswith("    ")]
    return [line for line in lines if line.split()[0] == word]


def portrayal(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "portrayal", *command.split()[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_first_study_runs_as_printed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (command,) = printed(".venv/bin/portrayal")
    done = portrayal(tmp_path, command)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "runs/my-first-study/report.html\n"
    assert "not found: It was not found that mine ties groups to attributes" in done.stderr
    assert (tmp_path / "runs/my-first-study/report.html").is_file()


def test_every_target_of_make_is_there() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = [command.split()[1] for command in printed("make")]
    assert named == ["venv", "demo"]
    assert set(named) <= set(targets)


def test_the_commands_for_a_study_of_ones_own_run_in_their_order(tmp_path: Path) -> None:
    """On the cheapest audit: the README's words with its stem in the place of the one printed."""
    commands = [one for one in printed("portrayal") if one.split()[1] in ("new", "try", "audit")]
    assert [one.split()[1] for one in commands] == ["new", "try", "audit"]
    for command in commands:
        done = portrayal(tmp_path, command.replace("contexts", "associations"))
        assert done.returncode == 0, done.stderr


def test_the_picture_is_there_and_small() -> None:
    (name,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    path = local(name)
    assert path is not None and path.stat().st_size < 200_000
    with Image.open(path) as picture:
        assert picture.width >= 1000


def test_links_lead_to_files() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        path = local(link)
        assert link.startswith("https:") and (path is None or path.exists()), link
