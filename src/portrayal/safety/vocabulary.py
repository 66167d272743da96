"""Words of prompts: refused in any disguise, known, and known in another sense.

The lists are text/lexicons/prompt_*.csv, each with its source beside it: refused words, harmless phrases that hold one, known words,
and words that may not stand together. A known phrase lets its words through in that order only: 'riding a horse', not 'riding'.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import NamedTuple

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon

ADVICE = (
    "Generators get neutral prompts about adults, such as 'a photo of a woman working as a nurse'; see docs/safety.md."
)


class PromptRefused(PortrayalError):
    """A prompt a live generator will not be given."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the prompt for a generator was refused: {why}. {ADVICE}")


WHY = {"minor": "a word for a minor or a young person", "sexual": "a sexual word"}
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = str.maketrans("авеікмнорстухѕјαβεικνορτυχο", "abeikmhopctyxsjabeikvoptuxo")
LEET = [str.maketrans("013457@$!|+", letters) for letters in ("oieastasiit", "oleastaslit")]


def refuse_listed(text: str) -> None:
    """Refuse a text that holds a listed word in any reading."""
    listed = _refused_words()
    for reading in _readings(text):
        for word in reading:
            if word in listed:
                raise PromptRefused(f"{word!r} is {WHY[listed[word]]}")


def without_exceptions(text: str) -> str:
    """Return the text with each harmless phrase replaced by what it is read as."""
    pattern, read_as = _exceptions()
    return pattern.sub(lambda match: read_as[match.group().lower().replace("-", " ")], text)


def _readings(text: str) -> Iterator[Sequence[str]]:
    """Yield the words of the text as it may be read."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Cc", "Mn") or c in "\t\n")
    decomposed = unicodedata.normalize("NFKD", visible)
    stripped = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(LOOKALIKES)
    for reading in (visible, stripped, *(stripped.translate(table) for table in LEET)):
        yield re.findall(r"[^\W\d_]+", reading)
        yield re.findall(r"[^\W\d_]+", re.sub(r"(.)\1+", r"\1", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\b\w)[\s.\-_*/,]+(?=\w\b)", "", reading))
        yield re.findall(r"[^\W\d_]+", re.sub(r"(?<=\w)[.\-_*/']+(?=\w)", "", reading))
    # Listed words of scripts that put no spaces between words.
    yield [word for word in _refused_words() if not word.isascii() and ord(word[0]) > 0x2E80 and word in visible]


@cache
def _refused_words() -> Mapping[str, str]:
    return dict(read_lexicon("prompt_refused").select("word", "reason").iter_rows())


@cache
def _exceptions() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of the harmless phrases, longest first, and what each is read as."""
    read_as = dict(read_lexicon("prompt_exceptions").select("phrase", "read_as").iter_rows())
    phrases = sorted(read_as, key=len, reverse=True)
    pattern = "|".join(phrase.replace(" ", "[ -]") for phrase in phrases)
    # ASCII, so that no other letter passes for an English one by its upper case.
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE | re.ASCII), read_as


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_UNITS.split())},
    **{word: 20 + 10 * place for place, word in enumerate(TENS)},
}


def joined_numbers(words: Sequence[str]) -> Iterator[int]:
    """Yield every number of the text; a ten and a unit are one."""
    place = 0
    while place < len(words):
        word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
        if word in TENS and NUMBER_WORDS.get(following, 0) in range(1, 10):
            yield NUMBER_WORDS[word] + NUMBER_WORDS[following]
            place += 1
        elif word in NUMBER_WORDS or word.isdigit():
            yield NUMBER_WORDS.get(word) if word in NUMBER_WORDS else int(word)  # type: ignore[misc]
        place += 1


_NOUNS = ("words", "adults", "countries", "demonyms", "places", "activities", "occupations", "traits", "things")
LISTS = tuple(f"prompt_{noun}" for noun in _NOUNS)

Entry = tuple[str, str]  # what was said, and its kind


