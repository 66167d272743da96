"""Every pattern that may meet a system's words takes time in proportion to them: 100 kB of the worst, within two seconds."""

from __future__ import annotations

import ast
import contextlib
import re
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.systems.chat import chat
from portrayal.systems.core import refusals
from portrayal.systems.core.base import Refused, Unreadable
from portrayal.systems.core.settings import without_secrets
from portrayal.text.captions import layout
from portrayal.text.words.tag_spelling import normalise, spellings

SOURCE = Path(portrayal.__file__).parent
SIZE = 100_000
SECONDS = 2.0  # of processor time; what is linear takes a tenth of it
FUNCTIONS = ("compile", "sub", "subn", "match", "search", "fullmatch", "findall", "finditer", "split")

# Patterns that never meet an answer, by the beginning of their module's path, and what they are held against instead.
ELSEWHERE = {
    "text/collections/": "documents and queries of a collection, which its user chose",
    "vision/faces/": "names of files and labels in a user's table",
    "audits/associations/datasets/": "names of files",
    "audits/contexts/people.py": "names of files",
    "systems/encoders/clip_weights.py": "names of a model's layers",
    "audits/search/measures/quality.py": "names of measures in a study",
}
# Modules that read no more of a text than this; their patterns are tried on so much. The last test tries them from outside.
CAPPED = {"systems/core/refusals.py": refusals.LONGEST, "text/captions/layout.py": 2 * layout.LONGEST}
PIECES = [
    " ",
    "a",
    "0",
    "_",
    "(",
    "[",
    "{",
    "<",
    "?",
    "&",
    "=",
    "'",
    "-",
    ".",
    ",",
    ":",
    "/",
    "@",
    "\n",
    "\t",
    "$",
    "é",
]
PIECES += [
    "a ",
    "a.",
    "://",
    "?key",
    "<a",
    "&a",
    "1e",
    "n't ",
    "i'm ",
    ", but ",
    "; (",
    "()",
    "[]",
    "a'",
    "_(",
    "aA1",
    "; ",
    "$a",
]


def constants(path: Path) -> Iterator[tuple[str | None, int]]:
    """Yield the pattern and line of every call of `re`; None where the pattern is put together."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in FUNCTIONS
        ):
            first = node.args[0]
            held = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
            yield held, node.lineno


def compiled(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """Yield the patterns a module keeps, also inside its lists and dicts."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for inner in value.values():
            yield from compiled(inner, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for inner in value:
            yield from compiled(inner, depth - 1)


def patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if any(name.startswith(elsewhere) for elsewhere in ELSEWHERE):
            continue
        held = list(constants(path))
        for pattern, line in held:
            if pattern is not None:
                found[f"{name}:{line} {pattern[:40]}"] = re.compile(pattern)
        if held:  # flags, and patterns put together from pieces
            module = import_module("portrayal." + name.removesuffix(".py").replace("/", "."))
            for pattern in compiled(list(vars(module).values())):
                if isinstance(pattern.pattern, str):
                    found[f"{name} {pattern.pattern[:60]}"] = pattern
    once = {(pattern.pattern, pattern.flags): name for name, pattern in found.items()}
    return {name: found[name] for name in once.values()}


PATTERNS = patterns()


def too_slow(*_: object) -> None:
    raise TimeoutError


@pytest.fixture(autouse=True)
def timed() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, too_slow)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def test_the_patterns_of_answers_are_among_them() -> None:
    named = " ".join(PATTERNS)
    for module in (
        "systems/core/refusals",
        "systems/chat",
        "text/words/tag_spelling",
        "text/words/tokens",
        "systems/core/settings",
        "edges/inert",
    ):
        assert module in named


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_a_pattern_is_linear(name: str) -> None:
    pattern = PATTERNS[name]
    words = list(dict.fromkeys(re.findall(r"[A-Za-z]{2,}", pattern.pattern)))[:6]
    size = next((size for module, size in CAPPED.items() if name.startswith(module)), SIZE)
    for piece in [*PIECES, *words, *(f"{word} " for word in words)]:
        text = (piece * (SIZE // len(piece)))[:size] + "\x01"
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            pattern.fullmatch(text)
            for _ in pattern.finditer(text):
                pass
        except TimeoutError:
            pytest.fail(f"{name} is not linear on {piece!r} times {SIZE // len(piece)}")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.parametrize("piece", ["(", "[", "?", " ", "I cannot ", "a (", "[[", '["a",', "?key", "; ", "\ufdfa"])
@pytest.mark.parametrize(
    "read",
    [
        refusals.is_refusal,
        layout.clean,
        lambda text: list(spellings(normalise(text))),
        lambda text: chat.rows_of_text(text, "tagger"),
        without_secrets,
    ],
    ids=["is_refusal", "clean", "spellings", "tags", "without_secrets"],
)
def test_what_reads_an_answer_is_linear(read: Any, piece: str) -> None:
    """300 kB of opening brackets as a tag once took more than 150 s."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    with contextlib.suppress(Refused, Unreadable):
        read(piece * (300_000 // len(piece)))
