"""A parsed caption as plain objects: what the rules of scene graphs ask of a word, read from spaCy's document once.

spaCy makes a new object for every look at a token; the rules look some three hundred times at each. Here a word is made
once, knows its head and children, and keeps what was worked out about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar

from portrayal.text.caption_words import Word

Found = TypeVar("Found")
_COLUMNS = ("TAG", "DEP", "HEAD", "SENT_START")


class Token:
    """A word of a parsed caption, under spaCy's names for what the parser says of it."""

    __slots__ = (
        "children",
        "dep_",
        "head",
        "i",
        "known",
        "lefts",
        "lower_",
        "said",
        "tag_",
        "text",
        "tree",
        "word",
    )

    def __init__(self, tree: Tree, i: int, word: Word, tag: str, dep: str) -> None:
        self.tree, self.i, self.word, self.tag_, self.dep_ = tree, i, word, tag, dep
        self.said, self.text, self.lower_ = word.said, word.shown, word.shown.lower()
        self.head: Token = self
        self.lefts: list[Token] = []
        self.children: list[Token] = []
        self.known: dict[str, Any] = {}

    @property
    def pos_(self) -> str:
        """The coarse part of speech."""
        return self.tree.analysis(self)[0]

    @property
    def lemma_(self) -> str:
        """The base form."""
        return self.tree.analysis(self)[1]

    @property
    def ancestors(self) -> Iterator[Token]:
        """The words above, nearest first."""
        token = self
        while token.head is not token:
            token = token.head
            yield token

    @property
    def left_edge(self) -> int:
        """Where the words below begin."""
        return self.tree.doc[self.i].left_edge.i

    @property
    def sentence(self) -> list[Token]:
        """All words of the sentence."""
        return self.tree.sentence(self.i)


class Tree:
    """The words of a parsed caption.

    Parameters
    ----------
    doc
        A spaCy document with tags and dependencies.
    words
        What was said in the place of each of its tokens.
    analysis
        Gives part of speech and base form of a token (see `base_forms`).
    """

    def __init__(self, doc: Any, words: Sequence[Word], analysis: Callable[[Token], tuple[str, str]]) -> None:
        self.doc, self.analysis, strings = doc, analysis, doc.vocab.strings
        rows = doc.to_array(list(_COLUMNS)).astype("int64").tolist()
        self.tokens = [
            Token(self, i, word, _text(strings, row[0]), _text(strings, row[1]))
            for i, (word, row) in enumerate(zip(words, rows, strict=True))
        ]
        self.whole: bool | None = None  # whether `base_forms` had to go through the caption itself
        self._starts = [row[3] == 1 for row in rows]
        self._join([row[2] for row in rows])

    def _join(self, heads: list[int]) -> None:
        """Tell every word its head, and every head the words below it from left to right."""
        for token, offset in zip(self.tokens, heads, strict=True):
            if offset:
                token.head = self.tokens[token.i + offset]
                token.head.children.append(token)
                if offset > 0:
                    token.head.lefts.append(token)

    def sentence(self, i: int) -> list[Token]:
        """Return the words of the sentence that a place is in."""
        first, last = i, i + 1
        while first > 0 and not self._starts[first]:
            first -= 1
        while last < len(self.tokens) and not self._starts[last]:
            last += 1
        return self.tokens[first:last]


_TEXTS: dict[int, str] = {}  # of tags and dependencies: there are about a hundred


def _text(strings: Any, key: int) -> str:
    found = _TEXTS.get(key)
    if found is None:
        found = _TEXTS[key] = strings[key & 0xFFFFFFFFFFFFFFFF] if key else ""
    return found


def once(rule: Callable[[Token], Found]) -> Callable[[Token], Found]:
    """Make a rule about one token keep its answer with the token; nobody may change a list it returns."""
    name = rule.__name__

    @wraps(rule)
    def answer(token: Token) -> Found:
        known = token.known
        if name not in known:
            known[name] = rule(token)
        return known[name]

    return answer