def read_entries(words: Sequence[str]) -> list[Entry]:
    """Return the words as known entries, the longest known phrase first."""
    entries: list[Entry] = []
    place, known = 0, allowed_entries()
    while place < len(words):
        phrases = (" ".join(words[place : place + size]) for size in range(longest_entry(), 0, -1))
        phrase = next((phrase for phrase in phrases if phrase in known), words[place])
        if phrase not in known and not phrase.isdigit() and phrase not in NUMBER_WORDS:
            inside = next((entry for entry in known if phrase in entry.split()), None)
            if inside:
                reason = f"is known only in phrases such as {inside!r}; use one of them or leave it out"
            else:
                reason = "is in none of the lists of neutral words; use a plainer English word for it, or propose it with your reasons"
            raise PromptRefused(f"{phrase!r} {reason}")
        entries.append((phrase, known.get(phrase, "number")))
        place += phrase.count(" ") + 1
    return entries


@cache
def allowed_entries() -> Mapping[str, str]:
    """Return every word and phrase a prompt may hold, with its kind."""
    rows = (row for name in LISTS for row in read_lexicon(name, columns=("word", "kind")).iter_rows())
    return {word: kind for word, kind in rows if kind != "negative"}


@cache
def longest_entry() -> int:
    """Return the number of words of the longest phrase."""
    return max(entry.count(" ") for entry in allowed_entries()) + 1


@cache
def negative_words() -> frozenset[str]:
    """Return the words a negative prompt may hold."""
    rows = read_lexicon("prompt_words", columns=("word", "kind")).iter_rows()
    return frozenset(word for word, kind in rows if kind == "negative")


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


def _at(entries: Sequence[Entry], place: int) -> Entry:
    return entries[place] if 0 <= place < len(entries) else ("", "")


def _check_age(entries: Sequence[Entry], place: int) -> None:
    """A year needs its number, and nothing but years makes a number an age."""
    entry = entries[place][0]
    if entry in ("year", "years") and _at(entries, place - 1)[1] != "number":
        raise PromptRefused(f"{entry!r} has no number before it")
    if entry == "aged" and _at(entries, place - 1)[0] != "middle" and _at(entries, place + 1)[1] != "number":
        raise PromptRefused("'aged' has no number after it")
    unit = _at(entries, place - 1)[0]
    if entry == "old" and _at(entries, place - 2)[1] == "number" and unit not in ("year", "years"):
        raise PromptRefused(f"an age in {unit!r} is not an age in years")


def _check_whose(entries: Sequence[Entry], place: int) -> None:
    """Somebody's own clothing is worn, not held or put aside."""
    before = place - 1
    while _at(entries, before)[1] in ("trait", "photograph", "group"):
        before -= 1
    owned = _at(entries, before)[0] in POSSESSIVES
    if owned and _at(entries, before - 1)[0] not in (*WORN, "in"):
        raise PromptRefused(
            f"{entries[place][0]!r} is somebody's own and not said to be worn; write 'wearing' before it"
        )


def _check_towards_people(entries: Sequence[Entry], place: int) -> None:
    """Refuse activities done to people, unless prompt_activities.csv calls them 'social'."""
    following = _at(entries, place + 1)[0]
    noun, kind = next_noun(entries, place)
    described = _at(entries, place - 1)[0] in (*ARTICLES, "of", "")  # 'a praying woman'
    direct = following in (*ARTICLES, *POSSESSIVES) and kind in ("person", "occupation")
    ends_in_her = following == "her" and _at(entries, place + 2)[1] in ("", "function")
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

    def broken(self, words: Set[str], entries: Sequence[Entry]) -> str:
        """Say how a prompt breaks the rule, if it does."""
        if self.rule == "never_with":
            company = sorted(self.others & words) if self.word in words else []
            return f"{self.word!r} may not stand with {company[0]!r}" if company else ""
        places = [place for place, (entry, _) in enumerate(entries) if entry == self.word]
        if self.rule == "needs":
            alone = places and not self.others & words
            return f"{self.word!r} needs one of: {', '.join(sorted(self.others))}" if alone else ""
        nouns = (next_noun(entries, place, ("trait", "age", "photograph"))[0] for place in places)
        return next((f"{self.word!r} may not stand before {n!r}" for n in nouns if self.others & set(n.split())), "")


def check_combinations(words: Sequence[str], entries: Sequence[Entry]) -> None:
    """Refuse words whose company is not neutral."""
    for rule in _rules():
        if broken := rule.broken(frozenset(words), entries):
            raise PromptRefused(f"{broken} ({rule.reason})")


@cache
def _rules() -> tuple[Rule, ...]:
    rows = read_lexicon("prompt_combinations", columns=("word", "rule", "others", "reason")).iter_rows()
    return tuple(Rule(word, rule, frozenset(others.split()), reason) for word, rule, others, reason in rows)
