"""A parsed caption as plain objects: what the rules of scene graphs ask of a word.

spaCy makes a new object for every look at a token; the rules look some three hundred times at each. Here a word is made
once, knows its head and children, and keeps what was worked out about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

from portrayal.text.captions.quick_parser import Parse
from portrayal.text.captions.words import Word

Found = TypeVar("Found")


class Token:
    """A word of a parsed caption, under spaCy's names for what the parser says of it."""

    __slots__ = ("children", "dep_", "head", "i", "known", "lefts", "lower_", "said", "tag_", "text", "tree", "word")

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
        if self.tree.edges is not None:
            return self.tree.edges[self.i]
        token = self
        while token.lefts:
            token = token.lefts[0]
        return token.i

    @property
    def sentence(self) -> list[Token]:
        """All words of the sentence."""
        return self.tree.sentence(self.i)


class Tree:
    """The words of a parsed caption."""

    def __init__(
        self,
        words: Sequence[Word],
        parse: Parse,
        analysis: Callable[[Token], tuple[str, str]],
        edges: Sequence[int] | None = None,
    ) -> None:
        self.parse, self.analysis, self.edges = parse, analysis, edges
        self.tokens = [
            Token(self, i, word, tag, dependency)
            for i, (word, tag, dependency) in enumerate(zip(words, parse.tags, parse.dependencies, strict=True))
        ]
        self.whole: list[tuple[str, str]] | None = (
            None  # what `base_forms` says where it went through the caption itself
        )
        self._join(parse.heads)

    def _join(self, heads: Sequence[int]) -> None:
        """Tell every word its head, and every head the words below it from left to right."""
        tokens = self.tokens
        for token, offset in zip(tokens, heads, strict=True):
            if offset:
                token.head = head = tokens[token.i + offset]
                head.children.append(token)
                if offset > 0:
                    head.lefts.append(token)

    @cached_property
    def _starts(self) -> set[int]:
        """Where sentences begin: where the words below a root do."""
        return {token.left_edge for token in self.tokens if token.head is token}

    def sentence(self, i: int) -> list[Token]:
        """Return the words of the sentence that a place is in."""
        first, last = i, i + 1
        while first > 0 and first not in self._starts:
            first -= 1
        while last < len(self.tokens) and last not in self._starts:
            last += 1
        return self.tokens[first:last]


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
