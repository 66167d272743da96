"""The dependencies that pyproject.toml declares are those that the code imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from portrayal.edges.parts.table import PARTS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
IN_EXTRAS = [line for lines in EXTRAS.values() for line in lines]
PART_MODULES = {module for part in PARTS.values() for module in part.modules} | {"dlib"}

# Where a package is imported by another name than it is installed by.
IMPORTED_AS = {
    "pillow": "PIL",
    "vl-convert-python": "vl_convert",
    "dlib-bin": "dlib",
    "scikit-learn": "sklearn",
    "open_clip_torch": "open_clip",
    "pyyaml": "yaml",
}
TOOLS = {"test"}  # used by those who change the code


def names(requirements: list[str]) -> set[str]:
    """Return the names these requirements are imported by."""
    packages = [re.split(r"[<>=!~;\[ ]", line)[0].lower() for line in requirements]
    return {IMPORTED_AS.get(package, package.replace("-", "_")) for package in packages}


@cache
def imported(folder: str) -> dict[str, set[str]]:
    """Return every top-level package of others that code under `folder` imports, with the files that do."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for name in modules(ast.parse(path.read_text(encoding="utf-8"))):
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top != "training" and not top.startswith("portrayal"):
                found.setdefault(top, set()).add(str(path.relative_to(ROOT)))
    return found


def modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_core_is_exactly_what_core_code_imports() -> None:
    core, extras = names(PROJECT["dependencies"]), names(IN_EXTRAS)
    code = imported("src")
    undeclared = {name: files for name, files in code.items() if name not in core | extras | PART_MODULES}
    assert undeclared == {}
    assert core == set(code) - (extras - core) - PART_MODULES


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - TOOLS))
def test_an_extra_holds_what_some_code_imports(extra: str) -> None:
    assert names(EXTRAS[extra]) <= set(imported("src")) | set(imported("packages/faces")) | set(
        imported("packages/rankers/src")
    )


def test_the_review_app_and_statsmodels_are_not_core() -> None:
    assert not names(PROJECT["dependencies"]) & {"starlette", "uvicorn", "statsmodels", "spacy", "torch"}


def test_what_tests_import_is_declared() -> None:
    declared = names([*PROJECT["dependencies"], *IN_EXTRAS])
    own = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {path.name for path in (ROOT / "tests").iterdir()}
    others = set(imported("tests")) - declared - PART_MODULES - own - {"benchmarks", "examples", "scripts"}
    assert others == set()
