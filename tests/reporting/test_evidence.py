"""Every row leads to the answers behind it, in a file beside the page."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from portrayal.reporting.answers.behind import Bases
from portrayal.reporting.page.evidence import MOST_ANSWERS, trace
from portrayal.reporting.page.files import write_report
from portrayal.reporting.page.page import row_pages
from portrayal.study.audit import Evidence, Finding, Measured, basis_of
from portrayal.tables import results
from reporting.factory import NASTY, make_section
from reporting.reader import read

ROW = {"audit": "contexts", "measure": "share", "value": 0.1, "low": 0.0, "high": 0.2, "n": 5, "unit": "share"}


def section_with_answers(size: int = 240):
    """Return a section of 240 pictures (80 a gender) that two systems were asked about; A says 'nurse' to every third."""
    section = make_section("contexts", systems=("A", "B"), with_charts=False)
    stimuli = section.stimuli.head(size)
    answers = pl.DataFrame(
        [
            {
                "system": system,
                "stimulus": name,
                "repeat": 0,
                "status": "answered",
                "reason": None,
                "texts": ["nurse" if number % 3 == 0 else "a person", NASTY],
                "scores": [0.9, None],
            }
            for system in ("A", "B")
            for number, name in enumerate(stimuli["stimulus"])
        ],
        schema_overrides={"reason": pl.String, "texts": pl.List(pl.String), "scores": pl.List(pl.Float64)},
    )
    rows = results(
        [
            {**ROW, "system": "A", "group": "woman"},
            {**ROW, "system": "B", "group": "woman"},
            {**ROW, "system": "A", "group": "woman", "measure": "another"},
            {**ROW, "system": "all of them"},
        ]
    )
    said = [Finding("A calls women nurses.", 0)]
    audit = replace(section.audit, basis=lambda row, evidence, settings: basis_of(row, {"group": "gender"}))
    bases = Bases(audit, None, Evidence(stimuli, answers))
    return replace(section, stimuli=stimuli, answers=answers, measured=Measured(rows), findings=said, bases=bases)


def test_rows_that_stand_on_the_same_answers_share_a_page_of_them():
    traced = trace(section_with_answers())
    assert traced.addresses() == [
        "contexts-answers-1.html",
        "contexts-answers-2.html",
        "contexts-answers-1.html",
        "contexts-answers-3.html",
    ]


def test_the_answers_behind_a_row_are_those_of_its_system_and_group():
    pages = dict(row_pages(trace(section_with_answers())))
    page = read(pages["contexts-answers-1.html"])
    assert page.find("h1")[0].text.endswith(": 80 answers")  # 240 pictures, a third of women
    rows = [[cell.text for cell in row.find("td")] for row in page.find("tr")[1:]]
    assert len(rows) == MOST_ANSWERS  # 80 is more than a page has: every second one
    assert {row[0] for row in rows} == {"A"}
    assert "row 1, row 3" in page.text
    assert "40 of 80, evenly spread" in page.text
    assert page.find("script") == [] and "<script>window.__ran" in page.text
    everybody = read(pages["contexts-answers-3.html"])
    assert everybody.find("h1")[0].text.endswith(": 0 answers")  # a row of no system rests on nobody's answers


def test_every_address_of_a_row_is_a_file_and_the_table_has_every_answer(tmp_path):
    section = section_with_answers()
    page = read(write_report(tmp_path, [section], "t").read_text())
    rows = read((tmp_path / "rows" / "contexts.html").read_text())
    linked = [link.attributes["href"] for link in rows.find("a") if "answers-" in link.attributes["href"]]
    assert len(linked) == section.measured.results.height
    assert all((tmp_path / "rows" / name).is_file() for name in linked)
    cited = [link.attributes["href"] for link in page.find("a") if "-answers-" in link.attributes["href"]]
    assert cited == ["rows/contexts-answers-1.html"]
    table = pl.read_parquet(tmp_path / "rows" / "contexts-answers.parquet")
    assert table.height == 480
    assert pl.read_csv(tmp_path / "rows" / "contexts-answers.csv").height == 480
    assert table.filter(system="A", gender="woman")["read"].str.contains("nurse").sum() == 80


def test_a_run_that_keeps_no_answers_has_rows_and_no_dead_link(tmp_path):
    section = replace(section_with_answers(), answers=None)
    write_report(tmp_path, [section], "t")
    assert [path.name for path in (tmp_path / "rows").iterdir()] == ["contexts.html"]
    assert "answers" not in (tmp_path / "rows" / "contexts.html").read_text().partition("<body>")[2].replace(
        "the answers behind", ""
    )


def test_pictures_are_named_and_never_shown_beside_answers():
    pages = dict(row_pages(trace(section_with_answers(12))))
    assert not any("/secret/" in text or "<img" in text for text in pages.values())
