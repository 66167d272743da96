"""Another package adds a system and an audit through entry points, without a line of ours changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

PACKAGE = Path(__file__).parent / "plug_in"
STUDY = """
name = "plugged in"
audit = "loudness"
[loudness]
texts = ["one woman", "one man there"]
[[systems]]
name = "mine"
use = "shouting"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into a folder of its own and return it."""
    folder = tmp_path_factory.mktemp("plug_in")
    source = shutil.copytree(PACKAGE, folder / "source")  # building writes beside its sources
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(folder / "site"), str(source)], check=True, timeout=120)
    return folder / "site"


def portrayal(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    before = os.environ.get("PYTHONPATH", "")
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{before}"}
    command = [sys.executable, "-m", "portrayal", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_both_are_listed(installed: Path, tmp_path: Path) -> None:
    systems = portrayal(installed, tmp_path, "list", "systems", "--about").stdout
    assert "shouting" in systems and "portrayal-plug-in" in systems
    assert "loudness" in portrayal(installed, tmp_path, "list", "audits").stdout.split()


def test_a_study_runs_on_both_and_is_measured_again(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = portrayal(installed, tmp_path, "audit", "study.toml", "--out", "run", "--quiet")
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(tmp_path / "run" / "results.parquet")
    assert found.select("measure", "value", "decision").row(0) == ("shouted", 5.0, "not tested")
    assert "mine shouts 5 tags." in (tmp_path / "run" / "report.html").read_text()
    (tmp_path / "study.toml").unlink()
    assert portrayal(installed, tmp_path, "measure", "run").returncode == 0


def test_without_the_package_the_line_says_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = portrayal(tmp_path, tmp_path, "plan", "study.toml")
    assert done.returncode == 2
    assert "no audit 'loudness'" in done.stderr and done.stderr.count("\n") == 1
