"""Build lexicons/gendered.csv and identity.csv, the lists of the captions audit, from lexicons/group_words.csv.

python scripts/build_group_lists.py
"""

from __future__ import annotations

import polars as pl

from portrayal.text.lexicons import FOLDER, read_lexicon
from portrayal.text.words.group_words import GENDER, MODALITY, NOUNS


def gendered() -> pl.DataFrame:
    """Return every form that names a gender wherever it stands."""
    table = _table()
    bare = table.filter(pl.col("kind") == "adjective", pl.col("axis") != GENDER)["term"]  # "a Latino woman"
    table = table.filter(pl.col("axis") == GENDER, ~pl.col("term").is_in(bare.implode()))
    return _forms(table).select("term", "axis", "group", "source").unique(maintain_order=True)


def identity() -> pl.DataFrame:
    """Return the nouns and adjectives that name a group."""
    table = _table().filter(pl.col("kind").is_in([*NOUNS, "adjective"]))
    part = pl.when(pl.col("kind") == "adjective").then(pl.lit("a")).otherwise(pl.lit("n")).alias("part")
    axis = pl.col("axis").replace(MODALITY, GENDER)  # people who are asked for their gender say "transgender" too
    return _forms(table).select("term", axis, "group", part, "source").unique(maintain_order=True)


def _forms(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a row for every plural besides."""
    plurals = table.filter(pl.col("plural") != "").with_columns(term="plural", source=pl.format("plural of {}", "term"))
    return pl.concat([table, plurals])


def _table() -> pl.DataFrame:
    return read_lexicon("group_words").fill_null("").filter(pl.col("group") != "")


if __name__ == "__main__":
    gendered().write_csv(FOLDER / "gendered.csv")
    identity().write_csv(FOLDER / "identity.csv")
