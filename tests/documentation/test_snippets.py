"""Every snippet runs as it is printed, or, where it needs what is not here, is held against what would read it."""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from documentation.pages import Block, blocks, page_names, text_of
from documentation.session import run_console, shell_folder
from documentation.test_everything_is_documented import commands, options
from portrayal.errors import PortrayalError
from portrayal.settings import Settings, validate
from portrayal.study.registry import get_audit
from portrayal.study.study import Family, Hypothesis
from portrayal.study.study_file import make_study
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.waves.gate import Rules

EVERY = [block for page in page_names() for block in blocks(page)]
SHOWN_ONLY = {"json", "yaml", "sh", "bibtex", "text"}  # looked at elsewhere, or no language of ours
SESSIONS = sorted({block.page for block in EVERY if block.language == "console" and not block.why_not})
# The page of the public names runs with them, in tests/test_public_names.py.
DOCTESTS = sorted({block.page for block in EVERY if block.language == "pycon"} - {"docs/python.md"})
QUOTING = ("docs/captions.md", "docs/contexts.md")  # pages that quote the report on their worked example


def of(*languages: str) -> list[Any]:
    return [pytest.param(block, id=str(block)) for block in EVERY if block.language in languages]


def test_every_block_has_a_language_that_is_checked() -> None:
    known = {"python", "pycon", "toml", "console", *SHOWN_ONLY}
    assert {str(block): block.language for block in EVERY if block.language not in known} == {}
    bare = [page for page in page_names() if re.search(r"^```\n(?=\S)", _opening(text_of(page)), re.MULTILINE)]
    assert bare == []


def _opening(text: str) -> str:
    """Return a text without its fenced blocks that name a language."""
    return re.sub(r"^```\w+.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", SESSIONS)
def test_a_page_runs_from_top_to_bottom_in_an_empty_folder(page: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    programs = shell_folder(tmp_path / "programs")
    for block in blocks(page):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
        elif block.language == "console" and not block.why_not:
            run_console(block, folder, programs)


@pytest.mark.parametrize("page", DOCTESTS)
def test_the_examples_of_a_page_give_what_it_prints(page: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(block.text for block in blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    assert "".join(said) == ""
    if page in QUOTING:
        sentences = [finding["sentence"] for finding in test.globs["run"].findings]
        quotes = re.findall(r"^> (.+)$", text_of(page), re.MULTILINE)
        assert quotes
        assert [quote for quote in quotes if not any(one.startswith(quote) for one in sentences)] == []


@pytest.mark.parametrize("block", of("python"))
def test_python_runs_or_at_least_imports_what_it_names(block: Block, tmp_path: Path, monkeypatch: Any) -> None:
    tree = ast.parse(block.text)
    if not block.title and not block.why_not:
        monkeypatch.chdir(tmp_path)
        exec(compile(tree, str(block), "exec"), {"__name__": "snippet"})
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert all(is_there(str(node.module), name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            assert all(import_module(name.name) for name in node.names)


def is_there(module: str, name: str) -> bool:
    """Return whether a module has a name, or a module of that name."""
    return hasattr(import_module(module), name) or bool(import_module(f"{module}.{name}"))


@pytest.mark.parametrize("block", of("toml"))
def test_toml_is_a_study_rules_or_a_part_of_them(block: Block) -> None:
    data = tomllib.loads(block.text)
    if "audit" in data and "systems" in data:
        make_study(data)
        check_parameters(data)
    elif "rules" in data:
        validate(Rules, data, str(block))
    elif "project" not in data:
        check_part(data, str(block))


def check_parameters(data: dict[str, Any]) -> None:
    """Open the systems of a study; files and keys that are not here may be missed, names may not."""
    for one in data["systems"]:
        try:
            open_system(SystemSettings(**one), Path("nowhere"), get_audit(data["audit"]).kind)
        except PortrayalError as error:
            assert not re.search("unknown|no system|This audit asks", str(error)), error


def check_part(data: dict[str, Any], where: str) -> None:
    """Check the tables of a study that are shown alone."""
    tables: dict[str, type[Settings]] = {"systems": SystemSettings, "hypotheses": Hypothesis, "family": Family}
    for key, value in data.items():
        if key in tables:
            for one in value if isinstance(value, list) else [value]:
                validate(tables[key], one, where)
        else:
            validate(get_audit(key).settings, value, where)


def command_lines() -> list[tuple[str, str]]:
    """Return every line of a page that calls us: in blocks, indented, and between backticks."""
    found = []
    for page in page_names():
        text = text_of(page).replace("\\\n", " ")  # a line that goes on in the next
        lines = re.findall(r"^(?: {4}|\$ |- run: )?(portrayal [^\n`]*)$", text, re.MULTILINE)
        inline = re.findall(r"(?<!`)`(portrayal [^`\n]+)`(?!`)", text)
        found += [(page, line) for line in (*lines, *inline)]
    return found


@pytest.mark.parametrize(("page", "line"), command_lines())
def test_a_command_line_names_a_command_and_options_that_are_there(page: str, line: str) -> None:
    known = dict(commands())
    words = shlex.split(re.sub(r"[\[\]]", " ", line.replace("\\|", " ").replace("|", " ")), comments=True)
    two, one = " ".join(words[1:3]), words[1]
    if one.startswith("--") or one.isupper():  # `portrayal --version`, `portrayal COMMAND --help`
        return
    name = two if two in known else one
    groups = {name.partition(" ")[0] for name in known if " " in name}
    assert name in known or name in groups, f"{page}: {line}"
    asked = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--help"}
    assert asked <= options(known.get(name)) if name in known else not asked, f"{page}: {line}"
