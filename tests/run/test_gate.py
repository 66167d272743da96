"""A gate: rules held or broken, by rows, in one line each, with an exit code of its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from typer.testing import CliRunner

import portrayal
from portrayal.cli import app, main
from portrayal.errors import PortrayalError
from portrayal.waves.gate import Rule, as_junit, judge, read_rules

ROWS = pl.DataFrame(
    {
        "system": ["a", "a", "b", "b"],
        "measure": ["slope", "answered", "slope", "answered"],
        "group": [None, None, "women", None],
        "versus": [None, None, "men", None],
        "value": [0.1, 0.99, 0.4, None],
        "low": [-0.1, 0.97, 0.2, None],
        "high": [0.3, 1.0, 0.6, None],
        "decision": ["not found", "not tested", "found", "not measurable"],
    }
)


@pytest.mark.parametrize(
    ("rule", "holds", "reason"),
    [
        ({"never": ["found"]}, False, "b, slope, women, men is found"),
        ({"never": ["found"], "where": {"system": "a"}}, True, ""),
        ({"always": ["found"], "where": {"measure": "slope"}}, False, "a, slope is not found"),
        ({"value_least": 0.95, "where": {"measure": "answered"}}, False, "b, answered has no value"),
        ({"value_least": 0.95, "where": {"measure": "answered", "system": "a"}}, True, ""),
        ({"value_least": 0.99, "where": {"measure": "answered", "system": "a"}}, True, ""),  # inclusive
        ({"high_most": 0.5, "where": {"measure": "slope"}}, False, "b, slope, women, men has high 0.6, over 0.5"),
        (
            {"low_least": 0.0, "where": {"system": ["a", "b"], "measure": "slope"}},
            False,
            "a, slope has low -0.1, under 0",
        ),
        ({"never": ["found"], "where": {"system": "c"}}, False, "no row of the results answers to it"),
        ({"never": ["found"], "where": {"system": "c"}, "may_be_absent": True}, True, ""),
    ],
)
def test_a_rule_holds_or_says_what_broke_it(rule: dict, holds: bool, reason: str) -> None:
    verdict = judge(Rule(name="rule", **rule), ROWS)
    assert (verdict.holds, verdict.reason) == (holds, reason)


def test_many_broken_rows_are_counted() -> None:
    many = pl.concat([ROWS.filter(pl.col("decision") == "found")] * 10)
    verdict = judge(Rule(name="r", never=["found"]), many)
    assert verdict.reason.endswith(" and 7 more")
    assert verdict.line().startswith("BROKEN: r (10 rows): b, slope, women, men is found; ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lacks the key 'rules'"),
        ("[[rules]]\nname = 'a'", "rule 'a' asks for nothing"),
        ("[[rules]]\nname = 'a'\nnever = ['fond']", "no decision 'fond'. Did you mean 'found'?"),
        ("[[rules]]\nname = 'a'\nnevr = ['found']", "unknown key 'rules.0.nevr'"),
        ("rules = 3", "Input should be a valid list"),
        ("[[", "cannot be read as the rules of a gate"),
    ],
)
def test_rules_that_are_none_are_said_to_be_so(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "gate.toml").write_text(text)
    with pytest.raises(PortrayalError, match=message.replace("[", r"\[").replace("?", r"\?")):
        read_rules(tmp_path / "gate.toml")


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(PortrayalError, match="no column of the results 'sytem'. Did you mean 'system'"):
        judge(Rule(name="a", where={"sytem": "a"}, never=["found"]), ROWS)


def test_junit_is_xml_whatever_systems_are_called() -> None:
    strange = ROWS.with_columns(system=pl.lit('<b>&"\x07\x1b'))
    verdicts = [
        judge(Rule(name="r <&>", never=["found"]), strange),
        judge(Rule(name="s", never=[], value_most=9), ROWS.head(1)),
    ]
    suite = ElementTree.fromstring(as_junit(verdicts))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["r <&>", "s"]
    assert '<b>&"' in suite[0][0].get("message")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate") / "run"
    portrayal.audit(portrayal.example_study(), folder, quiet=True)
    return folder


def test_the_command_prints_a_line_a_rule_and_ends_with_3(run: Path, tmp_path: Path) -> None:
    rules, report = tmp_path / "gate.toml", tmp_path / "junit.xml"
    rules.write_text(
        '[[rules]]\nname = "nothing found"\nnever = ["found"]\n[[rules]]\nname = "large"\nwhere = {measure = "eat"}\nvalue_least = 9\n'
    )
    ended = CliRunner().invoke(app, ["gate", str(run), "--rules", str(rules), "--junit", str(report)])
    assert ended.exit_code == 3
    first, second = ended.stdout.strip().splitlines()
    assert first == "held: nothing found (2 rows)"
    assert second.startswith("BROKEN: large (1 row): simulated, eat")
    assert ElementTree.parse(report).getroot().get("failures") == "1"


def test_a_run_that_was_not_measured_is_an_error_of_two(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gate.toml").write_text('[[rules]]\nname = "a"\nnever = ["found"]')
    with pytest.raises(SystemExit) as ended:
        main(["gate", str(tmp_path), "--rules", str(tmp_path / "gate.toml")])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_the_example_workflow_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).parents[2] / "examples" / "gate"
    steps = re.findall(r"^ +- run: portrayal (.*)$", (example / "workflow.yml").read_text(), re.M)
    assert [step.split()[0] for step in steps] == ["audit", "gate", "pack"]
    shutil.copy(portrayal.example_study(), tmp_path / "study.toml")
    shutil.copy(example / "gate.toml", tmp_path / "gate.toml")
    monkeypatch.chdir(tmp_path)
    for step in steps:
        done = CliRunner().invoke(app, step.split())
        assert (step, done.exit_code) == (step, 0)
    cases = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert len(list(cases)) == 3
    for left in ("run/report.html", "run.zip", "junit.xml"):
        assert (tmp_path / left).is_file()
