"""The house keeps its budget: lines, files, functions, rooms and pages."""

from __future__ import annotations

import ast
import tomllib

import pytest
from conftest import ROOT

from house.sources import PACKAGES, definitions, files, length, lines, rooms

BUDGET = tomllib.loads((ROOT / "tests" / "house" / "budget.toml").read_text(encoding="utf-8"))
EACH = BUDGET["each"]
PAGES = BUDGET["pages"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_keeps_its_lines(package: str) -> None:
    total = sum(lines(path) for path in files(package))
    assert total <= BUDGET["lines"][package], f"{package} has {total} lines: take some away before you add any."


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_function_or_room_is_longer_than_allowed(package: str) -> None:
    long = [f"{path.relative_to(ROOT)}: {lines(path)} lines" for path in files(package) if lines(path) > EACH["file"]]
    for path in files(package):
        for node in definitions(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > EACH["function"]:
                long.append(f"{path.relative_to(ROOT)}: {node.name} has {length(node)} lines")
    long += [f"{room.relative_to(ROOT)}: {n} entries" for room, n in rooms(package).items() if n > EACH["room"]]
    assert not long, "\n".join(long)


def test_no_page_of_docs_is_longer_than_one_sitting() -> None:
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in (ROOT / "docs").rglob("*.md")}
    assert len(sizes) > len(PAGES["longer"])
    long = {page: size for page, size in sizes.items() if size > PAGES["longer"].get(page, PAGES["each"])}
    assert not long, f"Split these pages: {long}"


def test_no_measure_of_an_audit_has_a_mode() -> None:
    audits = [path for path in files("src/portrayal") if "audits" in path.parts]
    assert audits
    assert not [path for path in audits if "ContextVar" in path.read_text(encoding="utf-8")]
