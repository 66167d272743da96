"""Word lists of harms that ship, or a user's own; demeaning words are printed masked."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl

from portrayal.errors import check_name
from portrayal.text.lexicons import FOLDER, read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.group_words import DEFAULT, LISTS

KINDS, GROUPS = ("term", "part", "kind", "source"), ("term", "axis", "group", "source")
COLUMNS = {
    **dict.fromkeys(("demeaning", "nonimageable", "visual_verbs"), KINDS),
    **dict.fromkeys(("gendered", "artifacts"), GROUPS),
    "identity": ("term", "axis", "group", "part", "source"),
    "identity_nouns": ("term", "axis", "source"),
    "appearance": ("term", "part", "source"),
}


@lru_cache(maxsize=64)
def read_list(name: str, path: Path | None = None) -> pl.DataFrame:
    """Read a list by name, or the user's file in its place."""
    check_name(name, COLUMNS, "word list")
    hint = f"A list of this kind has the columns {', '.join(COLUMNS[name])}."
    table = read_lexicon(name, path, COLUMNS[name], hint)
    return table.with_columns(pl.col("term").str.strip_chars().str.to_lowercase())


def lists_of_groups(lists: str) -> dict[str, pl.DataFrame]:
    """Return the lists of group words of this name that differ from the default."""
    check_name(lists, LISTS, "list of group words")
    names = () if lists == DEFAULT else ("gendered", "identity")
    return {name: read_list(name, FOLDER / f"{name}_{lists}.csv") for name in names}


def as_synset(term: str) -> str | None:
    """Return the synset a list names by identifier ('n10000000') or by name ('dog.n.01'), else None."""
    if term[:1] in "nvar" and term[1:].isdigit() and len(term) == 9:
        return wordnet.load().from_wnid(term)
    if term.count(".") >= 2 and term.rpartition(".")[2].isdigit():
        table = wordnet.load()
        return table.names[table.number(term)]
    return None


def synsets_of(table: pl.DataFrame, part: str) -> frozenset[str]:
    """Return the synsets of a list's rows with this part of speech."""
    terms = table.filter(pl.col("part") == part)["term"]
    return frozenset(filter(None, (as_synset(term) or wordnet.load().most_common(term, part) for term in terms)))


def mask(word: str, show: bool = False) -> str:
    """Return a demeaning word with all but its first letter hidden."""
    return word if show or not word else word[0] + "*" * (len(word) - 1)
