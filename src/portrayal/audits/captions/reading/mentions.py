"""Captions and labels as mentions: scene-graph tuples with their synsets, and faults by name.

Words that mean something else together, or where they stand, are joined before each is looked up: `middle-aged` is not
aged, `in white` are clothes, and walkers on a path are people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.stages import CAPTIONS, DENIED, FAULTS, MENTIONS, PERSON, Options
from portrayal.text.captions.layout import LONGEST
from portrayal.text.captions.parsing import scene_graphs
from portrayal.text.captions.people import groups_of_adjective
from portrayal.text.captions.scene_graph import SceneGraph
from portrayal.text.captions.senses import synset_of
from portrayal.text.words import wordnet

_MARKUP = re.compile(r"<[^<>]+>|https?://|\{|\}|&\w+;")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
COLOURS = ("black", "white")  # identity words that are clothes after `in`
WALKER, ON_FOOT = "walker", "pedestrian"
READ_AS, SENTENCES = "read as", 3  # no faults, and counted with them; sentences make a paragraph
_END = re.compile(r"[.!?](?=\s|$)")
_MARKDOWN = re.compile(r"^[ \t]{0,9}(?:#{1,6} |[-*+] |\d+[.)] |> |```)|\*\*\S|__\S|\]\(", re.MULTILINE)
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
    options = options or Options()
    phrases = phrases_of(options)
    by_text = {text: graph for (_, _, text), graph in zip(written, graphs, strict=True)}  # each text once
    for manner in ("hedged", "negated"):
        if images_so := [image for image, _, text in written if getattr(by_text[text], manner, ())]:
            faults.append((f"{stage}: {READ_AS} {manner}", len(images_so), images_so[0]))
    if not options.count_hedged:
        by_text = {text: graph.certain() for text, graph in by_text.items()}
    by_text = {text: read_together(graph, text, phrases) for text, graph in by_text.items()}
    rows = [row for image, number, text in written for row in _tuples(image, number, by_text[text])]
    return with_synsets(rows, stage), table, pl.DataFrame(faults, schema=FAULTS, orient="row")


def with_synsets(rows: Iterable[tuple], stage: str) -> pl.DataFrame:
    """Return mentions from rows (image, caption, kind, subject, word, object), each word given its synset."""
    names = ["image", "caption", "kind", "subject", "word", "object"]
    types = [pl.String, pl.Int64, *[pl.String] * 4]
    table = pl.DataFrame(list(rows), schema=dict(zip(names, types, strict=True)), orient="row")
    of_kind = (pl.when(pl.col("kind") == kind).then(_synset_column("word", part)) for kind, part in _PARTS.items())
    nouns = {f"{name}_synset": _synset_column(name, "n") for name in ("subject", "object")}
    table = table.with_columns(stage=pl.lit(stage), synset=pl.coalesce(of_kind), **nouns)
    return table.select(pl.col(name).cast(kind) for name, kind in MENTIONS.items())


def _synset_column(column: str, part: str) -> pl.Expr:
    return pl.col(column).map_batches(lambda words: _synsets(words, part), return_dtype=pl.String)


def _synsets(words: pl.Series, part: str) -> pl.Series:
    """Look every distinct word up once."""
    distinct = words.unique().drop_nulls()
    synsets = pl.Series([synset_of(word, part) for word in distinct], dtype=pl.String)
    return words.replace_strict(distinct, synsets, default=None, return_dtype=pl.String)


def _tuples(image: str, number: int, graph: SceneGraph) -> Iterable[tuple]:
    for noun in graph.objects:
        yield image, number, "object", None, noun, None
    for noun, attribute in graph.attributes:
        yield image, number, "attribute", noun, attribute, None
    for subject, relation, target in graph.relations:
        yield image, number, "relation", subject, relation, target
    for place, person in enumerate(graph.people):
        for word in person.mentions:
            yield image, number, PERSON, None, word, str(place)
    for node in graph.nodes:
        if node.person is not None and not node.negated and len(node.words) == 2 and groups_of_adjective(node.words[1]):
            yield image, number, PERSON, None, node.words[1], str(node.person)
    for word in _denied(graph):
        yield image, number, DENIED, None, word, None


def _denied(graph: SceneGraph) -> list[str]:
    """Return words that a caption denies or leaves open, and affirms nowhere."""
    mentions = [mention for person in graph.people for mention in person.mentions]
    open_words = [word for mention in mentions if " or " in mention for word in mention.split(" or ")]
    parts = dict.fromkeys(part for word in (*graph.negated, *open_words) for part in word.split())
    return [part for part in parts if part not in graph.objects and part not in mentions]


def _numbered(captions: pl.DataFrame, stage: str, images: Sequence[str]) -> tuple[pl.DataFrame, list[tuple]]:
    """Return the captions numbered per image, and the faults found on the way."""
    known, twice = pl.col("image").is_in(list(images)), pl.Series(dtype=pl.String)
    if "caption" in captions.columns:
        twice = captions.filter(pl.struct("image", "caption").is_duplicated())["image"].unique()
        captions = captions.unique(["image", "caption"], keep="first", maintain_order=True)
    else:
        captions = captions.with_columns(caption=pl.int_range(pl.len()).over("image"))
    strange = captions.filter(~known)["image"]
    table = captions.filter(known, pl.col("text").is_not_null())
    faults = {
        "two captions with one id, the first kept": list(twice),
        "caption of an image not in the study, left out": list(strange),
        "image with no caption": sorted(set(images) - set(table["image"])),
    }
    rows = [(f"{stage}: {fault}", len(affected), str(affected[0])) for fault, affected in faults.items() if affected]
    table = table.with_columns(stage=pl.lit(stage)).select(pl.col(name).cast(kind) for name, kind in CAPTIONS.items())
    return table, rows + _text_faults(table, stage)


def _text_faults(table: pl.DataFrame, stage: str) -> list[tuple]:
    counts: dict[str, tuple[int, str]] = {}
    distinct = table.group_by("text", maintain_order=True).agg(pl.col("image").first(), count=pl.len())
    for text, image, count in distinct.iter_rows():
        for fault in text_faults(text):
            before, example = counts.get(fault, (0, image))
            counts[fault] = before + count, example
    return [(f"{stage}: {fault}", count, example) for fault, (count, example) in counts.items()]


def text_faults(text: str) -> list[str]:
    """Return the faults of a caption, in words; mostly none."""
    if not text.strip():
        return ["empty caption"]
    faults = {
        f"over {LONGEST} characters, cut": len(text) > LONGEST,
        "markup": _MARKUP.search(text),
        "control characters": _CONTROL.search(text),
        f"{READ_AS} a paragraph": len(_END.findall(text)) >= SENTENCES,
        f"{READ_AS} markdown": _MARKDOWN.search(text),
    }
    return [fault for fault, is_there in faults.items() if is_there]


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
    for term in _terms_in(phrases.nouns, lowered):
        graph = _joined_noun(graph, term)
    for term in _terms_in(phrases.adjectives, lowered):
        graph = _joined_adjective(graph, term)
    if WALKER in graph.objects and _is_on_foot(graph, lowered):
        graph = renamed(graph, WALKER, ON_FOOT)
    for colour in set(COLOURS) & {target for _, relation, target in graph.relations if _is_worn(relation)}:
        graph = renamed(graph, colour, f"{colour} clothing")
    return graph


def _terms_in(terms: Iterable[str], text: str) -> list[str]:
    pattern = _pattern(tuple(terms))
    matches = {_GAP.sub(" ", match.group(1)) for match in pattern.finditer(text)} if pattern else set()
    return [term for term in terms if _GAP.sub(" ", term) in matches] if matches else []


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
    attributes = tuple(pair for pair in graph.attributes if pair[0] != term or pair[1] not in parts)
    return replace(graph, attributes=attributes)


def _joined_adjective(graph: SceneGraph, term: str) -> SceneGraph:
    """Replace a term's parts, as attributes of one noun, by the term."""
    parts = {*_GAP.split(term), _GAP.sub(" ", term), _GAP.sub("-", term)}
    whom = {noun for noun, word in graph.attributes if word in parts and is_person(noun, synset_of(noun, "n"))}
    attributes = [pair for pair in graph.attributes if not (pair[0] in whom and pair[1] in parts)]
    return replace(graph, attributes=(*attributes, *((noun, term) for noun in sorted(whom))))


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

    return replace(
        graph,
        objects=tuple(dict.fromkeys(map(name, graph.objects))),
        attributes=tuple(dict.fromkeys((name(noun), word) for noun, word in graph.attributes)),
        relations=tuple(dict.fromkeys((name(one), word, name(other)) for one, word, other in graph.relations)),
    )
