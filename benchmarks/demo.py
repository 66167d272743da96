"""Time of `portrayal demo`: each study's recording and measuring, and the report.

    python -m benchmarks.demo

Saves benchmarks/results/demo.json and writes docs/benchmarks.md anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import processor_time

from benchmarks import runner

MOST = 120  # seconds on two cores


def main() -> int:
    """Run the demonstration once and say where the time went."""
    found = demonstrate()
    runner.save("demo", found)
    for name, seconds in found["parts"].items():
        print(f"{seconds:7.1f} s  {name}")
    print(f"{found['seconds']:7.1f} s  in all, {found['processor']:.1f} s of processor time (at most {MOST} s)")
    runner.write_page()
    return 0


def demonstrate() -> dict[str, Any]:
    """Run the demonstration into a folder that is thrown away; return what each part took."""
    began, busy = time.perf_counter(), processor_time()
    from portrayal import flow
    from portrayal.flow import demo

    parts = {"start": time.perf_counter() - began}
    studies = _watched(demo.run_studies, "the studies, side by side", parts)
    flow.report = _watched(flow.report, "the report", parts)
    demo.run_studies = lambda *given: _with_each(studies(*given), parts)
    with tempfile.TemporaryDirectory() as folder:
        demo.run_demo(Path(folder) / "demo", quiet=True, processes=os.cpu_count() or 1)
    return {
        "seconds": time.perf_counter() - began,
        "processor": processor_time() - busy,
        "cores": os.cpu_count(),
        "date": runner.today(),
        "parts": parts,
    }


def _with_each(ran: list[Any], parts: dict[str, float]) -> list[Any]:
    """Note what each study took; they ran side by side, so these do not add up to the whole."""
    for one in sorted(ran, key=lambda one: -one.recording - one.measuring):
        parts[f"- {one.folder.name}: recording"] = one.recording
        parts[f"- {one.folder.name}: measuring"] = one.measuring
    return ran


def _watched(call: Callable[..., Any], name: str, parts: dict[str, float]) -> Callable[..., Any]:
    """Return the step with a clock around it."""

    def timed(*given: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return call(*given, **options)
        finally:
            parts[name] = time.perf_counter() - start

    return timed


if __name__ == "__main__":
    sys.exit(main())
