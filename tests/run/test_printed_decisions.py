"""Decisions as the command line prints them and writes them down: one test behind each, whoever else is asked."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import portrayal
from audits.counterfactuals.test_counterfactuals import make_folder
from portrayal.cli.main import main

TAGGERS = """
import re


def shown(path):
    person, value = re.search(r"person(\\d+)_gender_([+-]\\d+[.]\\d+)", str(path)).groups()
    return int(person), float(value)


def rare(path):
    person, value = shown(path)
    return ["Nurse"] if person < (20 if value > 0 else 1 if value == 0 else 0) else []


def other(path):
    person, value = shown(path)
    return [name for place, name in enumerate("abcdefgh") if (person * 7 + round(value * 3) * (place + 3)) % 11 < 5]
"""
STUDY = """
name = "printed"
audit = "counterfactuals"
[counterfactuals]
series = "series"
source = "drawn"
consent = "generated"
age = "30-39"
attributes = ["gender"]
"""
SYSTEM = '[[systems]]\nname = "{name}"\nuse = "python:taggers:{tagger}"\nversion = "{name}"\n'


def audited(folder: Path, systems: dict[str, str]) -> dict[str, Any]:
    """Run a study by the command line and return its results.json."""
    text = STUDY + "".join(SYSTEM.format(name=name, tagger=tagger) for name, tagger in systems.items())
    (folder / "study.toml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(folder / "study.toml"), "--out", str(folder / "run"), "--quiet"])
    assert not ended.value.code
    return dict(json.loads((folder / "run" / "results.json").read_text()))


def test_a_rare_label_is_found_alone_and_in_company_and_every_row_agrees_with_its_p(tmp_path: Path) -> None:
    decisions = []
    for systems in ({"mine": "rare"}, {"mine": "rare", **{f"other {place}": "other" for place in range(5)}}):
        folder = tmp_path / str(len(systems))
        folder.mkdir()
        make_folder(folder)
        (folder / "taggers.py").write_text(TAGGERS)
        found = audited(folder, systems)
        sentences = [one["sentence"] for one in found["findings"] if one["system"] == "mine"]
        assert sentences[0].startswith(
            "mine gives 'Nurse' more often as a face is made more masculine (0% at the feminine end, 83% at the masculine): change per"
        )
        mine = [row for row in found["results"] if row["system"] == "mine"]
        decisions.append([(row["measure"], row["p"], row["p_adjusted"], row["decision"]) for row in mine])
        for row in found["results"]:
            if None not in (row["p"], row["low"], row["high"], row["value"]):
                null = row["null"] or 0.0
                assert (row["low"] > null or row["high"] < null) == (row["p"] < 0.05), row
                assert row["unit"] != "points" or -1 <= row["low"] <= row["high"] <= 1, row
    assert decisions[0] == decisions[1]


def test_a_fact_has_the_same_words_in_terminal_file_page_and_notebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(tmp_path)
    (tmp_path / "taggers.py").write_text(TAGGERS)
    told = audited(tmp_path, {"mine": "rare", "other": "other"})
    printed = [line for line in capsys.readouterr().err.splitlines() if " with your rights" not in line]
    answers, findings = told["answers"], told["findings"]
    assert [(one["system"], one["question"], one["answer"]) for one in answers[:2]] == [
        ("mine", "labels", "yes"),
        ("other", "labels", "no"),
    ]
    assert [one["sentence"] for one in answers] == printed[: len(answers)]
    lines = [f"{one['decision']}: {one['sentence']}" for one in findings[:12]]
    assert printed[len(answers) : len(answers) + len(lines)] == lines
    run = portrayal.Run(tmp_path / "run")
    assert run.findings == findings and run.conclusions == answers
    page = re.sub(r"<[^>]*>", "", (tmp_path / "run" / "report.html").read_text())
    page = " ".join(html.unescape(page).replace("\u00a0", " ").split())
    for words in [
        *(one["sentence"] for one in findings),
        *(one[part] for one in answers for part in ("text", "figures")),
    ]:
        assert " ".join(words.split()) in page, words
    row = told["results"][answers[0]["row"]]
    assert row["decision"] == "found" and row["system"] == "mine"
