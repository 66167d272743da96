"""Known words that may not stand together, or not alone: rows of prompt_combinations.csv.

`never_with`: anywhere in the same prompt. `never_before`: as the next noun. `needs`: one of the others must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from portrayal.safety.meaning import next_noun
from portrayal.safety.refusal import PromptRefused
from portrayal.safety.vocabulary import Entry
from portrayal.text.lexicons import read_lexicon


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
    found = sorted(rule.others & words) if rule.word in words else []
    return f"{rule.word!r} may not stand with {found[0]!r}" if found else ""


def _never_before(rule: Rule, words: frozenset[str], entries: Sequence[Entry]) -> str:
    for place, (said, _) in enumerate(entries):
        noun = next_noun(entries, place, ("trait", "age", "photograph"))[0] if said == rule.word else ""
        if rule.others & set(noun.split()):
            return f"{rule.word!r} may not stand before {noun!r}"
    return ""


def _needs(rule: Rule, words: frozenset[str], entries: Sequence[Entry]) -> str:
    alone = any(said == rule.word for said, _ in entries) and not rule.others & words
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
