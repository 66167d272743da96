"""Trees of captions: parsed together where the pipeline's weights can be read and decisions are clear, else by spaCy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from portrayal.text.captions.base_forms import USED, BaseForms
from portrayal.text.captions.parse_tree import Tree
from portrayal.text.captions.quick_parser import Parse, QuickParser, can_read
from portrayal.text.captions.words import Words


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
