"""What the measure may look at besides the answers: the collection, the measuring vectors, the word lists."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.histories import check_asked, make_history, measuring_stop_words
from portrayal.audits.search.kept import keep_history, keep_spaces, kept_history, kept_spaces
from portrayal.audits.search.measures.dichotomies import DICHOTOMIES
from portrayal.audits.search.measures.entities import without_shared
from portrayal.audits.search.measures.history import History
from portrayal.audits.search.measures.lists import query_scores
from portrayal.audits.search.measures.quality import measure_named
from portrayal.audits.search.measures.scored_runs import check_system_names
from portrayal.audits.search.measures.scores import word_scores
from portrayal.audits.search.settings import SearchSettings
from portrayal.study.study import Study
from portrayal.text.collections import Collection, RollCall, is_path, read_collection
from portrayal.text.collections.synthetic import (
    PERSONS,
    Words,
    authors_words,
    paper_words,
    synthetic_collection,
    toy_collection,
)
from portrayal.text.lexicons import READ_AS, read_lexicon
from portrayal.text.vectors.direction import find_direction
from portrayal.text.vectors.sets import open_vectors
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import stop_words, words


def open_collection(study: Study, held: bool = True) -> Collection:
    """Open the study's collection: a generated one or one of ir_datasets by name, else a path that starts at the study's folder."""
    name = study.settings.collection
    return read_collection(Path(study.folder) / name if is_path(name) else name, held=held)


def stimuli(study: Study) -> pl.DataFrame:
    """Return the collection's queries as stimuli."""
    check_system_names(system.name for system in study.systems)
    check_quality(study.settings)
    return stimuli_of(open_collection(study))


def check_quality(settings: SearchSettings) -> None:
    """Refuse a measure of quality that nobody knows; a misspelt one is told before anything is asked."""
    for name in settings.quality:
        measure_named(name)


def stimuli_of(collection: Collection) -> pl.DataFrame:
    """Return a collection's queries as stimuli."""
    check_asked(collection, len(collection.queries))
    rows = [
        {
            "stimulus": query,
            "kind": "query",
            "content": text,
            # With the id: two queries of the same words may be judged, and answered by a run file, differently.
            "hash": hashlib.sha256(f"{query}\t{text}".encode()).hexdigest(),
            "source": f"collection {collection.name}",
            "license": "as the collection",
            "consent": "none shown",
            "judged": bool(collection.relevant(query)),
        }
        for query, text in collection.queries.items()
    ]
    return pl.DataFrame(rows)


def inputs(study: Study) -> Mapping[str, Any]:
    """Read the collection and the vectors once, as the tables a run keeps (`portrayal.audits.search.kept`)."""
    return inputs_of(open_collection(study), study, partial(_spaces, study))


def inputs_of(
    collection: Collection, study: Study, spaces: Callable[[set[str]], Mapping[str, WordSpace]]
) -> Mapping[str, Any]:
    """Return the tables a run keeps of a collection, and of the vectors that `spaces` opens for the words it is given."""
    roll, settings = RollCall(collection), study.settings
    history = _history(collection, study, roll)
    kept = _keep(study, history, collection, spaces)
    shown = example(collection, history, next(iter(kept_spaces(kept).values())), settings)
    return {**kept, **({"example": shown} if shown else {}), "gaps": roll.says()}


def inputs_of_listed(study: Study, listed: Iterable[str]) -> Mapping[str, Any]:
    """Read as `inputs` does, of the listed and the relevant documents only: a big collection is not held."""
    collection = open_collection(study)
    relevant = (doc for query in collection.queries for doc in collection.relevant(query))
    roll = RollCall(collection)
    history = _history(collection, study, roll, {*listed, *relevant})
    kept = _keep(study, history, collection, partial(_spaces, study))
    return {**kept, "gaps": roll.says()}


def open_inputs(kept: Mapping[str, Any], settings: SearchSettings) -> dict[str, Any]:
    """Return what the parts of the measure look at.

    Returns
    -------
    dict
        `history`, `texts` (query to text), `spaces` (name to vectors), `pairs`, `mentions` (group to words),
        `checks` (the toy and synthetic histories with their words), `example` (a query, the words of a
        relevant document, stop words), `gaps` (what the collection lacks, in lines).
    """
    history = kept_history(kept, settings)
    shown = kept.get("example")
    # A run recorded by an earlier version does not keep its stop words; they were of a list that ships.
    stop = frozenset(kept["stop"]) if "stop" in kept else measuring_stop_words(settings.stop)
    return {
        "history": history,
        "texts": dict(kept["queries"].select("query", "text").iter_rows()),
        "spaces": kept_spaces(kept),
        "pairs": pole_pairs(settings),
        "example": (*shown, stop) if shown else None,
        "mentions": mentions(settings),
        "checks": checks(settings),
        "gaps": kept.get("gaps", []),
    }


