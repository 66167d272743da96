"""Rule files of context-specific harms: who a rule is about, and the words that demean them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import Field

from portrayal.edges.sizes import LARGEST_TOML, check_size
from portrayal.errors import PortrayalError
from portrayal.settings import Settings, validate
from portrayal.text.lexicons import FOLDER
from portrayal.text.words import wordnet


class About(Settings):
    """The annotated group a rule is about: all of these axes must have one of their groups."""

    axis: str
    groups: list[str] = Field(min_length=1)


class Rule(Settings):
    """One context-specific harm."""

    name: str = Field(min_length=1)
    about: list[About] = Field(min_length=1)
    words: list[str] = []  # nouns, as lemmas
    under: list[str] = []  # or everything under these synsets
    wrongly: bool = False  # only where the ground truth does not have it
    stand_in: str = Field(min_length=1)  # which annotation stands in for the group, in words
    why: str = ""


class Rules(Settings):
    """A rule file."""

    rules: list[Rule] = Field(min_length=1)


def rules_text(path: Path) -> str:
    """Read a rule file and check it; its text is what a run keeps."""
    try:
        check_size(path, LARGEST_TOML)
        text = path.read_text(encoding="utf-8")
        read_rules(text, path.name)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PortrayalError(f"{path} cannot be read as a rule file: {error}.") from None
    return text


def read_rules(text: str | None = None, name: str = "the rules") -> list[Rule]:
    """Return the rules of a TOML text, or the four rules of the paper."""
    shipped = FOLDER / "caption_rules.toml"
    data = tomllib.loads(shipped.read_text(encoding="utf-8") if text is None else text)
    rules = validate(Rules, data, name).rules
    for rule in rules:
        for synset in rule.under:
            wordnet.load().number(synset)
        if not rule.words and not rule.under:
            raise PortrayalError(f"rule {rule.name!r} has no words. Add `words` or `under`.")
    return rules
