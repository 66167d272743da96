"""Captions and labels as mentions: scene-graph tuples with their synsets, and faults by name.

Words that mean something else together, or where they stand, are joined before each is looked up: `middle-aged` is not
aged, `in white` are clothes, and walkers on a path are people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.senses import synset_of
from portrayal.audits.captions.reading.stages import CAPTIONS, FAULTS, MENTIONS, Options
from portrayal.text.captions.parsing import LONGEST, scene_graphs
from portrayal.text.captions.scene_graph import SceneGraph
from portrayal.text.words import wordnet

_MARKUP = re.compile(r"<[^<>]+>|https?://|\{|\}|&\w+;")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORD = re.compile(r"[^\W\d_]+")
COLOURS = ("black", "white")  # identity words that are clothes after `in`
WALKER, ON_FOOT = "walker", "pedestrian"
_GAP = re.compile(r"[\s-]+")
_PARTS = {"object": "n", "attribute": "a", "relation": "v"}


def read_captions(
    captions: pl.DataFrame,
    stage: str,
    images: Sequence[str],
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    options: Options | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return (mentions, captions, faults) of one stage."""
    table, faults = _numbered(captions, stage, images)
    written = [row for row in table.select("image", "caption", "text").iter_rows() if row[2].strip()]
    graphs = scene_graphs([text for _, _, text in written], processes, progress)
    phrases = phrases_of(options or Options())
    said = {text: graph for (_, _, text), graph in zip(written, graphs, strict=True)}  # each text once
    said = {text: read_together(graph, text, phrases) for text, graph in said.items()}
    mentions = from_graphs(((image, number, said[text]) for image, number, text in written), stage)
    return mentions, table, pl.DataFrame(faults, schema=FAULTS, orient="row")


def from_graphs(rows: Iterable[tuple[str, int, SceneGraph]], stage: str) -> pl.DataFrame:
    """Return the mentions of scene graphs, given as (image, caption number, graph)."""
    said = [row for image, number, graph in rows for row in _tuples(image, number, graph)]
    return with_synsets(said, stage)


def with_synsets(said: Iterable[tuple], stage: str) -> pl.DataFrame:
    """Return mentions from rows (image, caption, kind, subject, word, object), each word given its synset."""
    names = ["image", "caption", "kind", "subject", "word", "object"]
    types = [pl.String, pl.Int64, *[pl.String] * 4]
    table = pl.DataFrame(list(said), schema=dict(zip(names, types, strict=True)), orient="row")
    table = table.with_columns(
        pl.lit(stage).alias("stage"),
        pl.coalesce(
            pl.when(pl.col("kind") == kind).then(_synset_column("word", part)) for kind, part in _PARTS.items()
        ).alias("synset"),
        _synset_column("subject", "n").alias("subject_synset"),
        _synset_column("object", "n").alias("object_synset"),
    )
    return table.select(pl.col(name).cast(kind) for name, kind in MENTIONS.items())


def _synset_column(column: str, part: str) -> pl.Expr:
    return pl.col(column).map_batches(lambda words: _synsets(words, part), return_dtype=pl.String)


def _synsets(words: pl.Series, part: str) -> pl.Series:
    """Look every distinct word up once."""
    distinct = words.unique().drop_nulls()
    found = pl.Series([synset_of(word, part) for word in distinct], dtype=pl.String)
    return words.replace_strict(distinct, found, default=None, return_dtype=pl.String)


def _tuples(image: str, number: int, graph: SceneGraph) -> Iterable[tuple]:
    for noun in graph.objects:
        yield image, number, "object", None, noun, None
    for noun, attribute in graph.attributes:
        yield image, number, "attribute", noun, attribute, None
    for subject, relation, target in graph.relations:
        yield image, number, "relation", subject, relation, target


def _numbered(captions: pl.DataFrame, stage: str, images: Sequence[str]) -> tuple[pl.DataFrame, list[tuple]]:
    """Return the captions numbered per image, and the faults found on the way."""
    faults: list[tuple] = []
    if "caption" in captions.columns:
        twice = captions.filter(pl.struct("image", "caption").is_duplicated())
        if len(twice):
            faults.append(_fault(f"{stage}: two captions with one id, the first kept", twice["image"].unique()))
        captions = captions.unique(["image", "caption"], keep="first", maintain_order=True)
    else:
        captions = captions.with_columns(pl.int_range(pl.len()).over("image").alias("caption"))
    strange = captions.filter(~pl.col("image").is_in(list(images)))
    if len(strange):
        faults.append(_fault(f"{stage}: caption of an image not in the study, left out", strange["image"]))
    captions = captions.filter(pl.col("image").is_in(list(images)))
    given = captions.filter(pl.col("text").is_not_null())
    without = sorted(set(images) - set(given["image"]))
    if without:
        faults.append(_fault(f"{stage}: image with no caption", without))
    faults += _text_faults(given, stage)
    table = given.with_columns(pl.lit(stage).alias("stage"))
    return table.select(pl.col(name).cast(kind) for name, kind in CAPTIONS.items()), faults


def _fault(name: str, images: Iterable[str]) -> tuple[str, int, str]:
    images = list(images)
    return name, len(images), str(images[0])


