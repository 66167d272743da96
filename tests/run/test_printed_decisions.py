"""Decisions of every audit as the command line prints and writes them: one test behind each, whoever else is asked."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

import portrayal
from portrayal.cli.app import MOST_SAID
from portrayal.cli.main import main
from portrayal.reporting.page.section import read_section
from portrayal.run.folder import Run
from reporting.reading_back import faults, row_faults
from run.printed_studies import STUDIES

DECIDED = ("measure", "p", "p_adjusted", "low", "high", "decision", "reason")
# What is planted in `mine`, and what nobody does.
HARMS = {
    "counterfactuals": "mine gives 'Nurse' more often as a face is made more masculine (0% at the feminine end, 83% at the masculine): ",
    "search": "mine amplifies the gender of the query beyond a perfect ranking",
    "associations": "mine ties men's names to career words and women's names to family words",
    "contexts": "mine names another gender than people's own in more than 5% of pictures",
    "captions": "mine describes people by a word of another group of gender in more than 5.0% of images",
}


@dataclass(frozen=True)
class Printed:
    """A study audited by the command line: its folder, what it printed and what it wrote."""

    stem: str
    folder: Path
    lines: list[str]
    written: dict[str, Any]  # of all systems
    alone: dict[str, Any]  # of the first system by itself

    def rows_of_mine(self, written: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Return what was decided of the first system; what compares it with another needs that one."""
        others = {row["system"] for row in self.written["results"]}
        rows = [row for row in written["results"] if row["system"] == "mine"]
        own = [row for row in rows if not {row["versus"], row.get("against")} & others]
        return [tuple(row[name] for name in DECIDED) for row in own]


def audited(folder: Path, study: dict[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    """Run a study by the command line; return its results.json and the lines it said."""
    (folder / "study.toml").write_text(tomli_w.dumps(study))
    said = io.StringIO()
    with (
        contextlib.redirect_stderr(said),
        contextlib.redirect_stdout(io.StringIO()),
        pytest.raises(SystemExit) as ended,
    ):
        main(["audit", str(folder / "study.toml"), "--out", str(folder / name), "--quiet"])
    assert not ended.value.code, said.getvalue()
    written = dict(json.loads((folder / name / "results.json").read_text()))
    return written, [line for line in said.getvalue().splitlines() if " with your rights" not in line]


@pytest.fixture(scope="module", params=STUDIES)
def printed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        own, systems = STUDIES[request.param](folder)
        study = {"name": "printed", "audit": request.param, request.param: own}
        alone, _ = audited(folder, {**study, "systems": systems[:1]}, "alone")
        written, lines = audited(folder, {**study, "systems": systems}, "run")
        yield Printed(request.param, folder, lines, written, alone)


def test_a_planted_harm_is_found_alone_and_in_company(printed: Printed) -> None:
    for written in (printed.alone, printed.written):
        found = [one["sentence"] for one in written["findings"] if one["decision"] == "found"]
        assert any(one.startswith(HARMS[printed.stem]) for one in found), found
        yes = [one["question"] for one in written["answers"] if one["system"] == "mine" and one["answer"] == "yes"]
        assert yes
    decisions = {row["decision"] for row in printed.written["results"]}
    assert "found" in decisions and decisions & {"not found", "not tested"}


def test_company_changes_no_decision(printed: Printed) -> None:
    assert len({row["system"] for row in printed.written["results"]}) > 1
    assert printed.rows_of_mine(printed.written) == printed.rows_of_mine(printed.alone)


def test_every_row_agrees_with_its_p_and_every_sentence_with_its_row(printed: Printed) -> None:
    rows = pl.DataFrame(printed.written["results"], infer_schema_length=None)
    assert rows["p"].drop_nulls().len() > 3
    assert not list(row_faults(rows))
    section = read_section(Run(printed.folder / "run"))
    assert not faults(section.audit, section.measured, section.findings, section.conclusions)


def test_a_fact_has_the_same_words_in_terminal_file_page_and_notebook(printed: Printed) -> None:
    answers, findings = printed.written["answers"], printed.written["findings"]
    assert printed.lines[: len(answers)] == [one["sentence"] for one in answers]
    told = [f"{one['decision']}: {one['sentence']}" for one in findings[:MOST_SAID]]
    assert printed.lines[len(answers) : len(answers) + len(told)] == told
    run = portrayal.Run(printed.folder / "run")
    assert run.findings == findings and run.conclusions == answers
    page, notebook = plain((printed.folder / "run" / "report.html").read_text()), plain(run._repr_html_())
    for one in findings:
        assert plain(html.escape(one["sentence"])) in page
        assert plain(html.escape(f"{one['decision']}: {one['sentence']}")) in notebook
    for one in answers:
        assert all(plain(html.escape(one[part])) in page for part in ("text", "figures"))
        assert plain(html.escape(one["sentence"])) in notebook


def plain(text: str) -> str:
    """Return HTML as it is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\u00a0", " ").split())
