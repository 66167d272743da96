"""Studies and systems as Python hands them over: paths, dicts, Study objects, functions."""

from __future__ import annotations

import asyncio
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.study.study_file import read_any_study, toml_text

WORDS = {"name": "words", "audit": "associations", "associations": {"tests": ["weat6"], "variants": []}}
STUDIES = [study for stem in (*AUDITS, *EXPERIMENTS) for study in get_audit(stem).demo]


def embed(word: str) -> list[float]:
    return [float(len(word)), float(word.count("a")), 1.0]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_object_is_kept_as_toml_that_reads_back_the_same(path: Path) -> None:
    study = portrayal.read_study(path)
    given = read_any_study(study)
    assert given.study == study
    assert portrayal.make_study(tomllib.loads(given.text), study.folder) == study


@pytest.mark.parametrize(
    "data",
    [
        {"text": 'a "quote"\n\t\\ and \x7f, é, 日本'},
        {"a.b c": {"": [1, 2.5, True, "x"]}, "empty": [], "none": {}},
        {"mixed": [1, {"inner": "x"}], "tables": [{"a": 1}, {"b": {"c": [[1], [2]]}}]},
        {"large": 1e300, "small": -1e-300, "whole": 10**15},
    ],
)
def test_toml_reads_back_as_the_data(data: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(data)) == data


def test_what_a_study_cannot_keep_is_told() -> None:
    with pytest.raises(portrayal.PortrayalError, match="associations.tests is a set"):
        toml_text({"associations": {"tests": {"weat6"}}})


def test_functions_dicts_and_the_studys_own_systems_stand_together(tmp_path: Path) -> None:
    run = portrayal.audit(
        portrayal.example_study(),
        tmp_path / "run",
        quiet=True,
        systems={"mine": embed, "other": {"use": "phantom:associations", "parameters": {"d": 1.0}}},
    )
    assert sorted(run.results["system"].unique()) == ["mine", "other", "simulated"]
    kept = tomllib.loads((tmp_path / "run" / "study.toml").read_text())
    assert [system["use"] for system in kept["systems"]] == [
        "phantom:associations",
        "function:mine",
        "phantom:associations",
    ]


def test_an_async_function_and_a_running_loop(tmp_path: Path) -> None:
    async def slow(word: str) -> list[float]:
        await asyncio.sleep(0)
        return embed(word)

    async def cell() -> portrayal.Run:
        return portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems={"mine": slow})

    run = asyncio.run(cell())
    assert run.answers.height == 32
    assert "<li>" in run._repr_html_()


def test_measuring_needs_no_function_and_recording_says_that_it_does(tmp_path: Path, monkeypatch) -> None:
    from portrayal.systems.plugins import python_function

    folder = tmp_path / "run"
    portrayal.audit(WORDS, folder, quiet=True, systems={"mine": embed})
    monkeypatch.setattr(python_function, "_FUNCTIONS", {})
    assert portrayal.measure(folder).results.height == 2
    with pytest.raises(portrayal.PortrayalError, match="handed over in Python"):
        portrayal.retry(folder, quiet=True)


def test_an_edited_function_is_never_mixed_with_the_one_that_answered(tmp_path: Path) -> None:
    more = {**WORDS, "associations": {"tests": ["weat6", "weat7"], "variants": []}}
    portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems={"mine": embed})
    with pytest.raises(portrayal.PortrayalError, match="the source of 'function:mine' changed"):
        portrayal.audit(more, tmp_path / "run", quiet=True, systems={"mine": lambda word: [1.0, len(word)]})


@pytest.mark.parametrize(
    ("study", "systems", "said"),
    [
        (7, None, "the study is a int. Expected the path"),
        (WORDS, {"mine": 7}, "system 'mine' is a int. Expected a function"),
        (WORDS, None, "systems"),
        ({**WORDS, "systems": "glove"}, None, "systems"),
        ("nowhere.toml", {"mine": embed}, "no study file at nowhere.toml"),
    ],
)
def test_what_is_no_study_or_system_is_told_in_one_line(study: Any, systems: Any, said: str) -> None:
    with pytest.raises(portrayal.PortrayalError, match=said) as told:
        read_any_study(study, systems)
    assert "\n" not in str(told.value)


def test_a_run_shows_itself_with_every_text_inert(tmp_path: Path) -> None:
    hostile = {"<script>alert(1)</script>": embed}
    run = portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems=hostile)
    shown = run._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert run.findings[0]["sentence"]
    assert Path(run) == run.report
    assert set(run.charts)
    table = run.to_pandas()
    assert list(table.columns) == run.results.columns
    assert table["n"].tolist() == run.results["n"].to_list()


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function after which these packages cannot be imported."""

    def forget(*packages: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in packages:
                monkeypatch.delitem(sys.modules, name)
        for package in packages:
            monkeypatch.setitem(sys.modules, package, None)

    return forget


def test_to_pandas_needs_pandas_alone(tmp_path: Path, without: Callable[..., None]) -> None:
    import pandas

    run = portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems={"mine": embed})
    without("pyarrow")
    for table in (run.to_pandas(), run.results.to_pandas(), run.results.head(2).to_pandas()):
        assert isinstance(table, pandas.DataFrame)
        assert table["measure"].tolist() == run.results["measure"].to_list()[: len(table)]
    assert len(run.results.to_pandas()) == run.results.height


def test_without_pandas_to_pandas_says_so_in_one_line(tmp_path: Path, without: Callable[..., None]) -> None:
    run = portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems={"mine": embed})
    without("pandas")
    with pytest.raises(portrayal.PortrayalError, match=r"needs pandas.*pip install pandas") as told:
        run.to_pandas()
    assert "\n" not in str(told.value)


def test_a_cell_of_a_notebook_audits_functions_of_both_kinds_beside_its_own_loop(tmp_path: Path) -> None:
    async def slow(word: str) -> list[float]:
        await asyncio.sleep(0)
        return embed(word)

    async def cell() -> portrayal.Run:
        return portrayal.audit(WORDS, tmp_path / "run", quiet=True, systems={"quick": embed, "slow": slow})

    run = asyncio.run(cell())
    values = dict(run.results.filter(measure="eat").select("system", "value").rows())
    assert values["quick"] == values["slow"]
    assert set(run.answers["status"]) == {"answered"}
