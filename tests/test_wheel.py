"""The wheel holds the package with its data, lists and licenses, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return ZipFile(next(folder.glob("*.whl")))


def test_nothing_but_the_package_is_in_it(wheel: ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert tops == {"portrayal", f"portrayal_audit-{version}.dist-info"}
    inside = [Path(name).parts for name in wheel.namelist()]
    for folder in ("training", "benchmarks", "__pycache__"):
        assert [parts for parts in inside if folder in parts] == []
    assert [parts for parts in inside if parts[-1].startswith(("test_", "conftest"))] == []


def test_every_file_of_the_package_is_in_it(wheel: ZipFile) -> None:
    paths = (path for path in (ROOT / "src" / "portrayal").rglob("*") if path.is_file())
    files = {str(path.relative_to(ROOT / "src")) for path in paths if "__pycache__" not in path.parts}
    assert files <= set(wheel.namelist())
    assert {
        f"portrayal/edges/parts/{name}" for name in ("parts.txt", "identity.txt", "language.txt", "parts.csv")
    } <= set(wheel.namelist())


def test_licenses_travel_with_what_they_cover(wheel: ZipFile) -> None:
    beside = [name for name in wheel.namelist() if Path(name).name.startswith("LICENSE") and "dist-info" not in name]
    assert {Path(name).name for name in beside} >= {"LICENSE-CLIP", "LICENSE-all-MiniLM-L6-v2", "LICENSE-wordnet"}
    told = {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name}
    assert {"LICENSE", *(f"src/{name}" for name in beside)} == told


def test_it_says_what_core_needs_and_no_more(wheel: ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    lines = wheel.read(name).decode().splitlines()
    needed = [
        line.removeprefix("Requires-Dist: ")
        for line in lines
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert len(needed) == len(declared)
    assert not [line for line in needed if line.startswith(("starlette", "uvicorn", "statsmodels", "spacy", "torch"))]
