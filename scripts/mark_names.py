"""Mark the census names that are words too: `python scripts/mark_names.py` writes the column `word` of census_names.csv.

A name is a word where WordNet 3.0 has a sense of it (ruby, may, jordan), or where it is part of a thing's name (francisco).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import portrayal.text.lexicons
from portrayal.text.words.wordnet import Wordnet, load

FILE = Path(portrayal.text.lexicons.__file__).parent / "census_names.csv"


def words_among(names: set[str], wordnet: Wordnet) -> set[str]:
    """Return the names that WordNet has in another way than as part of a person's name."""
    terms = (lemma for lemma in wordnet.lemmas if "_" in lemma and not names.isdisjoint(lemma.split("_")))
    things = (term for term in terms if not any(map(wordnet.is_person_synset, wordnet.synsets(term))))
    parts = {part for term in things for part in term.split("_")}
    return {name for name in names if name in parts or wordnet.synsets(name)}


def mark() -> pl.DataFrame:
    """Return the names with the column `word`."""
    table = pl.read_csv(FILE, infer_schema=False).select("name", "group", "percent")
    found = words_among(set(table["name"]), load())
    return table.with_columns(word=pl.col("name").is_in(list(found)).cast(pl.Int8))


if __name__ == "__main__":
    mark().write_csv(FILE)
