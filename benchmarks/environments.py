"""The environments peers live in: .venv-peers/NAME, from requirements/NAME.txt. Ours stays as users have it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers"
NAMES = ("bench", "bench_wefe", "bench_inspect", "bench_scenes")


def python_of(name: str) -> Path:
    """Return the interpreter of an environment, whether or not it is there."""
    return PEERS / name / "bin" / "python"


def requirements(name: str) -> Path:
    """Return the pinned list an environment is made from."""
    return ROOT / "requirements" / f"{name}.txt"


def lacks(name: str, module: str) -> str:
    """Say in one line what keeps a peer from running; "" where nothing does."""
    if not name:
        here = all(find_spec(one.strip()) for one in module.split(","))
        return "" if here else f"is not installed here: no module {module}"
    python = python_of(name)
    if not python.exists():
        return f"not installed: run `python -m benchmarks --install` ({requirements(name).relative_to(ROOT)})"
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return ""
    said = (found.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"{module} cannot be imported in {name}: {said}"


def install(name: str) -> str:
    """Make an environment unless its list is the one it was made from; return a line about it."""
    folder, wanted = PEERS / name, requirements(name)
    stamp = folder / "made-from.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return f"{name}: as it was"
    shutil.rmtree(folder, ignore_errors=True)
    steps = ([sys.executable, "-m", "venv", folder], [python_of(name), "-m", "pip", "install", "-q",
             "--disable-pip-version-check", "-r", wanted])  # fmt: skip
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "ERROR" in line] or [f"exit {done.returncode}"]
            return f"{name}: NOT installed ({said[-1]}); its peers will be said to be missing"
    stamp.write_text(wanted.read_text())
    return f"{name}: installed"