def _text_faults(table: pl.DataFrame, stage: str) -> list[tuple]:
    counts: Counter[str] = Counter()
    example: dict[str, str] = {}
    distinct = table.group_by("text", maintain_order=True).agg(pl.col("image").first(), count=pl.len())
    for text, image, count in distinct.iter_rows():
        for fault in text_faults(text):
            counts[fault] += count
            example.setdefault(fault, image)
    return [(f"{stage}: {fault}", count, example[fault]) for fault, count in counts.items()]


def text_faults(text: str) -> list[str]:
    """Return the faults of a caption, in words; mostly none."""
    if not text.strip():
        return ["empty caption"]
    found = []
    if len(text) > LONGEST:
        found.append(f"over {LONGEST} characters, cut")
    if _MARKUP.search(text):
        found.append("markup")
    if _CONTROL.search(text):
        found.append("control characters")
    if not _is_english(text):
        found.append("not English: no common English word")
    return found


def _is_english(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(text[:LONGEST])]
    if any(word in _FUNCTION_WORDS for word in words):
        return True
    known = sum(_known(word) for word in words)
    return 2 * known > len(words)


_FUNCTION_WORDS = frozenset(
    [
        "a", "an", "the", "and", "of", "with", "is", "are", "on", "at", "to", "his", "her", "their", "its", "two", "this", "that",
        "there",
    ]
)  # fmt: skip
_KNOWN: dict[str, bool] = {}


def _known(word: str) -> bool:
    if word not in _KNOWN:
        _KNOWN[word] = wordnet.load().most_common(word, "") is not None
    return _KNOWN[word]


class Phrases(NamedTuple):
    """Terms of several words: nouns (`head wrap`) and adjectives (`middle-aged`)."""

    nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()


def phrases_of(options: Options) -> Phrases:
    """Return the terms of several words in a study's word lists."""
    tables = [options.word_list(name) for name in ("identity", "demeaning")]
    listed = [pair for table in tables for pair in table.select("term", "part").iter_rows()]
    listed += [(term, "n") for term in options.word_list("artifacts")["term"]]
    several = [(term, part) for term, part in listed if _GAP.search(term)]
    return Phrases(*(tuple(term for term, part in several if part == wanted) for wanted in "na"))


def is_phrase(term: str) -> bool:
    """Return True for a noun of several words that WordNet lacks."""
    return " " in term and not wordnet.load().lemmas_of(term, "n")


def read_together(graph: SceneGraph, text: str, phrases: Phrases) -> SceneGraph:
    """Return the graph with words joined that mean one thing together."""
    lowered = text.lower()
    for term in _said(phrases.nouns, lowered):
        graph = _joined_noun(graph, term)
    for term in _said(phrases.adjectives, lowered):
        graph = _joined_adjective(graph, term)
    if WALKER in graph.objects and _is_on_foot(graph, lowered):
        graph = renamed(graph, WALKER, ON_FOOT)
    for colour in set(COLOURS) & {target for _, relation, target in graph.relations if _is_worn(relation)}:
        graph = renamed(graph, colour, f"{colour} clothing")
    return graph


def _said(terms: Iterable[str], text: str) -> list[str]:
    pattern = _pattern(tuple(terms))
    found = {_GAP.sub(" ", match.group(1)) for match in pattern.finditer(text)} if pattern else set()
    return [term for term in terms if _GAP.sub(" ", term) in found] if found else []


@lru_cache(maxsize=16)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str] | None:
    choice = "|".join(r"[\s-]+".join(map(re.escape, _GAP.split(term))) for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"\b({choice})(?:s|es)?\b") if terms else None


def _joined_noun(graph: SceneGraph, term: str) -> SceneGraph:
    """Rename every noun that is part of a phrase to the whole phrase."""
    parts = _GAP.split(term)
    pieces = {" ".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    heads = [noun for noun in graph.objects if noun in pieces or noun.endswith(f" {term}")]
    for noun in heads:
        graph = renamed(graph, noun, term)
    kept = tuple(pair for pair in graph.attributes if pair[0] != term or pair[1] not in parts)
    return SceneGraph(graph.objects, kept, graph.relations)


def _joined_adjective(graph: SceneGraph, term: str) -> SceneGraph:
    """Replace a term's parts, as attributes of one noun, by the term."""
    parts = set(_GAP.split(term))
    whom = {noun for noun, word in graph.attributes if word in parts and is_person(noun, synset_of(noun, "n"))}
    kept = [pair for pair in graph.attributes if not (pair[0] in whom and pair[1] in parts)]
    return SceneGraph(graph.objects, (*kept, *((noun, term) for noun in sorted(whom))), graph.relations)


def _is_on_foot(graph: SceneGraph, text: str) -> bool:
    """Return True for several walkers, or one alone; one beside somebody is a frame."""
    others = (noun for noun in graph.objects if noun != WALKER)
    return "walkers" in text or not any(is_person(noun, synset_of(noun, "n")) for noun in others)


def _is_worn(relation: str) -> bool:
    return relation in ("in", "wear") or relation.endswith(" in")


def renamed(graph: SceneGraph, old: str, new: str) -> SceneGraph:
    """Return the graph with one noun called otherwise, each tuple once."""

    def name(noun: str) -> str:
        return new if noun == old else noun

    return SceneGraph(
        tuple(dict.fromkeys(map(name, graph.objects))),
        tuple(dict.fromkeys((name(noun), word) for noun, word in graph.attributes)),
        tuple(dict.fromkeys((name(one), word, name(other)) for one, word, other in graph.relations)),
    )
