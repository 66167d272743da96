"""Nothing is undocumented: commands and their options, settings of studies, systems and their parameters, measures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from scripts.calibration_pages import BEGIN, END, page_of

from documentation.pages import DOCS, ROOT, STEMS, code_in, first_cells, pages_of, table_rows, text_of
from portrayal.cli import app
from portrayal.errors import PortrayalError
from portrayal.settings import Settings, _inner_model
from portrayal.study.registry import AUDITS, CALIBRATIONS, EXPERIMENTS, get_audit
from portrayal.study.study import Family, Hypothesis, Study
from portrayal.systems.core.base import KINDS
from portrayal.systems.core.registry import PHANTOMS, SCHEMES, SYSTEMS, open_system
from portrayal.systems.core.settings import LimitSettings, SystemSettings
from portrayal.systems.http.vendor import Vendor
from portrayal.waves.gate import Rule
from portrayal_rankers.registry import RANKERS

COMMANDS = "docs/commands.md"
SET_BY_US = {"settings", "folder", "hypotheses_late"}  # fields of a study that no file has
ANY_PARAMETERS = ("python", "function", "command", "run")  # what a study names goes to the function as it is


def commands(group: Any = None, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command of the command line by its whole name."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def options(command: Any) -> set[str]:
    """Return the options of a command by their long names."""
    named = [name for one in command.params for name in (*one.opts, *one.secondary_opts)]
    return {name for name in named if name.startswith("--")}


def command_row(name: str) -> str:
    """Return what a command's row says of how it is called."""
    rows = [cells[0] for cells in table_rows(COMMANDS) if cells[0].startswith(f"`portrayal {name}")]
    exact = [row for row in rows if re.match(rf"`portrayal {name}(?![\w-])", row)]
    assert len(exact) == 1, f"{COMMANDS} has {len(exact)} rows for `portrayal {name}`"
    return exact[0]


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=[name for name, _ in commands()])
def test_a_command_has_its_row_with_all_its_options_and_no_others(name: str, command: Any) -> None:
    told = set(re.findall(r"--[a-z][a-z0-9-]*", command_row(name)))
    assert told == options(command)


def test_no_row_is_about_a_command_that_is_not_there() -> None:
    rows = [cells[0] for cells in table_rows(COMMANDS) if cells[0].startswith("`portrayal ")]
    assert len(rows) == len(list(commands()))


def settings_of(model: type[Settings]) -> Iterator[str]:
    """Yield the names of settings, those of tables inside included."""
    for name, field in model.model_fields.items():
        yield name
        inner = _inner_model(field.annotation)
        if inner and issubclass(inner, Settings):
            yield from settings_of(inner)


@pytest.mark.parametrize("stem", [*AUDITS, *EXPERIMENTS])
def test_a_setting_of_an_audit_stands_in_a_table_of_its_pages(stem: str) -> None:
    told = {name for page in pages_of(stem) for name in first_cells(page)}
    assert set(settings_of(get_audit(stem).settings)) - told == set()


def test_the_keys_of_a_study_stand_in_tables() -> None:
    page = "docs/studies.md"
    dotted = {f"family.{name}" for name in Family.model_fields} | {
        f"hypotheses.{name}" for name in Hypothesis.model_fields
    }
    wanted = (set(Study.model_fields) - SET_BY_US) | set(SystemSettings.model_fields) | dotted
    assert wanted - first_cells(page) == set()
    assert set(LimitSettings.model_fields) - first_cells("docs/systems.md") == set()
    assert set(Rule.model_fields) - first_cells("docs/gate.md") == set()


def uses() -> list[str]:
    """Return every way to write `use`, with an example of a file or address where one is needed."""
    shown = {"http": "http://localhost", "https": "https://localhost", "replay": "replay:answers.csv"}
    schemes = [shown.get(scheme, f"{scheme}:one:two") for scheme in SCHEMES if scheme != "phantom"]
    return [*SYSTEMS, *schemes, *(f"phantom:{name}" for name in PHANTOMS)]


def row_of(use: str) -> list[str]:
    """Return the row of the overview that names a system, by its name or by its scheme."""
    scheme = use.partition(":")[0]
    for cells in table_rows("docs/systems.md"):
        named = code_in(cells[0])
        if use in named or any(one.startswith(f"{scheme}:") for one in named if ":" in use):
            return cells
    raise AssertionError(f"docs/systems.md has no row for {use!r}")


class Asked(Exception):
    """Carries the settings that a system reads its parameters as."""


