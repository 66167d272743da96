"""Base forms of English words by WordNet's own rules: exception lists first, then endings."""

from __future__ import annotations

from collections.abc import Container, Mapping

# Ending and what replaces it, as in WordNet's morphological processor.
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


class Morphology:
    """Finds base forms that are in the dictionary."""

    def __init__(self, exceptions: str, known: Mapping[str, Container[str]]) -> None:
        self._known = known
        self._exceptions: dict[str, dict[str, list[str]]] = {part: {} for part in ENDINGS}
        self._irregular: dict[str, dict[str, list[str]]] = {part: {} for part in ENDINGS}
        for line in exceptions.splitlines():
            part, form, *lemmas = line.split()
            self._exceptions[part][form] = lemmas
            for lemma in lemmas:
                self._irregular[part].setdefault(lemma, []).append(form)

    def base_forms(self, word: str, part: str) -> tuple[str, ...]:
        """Return the word itself where it is known, then its base forms, most direct first."""
        known = self._known[part]
        irregular = self._exceptions[part].get(word)
        further = irregular or _shorten(word, part)
        if not further:
            return (word,) if word in known else ()
        return tuple(dict.fromkeys(form for form in (word, *further) if form in known))

    def inflected(self, base: str, part: str) -> list[str]:
        """Return the forms that have this base form, itself among them."""
        regular = (base.removesuffix(new) + old for old, new in ENDINGS[part] if base.endswith(new))
        candidates = (base, *self._irregular[part].get(base, ()), *regular)
        return [form for form in candidates if base in self.base_forms(form, part)]


_LAST = {part: frozenset(old[-1] for old, _ in endings) for part, endings in ENDINGS.items()}


def _shorten(word: str, part: str) -> list[str]:
    if word[-1:] not in _LAST[part]:  # most words: they end as no ending does
        return []
    return [word[: -len(old)] + new for old, new in ENDINGS[part] if word.endswith(old)]
