"""The pages of docs/ as tests see them: their code blocks, their tables, what they name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
STEMS = ("contexts", "captions", "counterfactuals", "search", "associations")
NOT_RUN = "not run: "  # the comment before a block that cannot run here, with the reason

_BLOCK = re.compile(
    r'^(?:<!-- (?P<comment>[^\n]*?) -->\n+)?```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    title: str  # the file it is, where it is one
    text: str
    why_not: str  # why it is not run, or nothing

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def page_names() -> list[str]:
    """Return every page, by its path in the repository; the README is one."""
    pages = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
    return ["README.md", *pages]


def pages_of(stem: str) -> list[str]:
    """Return the pages of an audit, its own first; an experiment is on those of its audit."""
    name = stem.partition("/")[0]
    return [f"docs/{name}.md", *sorted(f"docs/{path.name}" for path in DOCS.glob(f"{name}_*.md"))]


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[Block]:
    """Return the fenced blocks of a page, of these languages alone where any are given."""
    found = []
    for match in _BLOCK.finditer(text := text_of(page)):
        comment = match["comment"] or ""
        why_not = comment.removeprefix(NOT_RUN) if comment.startswith(NOT_RUN) else ""
        line = text.count("\n", 0, match.start("language")) + 1
        block = Block(page, line, match["language"], match["title"] or "", match["text"], why_not)
        if not languages or block.language in languages:
            found.append(block)
    return found


def table_rows(page: str) -> list[list[str]]:
    """Return the cells of every table row of a page; a pipe inside code is written with a backslash."""
    lines = [line.strip() for line in text_of(page).splitlines() if line.lstrip().startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def code_in(text: str) -> set[str]:
    """Return what a text has between backticks."""
    return set(_CODE.findall(text))


def first_cells(page: str) -> set[str]:
    """Return what stands between backticks in the first cells of a page's tables."""
    return {name for cells in table_rows(page) for name in code_in(cells[0])}
