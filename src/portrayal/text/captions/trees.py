"""Dependency trees of captions as plain objects.

spaCy makes a new object for every look at a token, and its attribute ruler tries 179 patterns on each. Here a word is made once,
and ruler and lemmatizer are asked once about a document of that one word, unless a pattern of several tokens fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, wraps
from itertools import islice
from typing import Any, TypeVar

from portrayal.text.captions.words import Word, Words

Answer = TypeVar("Answer")
AFFIRMED, HEDGED, NEGATED, HIDDEN = range(4)  # hidden: layout, and words that the picture shows
LAZY = ("attribute_ruler", "lemmatizer")  # the parts of a pipeline that are asked here, and left out when it parses


class Token:
    """A word of a parsed caption, with spaCy's names for its attributes."""

    __slots__ = (
        "cache", "children", "dep_", "head", "i", "is_open", "lefts", "lower_", "mood", "original", "people", "tag_",
        "text", "tree", "word",
    )  # fmt: skip

    def __init__(self, tree: Tree, i: int, word: Word, tag: str, dep: str) -> None:
        self.tree, self.i, self.word, self.tag_, self.dep_ = tree, i, word, tag, dep
        self.original, self.text, self.lower_ = word.original, word.substitute, word.substitute.lower()
        self.head: Token = self
        self.lefts: list[Token] = []
        self.children: list[Token] = []
        self.cache: dict[str, Any] = {}
        self.mood = AFFIRMED
        self.is_open = False  # whether the text leaves open which noun it is: 'a man or a woman'
        self.people: tuple[Any, ...] = ()  # of a word for people: whom it means, all of them

    @property
    def pos_(self) -> str:
        """The coarse part of speech."""
        return self.tree.base_forms(self)[0]

    @property
    def lemma_(self) -> str:
        """The base form."""
        return self.tree.base_forms(self)[1]

    @property
    def ancestors(self) -> Iterator[Token]:
        """The words above, nearest first."""
        token = self
        while token.head is not token:
            token = token.head
            yield token

    @property
    def left_edge(self) -> int:
        """The place of the first word below this one."""
        return int(self.tree.doc[self.i].left_edge.i)

    @property
    def sentence(self) -> list[Token]:
        """All words of the sentence."""
        sentence = self.tree.doc[self.i].sent
        return self.tree.tokens[sentence.start : sentence.end]


class Tree:
    """The words of a parsed caption."""

    def __init__(self, words: Words, doc: Any, base_forms: BaseForms) -> None:
        self.doc, self.base_forms = doc, base_forms
        self.number = 0  # of the sentence in its caption
        self.analysed: bool | None = None  # whether `base_forms` went through the document itself
        self.tokens = [Token(self, at.i, word, at.tag_, at.dep_) for word, at in zip(words, doc, strict=True)]
        for token, at in zip(self.tokens, doc, strict=True):
            head = at.head.i
            if head != token.i:
                token.head = self.tokens[head]
                token.head.children.append(token)
                if head > token.i:
                    token.head.lefts.append(token)


def once(rule: Callable[[Token], Answer]) -> Callable[[Token], Answer]:
    """Cache a rule's answer in the token; nobody may change a list it returns."""
    name = rule.__name__

    @wraps(rule)
    def answer(token: Token) -> Answer:
        cache = token.cache
        if name not in cache:
            cache[name] = rule(token)
        return cache[name]

    return answer


class BaseForms:
    """The answers of a pipeline's attribute ruler and lemmatizer, cached from caption to caption."""

    def __init__(self, pipeline: Any) -> None:
        self._vocab = pipeline.vocab
        self._parts = [pipeline.get_pipe(name) for name in LAZY]
        patterns = [pattern for rule in self._parts[0].patterns for pattern in rule["patterns"]]
        first = [pattern[0] for pattern in patterns if len(pattern) > 1]
        self._dependencies = frozenset(token["DEP"] for token in first if "LOWER" not in token)
        self._words = re.compile("|".join(_regular(token["LOWER"]) for token in first if "LOWER" in token))
        self._begins: dict[str, bool] = {}  # whether a word begins a pattern of several tokens
        self._cache: dict[tuple[str, str, str], tuple[str, str]] = {}

    def __call__(self, token: Token) -> tuple[str, str]:
        """Return a token's part of speech and its base form."""
        tree = token.tree
        if tree.analysed is None:
            tree.analysed = any(self._may_begin(token) for token in tree.tokens)
            if tree.analysed:
                self._analyse(tree.doc)
        if tree.analysed:
            return tree.doc[token.i].pos_, tree.doc[token.i].lemma_
        key = (token.text, token.tag_, token.dep_)
        if key not in self._cache:
            self._cache[key] = self._alone(*key)
        return self._cache[key]

    def _may_begin(self, token: Token) -> bool:
        """Return True if a pattern of several tokens may begin here."""
        begins = self._begins.get(token.lower_)
        if begins is None:
            begins = self._begins[token.lower_] = self._words.search(token.lower_) is not None
        return begins or token.dep_ in self._dependencies

    def _alone(self, text: str, tag: str, dep: str) -> tuple[str, str]:
        from spacy.tokens import Doc

        doc = Doc(self._vocab, words=[text])
        doc[0].tag_, doc[0].dep_ = tag, dep
        self._analyse(doc)
        return doc[0].pos_, doc[0].lemma_

    def _analyse(self, doc: Any) -> None:
        for part in self._parts:
            part(doc)


def _regular(word: Any) -> str:
    """Return a regular expression for a pattern's word: a text, a list, or an expression."""
    if isinstance(word, str):
        return f"^{re.escape(word)}$"
    return str(word["REGEX"]) if "REGEX" in word else "|".join(_regular(one) for one in word["IN"])


base_forms = lru_cache(maxsize=1)(BaseForms)


def trees(pipeline: Any, captions: Sequence[Sequence[Words]]) -> Iterator[list[Tree]]:
    """Yield the trees of each caption, given as the words of its sentences, in order."""
    from spacy.tokens import Doc

    parts = [words for sentences in captions for words in sentences]
    docs = (Doc(pipeline.vocab, words=[word.substitute for word in words]) for words in parts)
    parsed = zip(parts, pipeline.pipe(docs, batch_size=256, disable=LAZY), strict=True)
    for sentences in captions:
        yield [Tree(words, doc, base_forms(pipeline)) for words, doc in islice(parsed, len(sentences))]
