"""The wording rules of docs/how_we_write_about_harm.md, over all that the package says."""

from __future__ import annotations

from pathlib import Path

import pytest

from portrayal.reporting.page.page import render
from portrayal.study.registry import AUDITS, get_audit
from reporting.factory import five_sections
from reporting.wording import claims, faults

ROOT = Path(__file__).parents[2]
PROSE = (".md", ".html")  # code and studies may name a published variant "debiased"; text must say what was left
# The two that have to name the words in order to forbid them.
NAMING = {ROOT / "docs" / "how_we_write_about_harm.md", ROOT / "tests" / "reporting" / "wording.py"}


def spoken_files() -> list[Path]:
    """Return the files whose words reach a reader."""
    kinds = {".py", ".html", ".css", ".toml", ".md"}
    folders = ("src", "docs", "examples", "benchmarks")
    inside = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    return sorted({*inside, *ROOT.glob("*.md")} - NAMING)


def passages(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n\n")


def test_the_scan_reads_what_it_should():
    names = {path.name for path in spoken_files()}
    assert {"section.html", "reading.html", "views.py", "base.py", "reading_a_report.md"} <= names


def test_no_file_uses_a_word_we_do_not_use():
    found = [
        f"{path.relative_to(ROOT)}: {fault}"
        for path in spoken_files()
        for passage in passages(path)
        for fault in (faults if path.suffix in PROSE else claims)(passage)
    ]
    assert found == []


@pytest.mark.parametrize("stem", AUDITS)
def test_what_an_audit_says_of_itself(stem):
    audit = get_audit(stem)
    assert audit.validity, "an audit says what its numbers do not say"
    for sentence in (audit.title, audit.question, *audit.validity):
        assert faults(sentence) == []
    assert audit.question.endswith("?")


def test_a_rendered_report_keeps_to_the_rules():
    assert faults(render(five_sections()[:1], "One")) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("the system is unbiased", 1),
        ("Unbiased and bias-free", 2),
        ("a tagger free of bias", 1),
        ("the debiased vectors", 1),
        ("the de-biased vectors rank men first", 1),
        ("in the debiased vectors 0.31 of 0.44 is left", 0),
        ("a method that debiases", 0),
        ("biased", 0),
    ],
)
def test_each_rule_by_example(text, wrong):
    assert len(faults(text)) == wrong


def test_the_page_on_wording_names_each_word_it_forbids():
    page = (ROOT / "docs" / "how_we_write_about_harm.md").read_text(encoding="utf-8")
    assert len(faults(page)) >= 3
