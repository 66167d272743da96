"""Runs benchmarks one after the other, each in a process of its own, and keeps what they found."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.one import version_of
from benchmarks.registry import BENCHMARKS

from benchmarks import page, probes

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
LONGEST = 1200  # seconds one benchmark may take with its peers
SAID = ("numpy", "scipy", "polars", "torch", "spacy", "onnxruntime", "portrayal")


def run_all(names: Sequence[str], share: float, runs: int, growth: bool) -> list[dict[str, Any]]:
    """Run these benchmarks and print each; at the whole size what they found is saved."""
    began = time.perf_counter()
    machine = {**probes.machine(), "rates": probes.probe(), "versions": versions(), "date": today()}
    if share == 1:
        save("machine", machine)
    found = []
    for name in names:
        one = run_one(name, share, runs, growth)
        found.append(one)
        if share == 1:
            save(name, one)
        print("\n".join(page.lines(one, machine["rates"])), flush=True)
    print(f"{len(names)} benchmarks in {time.perf_counter() - began:.0f} s", flush=True)
    return found


def run_one(name: str, share: float, runs: int, growth: bool) -> dict[str, Any]:
    """Run one benchmark in a fresh process; what goes wrong is part of what is returned."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        words = [name, str(share), str(runs), str(int(growth)), str(out)]
        command = [sys.executable, "-m", "benchmarks.one", *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, cwd=ROOT, check=False)
            said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            said = f"not done after {LONGEST} s"
        found = (
            json.loads(out.read_text())
            if out.exists()
            else {"name": name, "work": BENCHMARKS[name].work, "failed": said}
        )
    return {**found, "took": time.perf_counter() - began, "date": today(), "runs": runs}


def save(name: str, found: dict[str, Any]) -> None:
    """Keep what a benchmark found."""
    RESULTS.mkdir(exist_ok=True)
    _file(name).write_text(json.dumps(found, indent=1) + "\n")


def saved(name: str) -> dict[str, Any] | None:
    """Return what a benchmark found when it last ran."""
    return json.loads(_file(name).read_text()) if _file(name).exists() else None


def _file(name: str) -> Path:
    return RESULTS / f"{name.replace(' ', '_')}.json"


def write_page() -> None:
    """Write docs/benchmarks.md from what is saved."""
    found = {
        name: saved(name) or {"name": name, "work": one.work, "failed": "not run yet"}
        for name, one in BENCHMARKS.items()
    }
    PAGE.write_text(page.document(found, saved("machine") or {}, {name: saved(name) for name in page.ALONE}))
    print(f"wrote {PAGE.relative_to(ROOT)}")


def versions() -> dict[str, str]:
    """Return the versions of Python and of what ours stands on."""
    return {"Python": sys.version.split()[0], **{name: version_of(name) for name in SAID}}


def today() -> str:
    """Return the date."""
    return datetime.now(UTC).date().isoformat()