def pole_pairs(settings: SearchSettings) -> list[tuple[str, str]]:
    """Return the pairs that define the direction, the ten of gender by default."""
    return settings.pairs or list(read_lexicon("gender_pairs").iter_rows())


def wanted_words(history: History, settings: SearchSettings) -> set[str]:
    """Return every word that may be scored, so that a big vector file is not held whole."""
    asked = {word for words in history.queries.values() for word in words}
    poles = {word for pair in pole_pairs(settings) for word in pair}
    checked = {word for name in DICHOTOMIES for word in read_lexicon(name)["word"]}
    extra = {*READ_AS.values(), *PERSONS.values(), *authors_words().jobs}
    found = {*history.bags.words, *asked, *poles, *checked, *extra}
    return {*found, *map(str.lower, found)}


def mentions(settings: SearchSettings) -> dict[str, set[str]]:
    """Return the words that name people of each group; a word of several groups counts for none."""
    if settings.mentions is not None:
        return without_shared(settings.mentions)
    if not settings.about_gender:
        return {}
    return dict(_shipped_mentions(settings.poles, settings.names_percent))


@lru_cache(maxsize=4)
def _shipped_mentions(groups: tuple[str, ...], percent: float) -> dict[str, set[str]]:
    """Return the entities of Appendix B, and census names at least as common as this."""
    entities = read_lexicon("gendered_entities")
    names = read_lexicon("census_names").filter(pl.col("percent").cast(pl.Float64) >= percent)
    taken = {*entities["word"], *stop_words("snowball")}  # "will" and "may" are words first
    found = without_shared({group: set(names.filter(group=group)["name"]) - taken for group in groups})
    return {group: words | set(entities.filter(group=group)["word"]) for group, words in found.items()}


def checks(settings: SearchSettings) -> dict[tuple[str, str], tuple[Collection, Words, History]]:
    """Return the toy and synthetic collections, with the paper's tables and with the words of the authors' code."""
    if not (settings.about_gender and settings.validate_direction):
        return {}
    made: dict[tuple[str, str], tuple[Collection, Words, History]] = {}
    for setting, lists in (("tables", paper_words()), ("code", authors_words())):
        for name, make in (("toy", toy_collection), ("synthetic", synthetic_collection)):
            collection = make(lists)
            # The authors' code measures its toy collections without a discount.
            discount = "none" if setting == "code" else settings.discount
            made[name, setting] = (collection, lists, make_history(collection, discount=discount))
    return made


def example(collection: Collection, history: History, space: WordSpace, settings: SearchSettings) -> list[Any] | None:
    """Return the most gendered judged query with the words of its best document, for Figure 2."""
    judged = [query for query in history.queries if history.relevant(query)]
    if not judged:
        return None
    scores = word_scores(space, find_direction(space, pole_pairs(settings)), history)
    strength = np.abs(query_scores([history.queries[query] for query in judged], scores))
    if np.isnan(strength).all():
        return None
    query = judged[int(np.nanargmax(strength))]
    wanted = next(iter(history.relevant(query)))
    text = next(text for name, text in collection.documents() if name == wanted)
    return [query, words(text)]


def _keep(
    study: Study, history: History, collection: Collection, spaces: Callable[[set[str]], Mapping[str, WordSpace]]
) -> dict[str, Any]:
    """Return the tables of the history, and the vectors of every word that may be scored."""
    wanted = wanted_words(history, study.settings)
    stop = sorted(measuring_stop_words(study.settings.stop, study.folder))
    return {**keep_history(history, collection.queries), **keep_spaces(spaces(wanted), wanted), "stop": stop}


def measuring_spaces(study: Study, history: History) -> dict[str, WordSpace]:
    """Open the study's measuring vectors, of the words that may be scored alone."""
    wanted = wanted_words(history, study.settings)
    return kept_spaces(keep_spaces(_spaces(study, wanted), wanted))


def _spaces(study: Study, wanted: set[str]) -> dict[str, WordSpace]:
    """Open the study's measuring vectors."""
    return {name: open_vectors(name, study.folder, wanted) for name in study.settings.vectors}


def _history(collection: Collection, study: Study, roll: RollCall, only: Container[str] | None = None) -> History:
    settings = study.settings
    return make_history(
        collection,
        only,
        cutoff=settings.cutoff,
        discount=settings.discount,
        inflected=settings.inflected,
        stop=measuring_stop_words(settings.stop, study.folder),
        roll=roll,
    )
