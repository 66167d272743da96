"""Senses of known words that are not neutral: 'adult film', 'wearing water', 'aged 30 days'.

Rows of prompt_combinations.csv say which words may not stand together: `never_with` anywhere in the prompt, `never_before` as the
next noun, `needs` one of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from portrayal.safety.readings import PromptRefused
from portrayal.safety.vocabulary import Entry
from portrayal.text.lexicons import read_lexicon

ARTICLES = ("a", "an", "the", "this", "that", "some")
POSSESSIVES = ("his", "her", "their")
DESCRIBING = ("trait", "group", "age", "country", "photograph")
WORN = ("wearing", "wears", "dressed in")
CROWDS = ("women", "men", "people", "ladies", "gentlemen", "persons", "him", "them")


def check_meaning(entries: Sequence[Entry]) -> None:
    """Refuse known words in an unknown sense."""
    for place, (entry, kind) in enumerate(entries):
        _check_age(entries, place)
        if entry == "adult":  # stands before a person: an adult film is none
            rest = [entry for entry in entries[place + 1 :] if entry[1] != "group"]
            if rest and rest[0][1] not in ("person", "function"):
                raise PromptRefused(f"'adult {rest[0][0]}' is not a person")
        if entry in WORN:  # what is worn is clothing: paint, flowers and water are not
            worn, what = next_noun(entries, place, (*DESCRIBING, "occupation", "object"))
            if what != "clothing":
                raise PromptRefused(f"{entry!r} is followed by {worn or 'nothing'!r}, which is no clothing")
        if kind == "clothing":
            _check_whose(entries, place)
        if kind == "activity":
            _check_towards_people(entries, place)


def next_noun(entries: Sequence[Entry], place: int, skipped: Sequence[str] = DESCRIBING) -> Entry:
    """Return the next entry that is no article, possessive or description, if any."""
    for entry, kind in entries[place + 1 :]:
        if entry not in ARTICLES and entry not in POSSESSIVES and kind not in skipped:
            return entry, kind
    return "", ""


def _kind(entries: Sequence[Entry], place: int) -> str:
    return entries[place][1] if 0 <= place < len(entries) else ""


def _word_at(entries: Sequence[Entry], place: int) -> str:
    return entries[place][0] if 0 <= place < len(entries) else ""


def _check_age(entries: Sequence[Entry], place: int) -> None:
    """A year needs its number, and nothing but years makes a number an age."""
    entry = entries[place][0]
    if entry in ("year", "years") and _kind(entries, place - 1) != "number":
        raise PromptRefused(f"{entry!r} has no number before it")
    if entry == "aged" and _word_at(entries, place - 1) != "middle" and _kind(entries, place + 1) != "number":
        raise PromptRefused("'aged' has no number after it")
    unit = _word_at(entries, place - 1)
    if entry == "old" and _kind(entries, place - 2) == "number" and unit not in ("year", "years"):
        raise PromptRefused(f"an age in {unit!r} is not an age in years")


def _check_whose(entries: Sequence[Entry], place: int) -> None:
    """Somebody's own clothing is worn, not held or put aside."""
    before = place - 1
    while _kind(entries, before) in ("trait", "photograph", "group"):
        before -= 1
    owned = _word_at(entries, before) in POSSESSIVES
    if owned and _word_at(entries, before - 1) not in (*WORN, "in"):
        raise PromptRefused(
            f"{entries[place][0]!r} is somebody's own and not said to be worn; write 'wearing' before it"
        )


def _check_towards_people(entries: Sequence[Entry], place: int) -> None:
    """Refuse activities done to people, unless prompt_activities.csv calls them 'social'."""
    following = _word_at(entries, place + 1)
    noun, kind = next_noun(entries, place)
    described = _word_at(entries, place - 1) in (*ARTICLES, "of", "")  # 'a praying woman'
    direct = following in (*ARTICLES, *POSSESSIVES) and kind in ("person", "occupation")
    ends_in_her = following == "her" and _kind(entries, place + 2) in ("", "function")
    if direct or ends_in_her or (following in CROWDS and not described):
        raise PromptRefused(
            f"{entries[place][0]!r} is not known as something done to people ({noun or following!r}); "
            "put 'with' or 'for' between them"
        )


class Rule(NamedTuple):
    """One row: a word, how it stands to the others, and why."""

    word: str
    rule: str
    others: frozenset[str]
    reason: str


def check_combinations(words: Sequence[str], entries: Sequence[Entry]) -> None:
    """Refuse words whose company is not neutral."""
    for rule in _rules():
        broken = RULES[rule.rule](rule, frozenset(words), entries)
        if broken:
            raise PromptRefused(f"{broken} ({rule.reason})")


def _never_with(rule: Rule, words: frozenset[str], entries: Sequence[Entry]) -> str:
    company = sorted(rule.others & words) if rule.word in words else []
    return f"{rule.word!r} may not stand with {company[0]!r}" if company else ""


def _never_before(rule: Rule, words: frozenset[str], entries: Sequence[Entry]) -> str:
    for place, (entry, _) in enumerate(entries):
        noun = next_noun(entries, place, ("trait", "age", "photograph"))[0] if entry == rule.word else ""
        if rule.others & set(noun.split()):
            return f"{rule.word!r} may not stand before {noun!r}"
    return ""


def _needs(rule: Rule, words: frozenset[str], entries: Sequence[Entry]) -> str:
    alone = any(entry == rule.word for entry, _ in entries) and not rule.others & words
    return f"{rule.word!r} needs one of: {', '.join(sorted(rule.others))}" if alone else ""


RULES: Mapping[str, Callable[[Rule, frozenset[str], Sequence[Entry]], str]] = {
    "never_with": _never_with,
    "never_before": _never_before,
    "needs": _needs,
}


@cache
def _rules() -> tuple[Rule, ...]:
    rows = read_lexicon("prompt_combinations", columns=("word", "rule", "others", "reason")).iter_rows()
    return tuple(Rule(word, rule, frozenset(others.split()), reason) for word, rule, others, reason in rows)
