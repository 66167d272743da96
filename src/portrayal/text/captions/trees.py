"""Trees of captions as plain objects: parsed together where decisions are clear, else by spaCy.

spaCy makes a new object for every look at a token; the rules look some three hundred times at each. Here a word is made
once, knows its head and children, and keeps what was worked out about it. Its part of speech and base form are worked out for
each word, tag and dependency once: spaCy's attribute ruler tries 179 patterns on every token, and scene graphs ask about few
of them. All but a handful of the patterns are about one token, so that the ruler and the lemmatizer are asked once about a
document of that one word. Where a pattern of several tokens fits ('there is', 'let's'), they are run on the caption itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar

from portrayal.text.captions.quick_parser import Parse, QuickParser, can_read
from portrayal.text.captions.words import Word, Words

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


@lru_cache(maxsize=1)
def base_forms(pipeline: Any) -> BaseForms:
    """Return what a pipeline knows of single words, kept from caption to caption."""
    return BaseForms(pipeline)


@lru_cache(maxsize=1)
def quick_parser(pipeline: Any) -> QuickParser | None:
    """Return a pipeline's parser for many captions at once; None for a pipeline that is built otherwise."""
    return QuickParser(pipeline) if can_read(pipeline) else None


def trees(pipeline: Any, captions: Sequence[Words]) -> Iterator[Tree]:
    """Yield the tree of each caption, given as its words, in order."""
    shown = [[word.shown for word in words] for words in captions]
    quick, analysis = quick_parser(pipeline), base_forms(pipeline)
    parses: list[Parse | None] = [None] * len(shown) if quick is None else quick(shown)
    unsure = [text for text, parse in zip(shown, parses, strict=True) if parse is None]
    by_spacy = spacy_parses(pipeline, unsure)
    for words, parse in zip(captions, parses, strict=True):
        parsed, edges = next(by_spacy) if parse is None else (parse, None)
        yield Tree(words, parsed, analysis, edges)


def spacy_parses(pipeline: Any, texts: Sequence[Sequence[str]]) -> Iterator[tuple[Parse, list[int]]]:
    """Yield what spaCy itself says of each text, and where the words below each word begin."""
    from spacy.tokens import Doc

    docs = (Doc(pipeline.vocab, words=list(text)) for text in texts)
    for doc in pipeline.pipe(docs, batch_size=256, disable=USED):
        heads = [token.head.i - token.i for token in doc]
        parse = Parse([token.tag_ for token in doc], [token.dep_ for token in doc], heads)
        yield parse, [token.left_edge.i for token in doc]
