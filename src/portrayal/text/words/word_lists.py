"""Word lists that ship as data: `NAME.json` with its source in `NAME.source.md` beside it."""

from __future__ import annotations

from functools import cache
from typing import Any

from portrayal.errors import check_name
from portrayal.tables import read_json
from portrayal.text.lexicons import FOLDER

ASSOCIATIONS = ("weat", "associations_text")  # files that hold lists and tests for the associations audit


@cache
def load(name: str) -> dict[str, Any]:
    """Return a lexicon that ships, by its file's name without ending."""
    return read_json(FOLDER / f"{name}.json", "word lists and tests")


def word_list(name: str) -> list[str]:
    """Return one list by 'FILE:LIST', such as 'weat:flowers'."""
    known = {f"{file}:{entry}": words for file in ASSOCIATIONS for entry, words in load(file)["lists"].items()}
    check_name(name, known, "word list")
    return list(known[name])


def association_test(name: str) -> dict[str, str]:
    """Return a test that ships, such as 'weat6', with its lists named 'FILE:LIST'."""
    known = {entry: (file, test) for file in ASSOCIATIONS for entry, test in load(file)["tests"].items()}
    check_name(name, known, "association test")
    file, test = known[name]
    return {key: f"{file}:{value}" if key in ("x", "y", "a", "b") else value for key, value in test.items()}
