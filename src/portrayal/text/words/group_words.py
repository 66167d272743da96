"""Words that name a person's group: nouns, pronouns, kinship, roles, adjectives, alike for all groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from portrayal.errors import check_name
from portrayal.text.lexicons import read_lexicon

DEFAULT, OLD = "2026", "hendricks2018"
LISTS = (DEFAULT, OLD)
GENDER, MODALITY = "gender", "gender modality"  # female, male, nonbinary; transgender, cisgender
NOUNS = ("noun", "kinship", "role")
PRONOUNS = ("pronoun", "possessive", "reflexive")
_GAP = re.compile(r"[\s_-]+")


class Word(NamedTuple):
    """A term and one group that it names; neutral words name none."""

    term: str
    plural: str
    axis: str
    group: str
    kind: str  # noun, kinship, role; pronoun, possessive, reflexive; honorific; adjective; phrase (after a noun)
    age: str  # adult, child, or nothing
    counterpart: str  # the word of the same kind for the other of female and male


@dataclass(frozen=True)
class GroupWords:
    """Group words, looked up in any letter case, with hyphens or spaces, singular or plural.

    Iterating yields every `Word`; a term has one for each group that it names, and for each counterpart.

    Examples
    --------
    >>> words = group_words()
    >>> words.groups("Latinas"), words.groups("latina", "adjective"), words.groups("they")
    ((('race', 'latino'), ('gender', 'female')), (('race', 'latino'),), ())
    >>> words.groups("trans woman"), [word.kind for word in words.find("they")]
    ((('gender', 'female'), ('gender modality', 'transgender')), ['pronoun'])
    """

    words: tuple[Word, ...]

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __contains__(self, term: str) -> bool:
        return spelled(term) in self._by_form

    def find(self, term: str, *kinds: str) -> tuple[Word, ...]:
        """Return the rows of a term, singular or plural; only those of `kinds`, if given."""
        rows = self._by_form.get(spelled(term), ())
        return tuple(word for word in rows if word.kind in kinds) if kinds else rows

    def groups(self, term: str, *kinds: str) -> tuple[tuple[str, str], ...]:
        """Return the (axis, group) pairs that a term names; a neutral one names none."""
        return tuple(dict.fromkeys((word.axis, word.group) for word in self.find(term, *kinds) if word.group))

    @cached_property
    def _by_form(self) -> dict[str, tuple[Word, ...]]:
        forms: dict[str, tuple[Word, ...]] = {}
        for word in self.words:
            for form in {spelled(word.term), spelled(word.plural)} - {""}:
                forms[form] = (*forms.get(form, ()), word)
        return forms


def spelled(term: str) -> str:
    """Return a term in lower case, with spaces for hyphens and underscores."""
    return _GAP.sub(" ", term.lower()).strip()


@cache
def group_words(lists: str = DEFAULT) -> GroupWords:
    """Return the words of a list: '2026' (the default), or those of before, 'hendricks2018'."""
    check_name(lists, LISTS, "list of group words")
    name = "group_words" if lists == DEFAULT else f"group_words_{lists}"
    table = read_lexicon(name, columns=Word._fields).fill_null("").select(Word._fields)
    return GroupWords(tuple(Word(*row) for row in table.iter_rows()))
