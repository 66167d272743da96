"""The public names: listed, shown, documented, and every example runs; so do those of docs/python.md."""

from __future__ import annotations

import ast
import asyncio
import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import portrayal

ROOT = Path(__file__).parents[1]
NAMES = [name for name in portrayal.__all__ if name != "__version__"]
PAGE = ROOT / "docs" / "python.md"


def failures(text: str, name: str, known: dict[str, Any]) -> str:
    """Run the examples in a text, with nothing but `known` imported for them; return what failed."""
    test = doctest.DocTestParser().get_doctest(text, known, name, name, 0)
    assert test.examples, f"{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def test_dir_shows_the_public_names() -> None:
    assert set(portrayal.__all__) == set(dir(portrayal)) == {"__version__", *portrayal._PUBLIC}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_lives_where_the_list_says_and_is_documented(name: str) -> None:
    found = getattr(portrayal, name)
    assert inspect.isfunction(found) or inspect.isclass(found)
    assert (found.__module__, found.__name__) == (portrayal._PUBLIC[name], name)
    assert "\nExamples\n--------\n" in (inspect.getdoc(found) or "")


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = getattr(portrayal, name)
    assert failures(inspect.getdoc(found) or "", name, {name: found}) == ""
    assert list(tmp_path.iterdir()) == []  # an example leaves nothing behind


def test_the_page_names_each_once_and_its_examples_run(tmp_path: Path, monkeypatch) -> None:
    page = PAGE.read_text()
    assert sorted(re.findall(r"^\| `(\w+)", page, re.MULTILINE)) == sorted(NAMES)
    assert "docs/python.md" in (ROOT / "README.md").read_text()
    monkeypatch.chdir(tmp_path)
    fences = re.compile(r"^```.*$", re.MULTILINE)  # a fence is no output
    assert failures(fences.sub("", page), "docs/python.md", {}) == ""


def test_the_measures_have_the_signatures_of_their_rooms() -> None:
    keyword = "alternative='greater', permutations=None, ddof=1, cluster=None, seed=0"
    assert shown(portrayal.eat) == f"x, y, a, b, *, {keyword}"
    assert shown(portrayal.gsr) == "table, seed=0"


def shown(function: object) -> str:
    """Return the parameters with their defaults, without types."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(bare)).strip("()")


def test_no_room_hides_a_function() -> None:
    rooms = {path.stem for path in (ROOT / "src" / "portrayal").iterdir()}
    assert not rooms & set(NAMES)


def test_type_checkers_are_told_the_same_places() -> None:
    stub = ROOT / "src" / "portrayal" / "__init__.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    imported = [
        (node.module, alias.name, alias.asname)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert imported == sorted((module, name, name) for name, module in portrayal._PUBLIC.items())
    (listed,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert listed == sorted(portrayal.__all__)
    assert (stub.parent / "py.typed").is_file()


SCRIPT = """
import portrayal
from portrayal import Run, audit, example_study, gate, get_audit, make_study, plan_text, read_results, read_study
from portrayal import PortrayalError, verify

run: Run = audit(example_study(), "run", quiet=True)
print(run.results.height, read_results(run.folder).columns, [verdict.holds for verdict in gate(run.folder, "g.toml")])
print(get_audit("search").question, plan_text("study.toml"), verify("run.zip").holds, read_study("a.toml").seed)
try:
    make_study({})
except PortrayalError as error:
    print(error)
portrayal.read_stdy("a.toml")
"""


def test_a_script_is_checked_strictly_and_a_misspelt_name_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "script.py",
    ]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert said.splitlines()[0].startswith('script.py:13: error: Module has no attribute "read_stdy"'), said
    assert "Found 1 error in 1 file" in said


def test_no_such_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'portrayal' has no attribute 'audits_of'"):
        portrayal.audits_of  # noqa: B018


def test_the_command_line_calls_public_names_and_nothing_else() -> None:
    trees = [ast.parse(path.read_text()) for path in (ROOT / "src" / "portrayal" / "cli").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {
        name
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    rooms = {name for name in imported if str(name).startswith("portrayal")}
    assert {name for name in rooms if not str(name).startswith("portrayal.cli")} == {
        "portrayal",
        "portrayal.edges.console",  # how things are printed
        "portrayal.errors",
    }
    called = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "portrayal"
    }
    assert called <= set(portrayal.__all__)


def test_a_notebook_can_record_though_a_loop_runs_there(tmp_path: Path) -> None:
    async def cell() -> None:
        portrayal.record(portrayal.example_study(), tmp_path / "run", quiet=True)

    asyncio.run(cell())
    assert portrayal.measure(tmp_path / "run").results["n"][0] == 16


@pytest.mark.parametrize(
    ("function", "given"), [("scene_graphs", "A dog."), ("classify_tags", "dog")], ids=["captions", "tags"]
)
def test_one_text_in_place_of_a_list_is_told(function: str, given: str) -> None:
    with pytest.raises(portrayal.PortrayalError, match="is one text. Expected a list"):
        getattr(portrayal, function)(given)


def test_scene_graphs_are_in_the_order_of_the_captions() -> None:
    found = portrayal.scene_graphs(["A dog.", "A black cat.", "A dog."])
    assert [graph.objects for graph in found] == [("dog",), ("cat",), ("dog",)]
    assert found[1].attributes == (("cat", "black"),)


def test_tags_keep_their_order_and_a_tag_given_twice_is_listed_twice() -> None:
    table = portrayal.classify_tags(["masculinity", "zqx zqx", "Chefs", "masculinity"])
    assert table.columns == ["tag", "super_cluster", "sub_cluster"]
    assert table.rows() == [
        ("masculinity", "demographics", "masculine"),
        ("zqx zqx", None, None),
        ("Chefs", "abstract", "occupation"),
        ("masculinity", "demographics", "masculine"),
    ]
