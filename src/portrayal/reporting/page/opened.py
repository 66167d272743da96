"""A run for Python: findings, results, charts, answers and the report; its redacted copy."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import escape

from portrayal.edges.folders import claim, first_entry
from portrayal.errors import PortrayalError
from portrayal.handover.pack import redact_run
from portrayal.reporting.page.files import answers_json, finding_json, report_of
from portrayal.reporting.page.section import Section, read_section
from portrayal.run import folder as folders
from portrayal.run.contents import MEND
from portrayal.run.folder import REPORTING, existing_run, kept_table, locked, reading
from portrayal.stats.decisions.decision import FOUND


class ResultsTable(pl.DataFrame):
    """A polars table whose `to_pandas` needs pandas alone; that of polars needs pyarrow too."""

    def to_pandas(self, **options: Any) -> Any:
        """Return it as a pandas table; with options, as polars does it."""
        if options:
            return super().to_pandas(**options)
        try:
            import pandas
        except ImportError:
            raise PortrayalError(
                "to_pandas() needs pandas, which is not installed. Run: pip install pandas. Without it, `results` is a polars table."
            ) from None
        return pandas.DataFrame(self.to_dict(as_series=False))


class Run:
    """A run of a study, opened.

    A notebook shows it as its findings. It stands for its report where a path is expected.

    Parameters
    ----------
    folder
        A run folder, as `portrayal audit` makes it; it must have been measured.

    Attributes
    ----------
    folder
        Where everything lies.
    findings
        One dict a sentence, as in results.json: `audit`, `study`, `system`, `sentence`, `decision` and `row`, the row's number
        in `results`.
    conclusions
        One dict a research question and system, as `answers` in results.json: `question`, `text`, `answer`, `figures`, `row`.
    results
        The Results table (polars); `to_pandas()` gives it to pandas.
    charts
        Altair charts by name; a figure that is a picture is its PNG.
    answers
        The answers, read into rows: one or more a question, with `status`.
    report
        The page.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = audit(example_study(), folder, quiet=True)
    ...     first = run.findings[0]
    ...     first["system"], first["decision"], run.results["n"][first["row"]]
    ('simulated', 'not found', 16)
    """

    def __init__(self, folder: Path | str) -> None:
        self._files = existing_run(folder)
        self.folder = self._files.folder
        self.report = self.folder / "report.html"

    @cached_property
    def _section(self) -> Section:
        return read_section(self._files)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Return every sentence of the report with its decision and its row."""
        return [finding_json(self._section, finding, 0) for finding in self._section.findings]

    @property
    def conclusions(self) -> list[dict[str, Any]]:
        """Return one answer for each research question and system, as in results.json."""
        return answers_json(self._section)

    @property
    def results(self) -> ResultsTable:
        """Return the Results table."""
        return ResultsTable(self._section.measured.results)

    @property
    def charts(self) -> dict[str, Any]:
        """Return the charts of the report by name."""
        return {chart.name: chart.chart or chart.png for chart in self._section.charts}

    @property
    def answers(self) -> pl.DataFrame:
        """Return the answers as they were read."""
        return kept_table(self._files.responses, MEND)

    def to_pandas(self) -> Any:
        """Return the results as a pandas table; needs pandas alone."""
        return self.results.to_pandas()

    def __fspath__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        number = sum(one["decision"] == FOUND and one["kind"] == "finding" for one in self.findings)
        return f"<portrayal run {str(self.folder)!r}: {number} of {len(self.findings)} sentences are findings>"

    def _repr_html_(self) -> str:
        """Show the sentences, found ones first, and where the report is."""
        lines = ""
        for finding in self.findings:
            tag = "b" if finding["decision"] == FOUND else "span"
            lines += f"<li><{tag}>{escape(finding['decision'])}</{tag}>: {escape(finding['sentence'])}</li>"
        title = escape(f"{self._section.study_name}: {self._section.audit.title}")
        answers = "".join(
            f"<li>{escape(one.text)} {escape(one.shown)}, <b>{escape(one.counted)}</b>: {escape(one.figures)}.</li>"
            for one in self._section.conclusions
        )
        head = f"<p><b>{title}</b></p><ul>{answers}</ul><ul>{lines or '<li>Nothing was measured.</li>'}</ul>"
        return f"<div>{head}<p>Report: <code>{escape(self.report)}</code></p></div>"


def redact(folder: Path | str, out: Path | str) -> Path:
    """Write a measured run without pictures and free text into another folder.

    Parameters
    ----------
    folder
        The run; nothing of it is changed.
    out
        A new or empty folder.

    Returns
    -------
    pathlib.Path
        The report of the redacted run. Its results are those of the whole one; answers, references, judgments, paths and
        pictures are gone, and `redacted.json` has the hashes of what they were in.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, example_study, read_results, redact
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), f"{folder}/run", quiet=True)
    ...     page = redact(f"{folder}/run", f"{folder}/public")
    ...     read_results(f"{folder}/run").equals(read_results(f"{folder}/public"))
    True
    """
    run, target = existing_run(folder), folders.Run(Path(out))
    if target.folder.is_dir() and first_entry(target.folder):
        raise PortrayalError(f"{out} is not empty. Name a new folder: a redacted run is written beside the whole one.")
    claim(target.folder, "run")
    with reading(run), locked(target, doing=REPORTING):
        redact_run(run, target)
        return report_of([target], target.folder, "")
