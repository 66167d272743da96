"""Languages of texts, by py3langid's model and the words that English WordNet knows."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from portrayal.errors import check_name
from portrayal.text.formatting import listed, percent
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words import wordnet
from portrayal.text.words.tokens import stop_words

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NAMES: dict[str, str] = _TABLES["names"]
OWN, LIMITS = frozenset(_TABLES["own"].split()), _TABLES["limits"]
ENGLISH = ("en",)
Languages = Annotated[
    list[str], AfterValidator(lambda codes: [check_name(one, NAMES, "language") or one for one in codes])
]
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str, reads: Sequence[str] = ENGLISH, clear: str = "clear") -> str | None:
    """Return a text's language, if it can be told: one read where possible."""
    words = _WORD.findall(text[: LIMITS["longest"]])
    if not words:
        return None
    lowered = [word.lower() for word in words]
    english, of_long = (
        _english_share(some) if "en" in reads else 0 for some in (lowered, [w for w in lowered if w[3:]])
    )
    if english >= LIMITS["with_names" if OWN.intersection(lowered) else "english"]:
        return "en"
    ranked = _model().rank(text[: LIMITS["longest"]])
    own, ours = next(pair for pair in ranked if pair[0] in reads)
    others = [pair for pair in ranked if pair[0] not in reads]
    (first, most), (_, second) = [*others, ("", 0.0), ("", 0.0)][:2]  # a study may read them all
    if ours >= most:
        return own
    is_clear = most + (0 if _is_name(words) else second) >= LIMITS[clear] and first in NAMES
    return first if is_clear and ours < LIMITS["unlikely"] * most and of_long <= LIMITS["mixed"] else None


def other_languages(texts: Sequence[str], reads: Sequence[str] = ENGLISH) -> list[str | None]:
    """Return each text's language if it is not read; short texts are told together."""
    alone = {text: language_of(text, reads) for text in sorted(set(texts))}
    together, rest = dict(alone), {text: _leftover(text) for text, language in alone.items() if language not in reads}
    unsure = [text for text, words in rest.items() if words]
    heaps = max(len(unsure) // LIMITS["heap"], 1)
    for heap in (unsure[place::heaps] for place in range(heaps)):
        words = dict.fromkeys(word for text in heap for word in rest[text])
        joined = ", ".join(words)
        if max(len(words), sum(not letter.isascii() for letter in joined)) >= LIMITS["few"]:
            together |= {text: alone[text] or language_of(joined, reads, "clear_together") for text in heap}
    others = [None if together[text] in reads else together[text] for text in texts]
    return [None if alone[text] in reads else alone[text] for text in texts] if are_read(others) else others


def are_read(others: Sequence[str | None]) -> bool:
    """Return True where few enough texts are in other languages."""
    return others.count(None) >= LIMITS["least_read"] * len(others)


def share_in(others: Sequence[str | None], of: str) -> str:
    """Say how many texts are in other languages: "96% of the captions are German"."""
    return f"{percent(1 - others.count(None) / len(others))} of {of} are {named(others)}"


def named(others: Iterable[str | None]) -> str:
    """Return the commonest other language by name, or the three commonest."""
    counts = Counter(filter(None, others)).most_common()
    if counts[0][1] >= LIMITS["mostly"] * sum(count for _, count in counts):
        return NAMES[counts[0][0]]
    return f"in other languages ({names_of(language for language, _ in counts[:3])})"


def names_of(codes: Iterable[str]) -> str:
    """Return the names of languages."""
    return listed([NAMES[code] for code in codes])


def _leftover(text: str) -> list[str]:
    """Return words that are neither English nor names, if they are many."""
    parts = (_WORD.findall(part) for part in text[: LIMITS["longest"]].split(","))
    words = [word for part in parts if not _is_name(part) for word in part]
    unknown = [word for word in words if not _is_english(word.lower())]
    return unknown if len(unknown) * 10 >= 3 * len(words) else []


def _is_name(words: Sequence[str]) -> bool:
    """Return True for capitalised words after a first name, or all unknown to English."""
    if not words or not all(word[0].isupper() for word in words):
        return False
    are_unknown = not any(_is_english(word.lower()) for word in words)
    return words[0].lower() in _first_names() or (1 < len(words) < 5 and are_unknown)


def _english_share(words: Sequence[str]) -> float:
    return sum(map(_is_english, words)) / max(len(words), 1)


@cache
def _is_english(word: str) -> bool:
    known = wordnet.load().lemmas_of
    return word in stop_words("snowball") or any(known(word, part) for part in wordnet.PARTS)


@cache
def _first_names() -> frozenset[str]:
    return frozenset(read_lexicon("census_names")["name"])


@cache
def _model() -> Any:
    """Open the model: 0.7 s, so only once some text needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages([*NAMES, "zxx"])  # and its class of markup and numbers
    return model