def parameters_of(use: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return every parameter a system knows."""
    scheme, name = use.partition(":")[0], use if use in SYSTEMS else ""
    if scheme in ANY_PARAMETERS:
        return set()
    if name in RANKERS:
        return {"collection", "depth", *RANKERS[name].settings.model_fields}
    entry = SYSTEMS[name] if name else SCHEMES[scheme]
    read = _settings_read(use, KINDS[0] if entry.kind == "any" else entry.kind, folder, monkeypatch)
    return read or _known_to_vendor(import_module(entry.module), name)


def _known_to_vendor(module: Any, name: str) -> set[str]:
    """Return the parameters of a service that checks them by itself."""
    for value in vars(module).values():
        if isinstance(value, Vendor) and value.name == name:
            return {*value.defaults, *value.optional, "recorded"}
    return set(module.DEFAULTS)


def _settings_read(use: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Open a system and catch the class that its parameters are validated as, where there is one."""
    asked = SystemSettings(name="any", use=use)
    (folder / "answers.csv").write_text("stimulus,tag\na,b\n")

    def catch(model: type[Settings], data: Any) -> None:
        raise Asked(model)

    with monkeypatch.context() as patched:
        patched.setattr(Settings, "model_validate", classmethod(catch))
        try:
            open_system(asked, folder, kind)
        except Asked as caught:
            return set(caught.args[0].model_fields)
        except PortrayalError:  # it lacks a file or a model before anything is validated
            return set()
    return set()


@pytest.mark.parametrize("use", uses())
def test_a_system_is_in_the_overview_and_its_page_has_its_parameters(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = re.findall(r"\]\(([\w/]+\.md)\)", row_of(use)[2])
    text = "".join(text_of(f"docs/{link}") for link in links)
    assert f"{use.partition(':')[0]}:" in text if ":" in use else use in code_in(text) | quoted(text)
    rows = [cells for link in links for cells in table_rows(f"docs/{link}")]
    told = {name for cells in rows for cell in cells for name in code_in(cell)}
    assert parameters_of(use, tmp_path, monkeypatch) - told == set()


def quoted(text: str) -> set[str]:
    """Return what a text says after `use =`."""
    return set(re.findall(r'use = "([^"]+)"', text))


def literal_texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression is for certain: a constant, `pl.lit(...)`, either side of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "lit":
        yield from (text for one in node.args for text in literal_texts(one))
    elif isinstance(node, ast.IfExp):
        yield from (text for side in (node.body, node.orelse) for text in literal_texts(side))


def measures_in_code(folder: Path) -> set[str]:
    """Return the measures that the code of an audit names where it makes a row."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "measure":
                found.update(literal_texts(node.value))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "row" and node.args:
                found.update(text for text in literal_texts(node.args[0]) if text)
    return found


def measures_of(stem: str) -> set[str]:
    """Return the measures of an audit: those its small study of the properties gives, declares or names."""
    study, evidence = import_module(f"properties.case_{stem.replace('/', '_')}").case()
    audit = get_audit(stem)
    rows = audit.measure(evidence, study.settings).results
    return {*rows["measure"].unique(), *audit.family, *audit.names}


@pytest.mark.parametrize("stem", [*AUDITS, *EXPERIMENTS])
def test_a_measure_is_named_on_its_pages(stem: str) -> None:
    told = {name for page in pages_of(stem) for name in code_in(text_of(page))}
    assert measures_of(stem) - told == set()


@pytest.mark.parametrize("stem", STEMS)
def test_a_measure_that_code_makes_a_row_of_is_named_on_a_page_of_its_stem(stem: str) -> None:
    told = {name for page in pages_of(stem) for name in code_in(text_of(page))}
    assert measures_in_code(ROOT / "src" / "portrayal" / "audits" / stem) - told == set()


@pytest.mark.parametrize("stem", list(CALIBRATIONS))
def test_a_calibration_has_a_page_of_its_audit_with_the_lines_it_writes_between(stem: str) -> None:
    page = page_of(DOCS, stem)
    assert page.relative_to(ROOT).as_posix() in [one for audit in STEMS for one in pages_of(audit)]
    assert [page.read_text(encoding="utf-8").count(mark) for mark in (BEGIN, END)] == [1, 1]


def test_what_every_audit_measures_is_named() -> None:
    from portrayal.run.silence import ANSWERED, DIFFERENCE, UNANSWERED

    assert {ANSWERED, DIFFERENCE, UNANSWERED} <= code_in(text_of("docs/decisions.md"))
