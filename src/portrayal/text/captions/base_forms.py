"""Part of speech and base form of a parsed word, worked out for each word, tag and dependency once.

spaCy's attribute ruler tries 179 patterns on every token, and scene graphs ask about few of them. All but a handful of the patterns
are about one token: what they say of it depends on its text, tag and dependency alone, so the ruler and the lemmatizer
are asked once about a document of that one word. Where a pattern of several tokens fits ('there is', 'let's'), they are
run on the caption itself.
"""

from __future__ import annotations

import re
from typing import Any

from portrayal.text.captions.parse_tree import Token, Tree

USED = ("attribute_ruler", "lemmatizer")  # the parts of a pipeline that are asked here, and left out when it parses


class BaseForms:
    """What a pipeline's attribute ruler and lemmatizer say of tokens."""

    def __init__(self, pipeline: Any) -> None:
        self._vocab = pipeline.vocab
        self._parts = [pipeline.get_pipe(name) for name in USED]
        patterns = [pattern for rule in self._parts[0].patterns for pattern in rule["patterns"]]
        first = [pattern[0] for pattern in patterns if len(pattern) > 1]
        self._dependencies = frozenset(token["DEP"] for token in first if "LOWER" not in token)
        self._words = re.compile("|".join(_regular(token["LOWER"]) for token in first if "LOWER" in token))
        self._begins: dict[str, bool] = {}  # whether a word begins a pattern of several tokens
        self._known: dict[tuple[str, str, str], tuple[str, str]] = {}

    def __call__(self, token: Token) -> tuple[str, str]:
        """Return a token's part of speech and its base form."""
        tree = token.tree
        if tree.whole is None:
            tree.whole = self._whole(tree)
        if tree.whole:
            return tree.whole[token.i]
        key = (token.text, token.tag_, token.dep_)
        if key not in self._known:
            self._known[key] = self._alone(*key)
        return self._known[key]

    def _whole(self, tree: Tree) -> list[tuple[str, str]]:
        """Return the answers for all words of a caption that has to be gone through itself, else nothing."""
        if not any(self._may_begin(token) for token in tree.tokens):
            return []
        from spacy.tokens import Doc

        doc = Doc(
            self._vocab,
            words=[token.text for token in tree.tokens],
            tags=list(tree.parse.tags),
            deps=list(tree.parse.dependencies),
            heads=[token.head.i for token in tree.tokens],
        )
        self._go_through(doc)
        return [(token.pos_, token.lemma_) for token in doc]

    def _may_begin(self, token: Token) -> bool:
        """Say whether a pattern of several tokens may begin here."""
        begins = self._begins.get(token.lower_)
        if begins is None:
            begins = self._begins[token.lower_] = self._words.search(token.lower_) is not None
        return begins or token.dep_ in self._dependencies

    def _alone(self, text: str, tag: str, dep: str) -> tuple[str, str]:
        from spacy.tokens import Doc

        doc = Doc(self._vocab, words=[text])
        doc[0].tag_, doc[0].dep_ = tag, dep
        self._go_through(doc)
        return doc[0].pos_, doc[0].lemma_

    def _go_through(self, doc: Any) -> None:
        for part in self._parts:
            part(doc)


def _regular(word: Any) -> str:
    """Return a pattern's demand on a word (a text, one of a list, or a regular expression) as a regular expression."""
    if isinstance(word, str):
        return f"^{re.escape(word)}$"
    return str(word["REGEX"]) if "REGEX" in word else "|".join(_regular(one) for one in word["IN"])
