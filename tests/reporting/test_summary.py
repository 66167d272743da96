"""The report in short, and its tables described for machines."""

from __future__ import annotations

import hashlib
import json

import polars as pl

from portrayal.reporting.page.files import write_report
from portrayal.reporting.page.first import summary
from reporting.factory import NASTY, five_sections, make_section, nasty_section


def test_the_summary_says_who_was_asked_what_was_found_and_what_it_does_not_show():
    section = make_section(with_charts=False, warnings=("A check failed.",))
    text = summary([section], "One audit")
    assert text.startswith("# One audit\n\n- **What was asked**: 1 audit: 480 questions")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# One audit",
        "## Read this first",
        f"## {section.audit.title}: associations-demo",
        "### Found",
        "### What it does not show",
        "## Files",
    ]
    assert "A check failed." in text
    assert section.audit.validity[0] in text.replace("\\", "")


def test_text_from_outside_is_no_markdown():
    text = summary([nasty_section()], NASTY)
    assert "<script>" not in text
    assert "\\<script\\>" in text
    assert "\x00" not in text


def test_croissant_describes_every_table_with_its_hash_and_columns(tmp_path):
    write_report(tmp_path, five_sections(), "Five audits")
    told = json.loads((tmp_path / "croissant.json").read_text())
    # What the specification of Croissant 1.0 asks of a dataset.
    assert told["@type"] == "sc:Dataset" and told["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert all(told[name] for name in ("@context", "name", "description", "license", "url", "creator", "datePublished"))
    files = {one["@id"]: one for one in told["distribution"]}
    assert set(files) == {"results.csv", *(f"tables/{path.name}" for path in (tmp_path / "tables").glob("*.csv"))}
    for name, one in files.items():
        assert one["@type"] == "cr:FileObject" and one["encodingFormat"] == "text/csv"
        assert one["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    for records in told["recordSet"]:
        named = [field["source"]["extract"]["column"] for field in records["field"]]
        (file,) = {field["source"]["fileObject"]["@id"] for field in records["field"]}
        assert named == pl.read_csv(tmp_path / file, infer_schema=False).columns
    assert not any(" " in field["@id"] for records in told["recordSet"] for field in records["field"])
    kinds = {field["name"]: field["dataType"] for field in told["recordSet"][0]["field"]}
    assert (kinds["value"], kinds["n"], kinds["system"]) == ("sc:Float", "sc:Integer", "sc:Text")
    assert told["datePublished"] == "2026-01-05"  # the last day on which answers were recorded
