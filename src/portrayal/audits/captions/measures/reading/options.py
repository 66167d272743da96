"""The choices a captions audit leaves open, with the paper's values where it printed them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256

import polars as pl

from portrayal.text.words.harm_lists import read_list

THRESHOLD = 0.005  # section 4.1.1
SAME_OBJECT = 2.2  # Leacock-Chodorow similarity from which two nouns count as one: at most three steps apart
PERSON_AREA = 0.10  # section 4.2.2
TOLERANCE = 0.005  # share of images in which a harm that is a plain count would be let pass


@dataclass(frozen=True)
class Options:
    """What a study may set for the techniques."""

    threshold: float = THRESHOLD
    same_object: float = SAME_OBJECT
    person_area: float = PERSON_AREA
    object_types: int = 500
    splits: int = 1000
    train_share: float = 0.7
    needed_splits: float = 0.9
    bootstraps: int = 200
    permutations: int = 9_999  # at the most: a p that is not small is known after fewer
    tolerance: float = TOLERANCE
    least_images: int = 5  # a tuple rarer than this is not compared
    seed: int = 0
    rules: str | None = None  # a user's rules (TOML) in place of those of the paper
    show_demeaning: bool = False
    lists: dict[str, pl.DataFrame] = field(default_factory=dict)  # a user's list in place of one that ships

    @cached_property
    def key(self) -> str:
        """A name for everything that a result may hang on."""
        lists = {name: sha256(table.write_csv().encode()).hexdigest() for name, table in self.lists.items()}
        return f"{replace(self, lists={})} {lists}" if lists else repr(self)

    def word_list(self, name: str) -> pl.DataFrame:
        """Return a word list: the user's where there is one."""
        return self.lists[name] if name in self.lists else read_list(name)
