"""Source files of both packages as tests of the house read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from conftest import ROOT

PACKAGES = ("src/portrayal", "packages/faces", "packages/rankers", "packages/review")
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def files(package: str) -> list[Path]:
    """Return the .py files of a package, tests left out."""
    return [path for path in sorted((ROOT / package).rglob("*.py")) if "tests" not in path.relative_to(ROOT).parts[:3]]


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def definitions(path: Path) -> Iterator[Definition]:
    """Yield the module, its classes and its functions."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, Definition))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    first = function.body[0]
    text = ast.get_docstring(function) is not None
    return (function.end_lineno or 0) - function.lineno + 1 - (text and (first.end_lineno or 0) - first.lineno + 1)


def rooms(package: str) -> dict[Path, int]:
    """Return for each folder of modules how many modules and rooms it holds."""
    folders = sorted({path.parent for path in files(package)})
    return {room: len([path for path in room.glob("*.py") if path.stem not in ("__init__", "__main__")])
            + len([path for path in folders if path.parent == room]) for room in folders}  # fmt: skip
