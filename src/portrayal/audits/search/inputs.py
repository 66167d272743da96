"""Inputs of the measure besides answers: collection, measuring vectors, word lists, kept as tables."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.coverage import LOOKED_AT
from portrayal.audits.search.measures.genderedness import query_scores
from portrayal.audits.search.measures.history import GENDERED_STOP_WORDS, History, word_scores
from portrayal.audits.search.measures.representation import without_shared
from portrayal.audits.search.measures.validation import DICHOTOMIES
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.stimuli import check_queries, open_collection, pole_pairs
from portrayal.study.study import Study
from portrayal.text.collections import Collection, RollCall, synthetic
from portrayal.text.collections.collection import Document
from portrayal.text.lexicons import READ_AS, read_lexicon
from portrayal.text.vectors.direction import find_direction
from portrayal.text.vectors.sets import open_vectors
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import stop_words, words

Spaces = Mapping[str, WordSpace]
SAMPLE = 200  # documents whose language is told
NAMES_FIRST = 1.0  # percent of people who bear a name; from there on it is a name first


def measuring_stop_words(name: str = "snowball", folder: Path | str = ".") -> frozenset[str]:
    """Return a stop list without the words that name a gender."""
    return stop_words(name, folder) - GENDERED_STOP_WORDS


def measuring_words(text: str, stop: frozenset[str]) -> list[str]:
    """Return the words of a text without these stop words."""
    return [word for word in words(text) if word not in stop]


def make_history(
    collection: Collection,
    only: Container[str] | None = None,
    cutoff: int | None = None,
    discount: str = "definition",
    inflected: bool = True,
    stop: frozenset[str] | None = None,
    roll: RollCall | None = None,
) -> History:
    """Read a collection's documents once into what its runs are measured against."""
    check_queries(collection, len(collection.queries))
    documents = collection.documents() if roll is None else roll.watch(collection.documents())
    wanted = documents if only is None else (document for document in documents if document[0] in only)
    left_out = measuring_stop_words() if stop is None else stop
    bags = read_bags(wanted, left_out)
    queries = {query: measuring_words(text, left_out) for query, text in collection.queries.items()}
    history = History(queries, bags, collection.levels(), discount=discount, inflected=inflected)
    return replace(history, clusters=collection.clusters).cut_at(cutoff)


def read_history(
    collection: Collection, settings: SearchSettings, folder: Path, roll: RollCall, only: Container[str] | None = None
) -> History:
    """Read a collection as a study's settings say."""
    stop = measuring_stop_words(settings.stop, folder)
    return make_history(collection, only, settings.cutoff, settings.discount, settings.inflected, stop, roll)


def read_bags(documents: Iterable[Document], stop: frozenset[str]) -> Bags:
    """Read documents by the engine's workers, or else by threads of this process."""
    from portrayal.text.collections.numbering import read_numbered

    return Bags(*read_numbered(documents, stop))


def open_spaces(settings: SearchSettings, folder: Path, wanted: set[str]) -> dict[str, WordSpace]:
    """Open the study's measuring vectors."""
    return {name: open_vectors(name, folder, wanted) for name in settings.vectors}


def wanted_words(history: History, settings: SearchSettings) -> set[str]:
    """Return every word that may be scored: of a vector file only these are held."""
    of_queries = {word for words in history.queries.values() for word in words}
    poles = {word for pair in pole_pairs(settings) for word in pair}
    checked = {word for name in DICHOTOMIES for word in read_lexicon(name)["word"]}
    extra = {*READ_AS.values(), *synthetic.PERSONS.values(), *synthetic.authors_words().jobs}
    every = {*history.bags.words, *of_queries, *poles, *checked, *extra}
    return {*every, *map(str.lower, every)}


def inputs(study: Study) -> Mapping[str, Any]:
    """Read the collection and the vectors once, as the tables a run keeps."""
    collection = open_collection(study.settings, study.folder)
    roll, settings = RollCall(collection), study.settings
    history = read_history(collection, settings, study.folder, roll)
    wanted = wanted_words(history, settings)
    vectors = _space_tables(open_spaces(settings, study.folder, wanted), wanted)
    stop = sorted(measuring_stop_words(settings.stop, study.folder))
    example = _example(collection, history, next(iter(_spaces_of(vectors).values())), settings)
    inputs = {**_history_tables(history, collection.queries), **vectors, "stop": stop}
    return {**inputs, **({"example": example} if example else {}), "gaps": roll.says()}


def _example(collection: Collection, history: History, space: WordSpace, settings: SearchSettings) -> list[Any] | None:
    """Return the most gendered judged query and its best document's words, for Figure 2."""
    judged = [query for query in history.queries if history.relevant(query)]
    scores = word_scores(space, find_direction(space, pole_pairs(settings)), history) if judged else {}
    strength = np.abs(query_scores([history.queries[query] for query in judged], scores))
    if np.isnan(strength).all():  # or none is judged
        return None
    query = judged[int(np.nanargmax(strength))]
    wanted = next(iter(history.relevant(query)))
    text = next(text for name, text in collection.documents() if name == wanted)
    return [query, words(text)]


def open_inputs(run: Mapping[str, Any], settings: SearchSettings) -> dict[str, Any]:
    """Return the inputs of the measure from the tables of a run."""
    example = run.get("example")
    # A run recorded by an earlier version does not keep its stop words; they were of a list that ships.
    stop = frozenset(run["stop"]) if "stop" in run else measuring_stop_words(settings.stop)
    return {
        "history": _history_of(run, settings),
        "texts": dict(run["queries"].select("query", "text").iter_rows()),
        "spaces": _spaces_of(run),
        "pairs": pole_pairs(settings),
        "example": (*example, stop) if example else None,
        "mentions": mentions(settings),
        "checks": _checks(settings),
        "gaps": run.get("gaps", []),
    }


def mentions(settings: SearchSettings) -> dict[str, set[str]]:
    """Return the words that name people of each group and of no other."""
    if settings.mentions is not None or not settings.about_gender:
        return without_shared(settings.mentions or {})
    return dict(_shipped_mentions(settings.poles, settings.names_percent))


@lru_cache(maxsize=4)
def _shipped_mentions(groups: tuple[str, ...], percent: float) -> dict[str, set[str]]:
    """Return the entities of Appendix B, and common census names that are no words."""
    entities, share = read_lexicon("gendered_entities"), pl.col("percent").cast(pl.Float64)
    # Of a name that WordNet has too ("may", "ray", "jordan") a text says by nothing that it is one.
    names = read_lexicon("census_names").filter(share >= percent, (pl.col("word") == "0") | (share >= NAMES_FIRST))
    taken = {*entities["word"], *stop_words("snowball")}
    own = without_shared({group: set(names.filter(group=group)["name"]) - taken for group in groups})
    return {group: words | set(entities.filter(group=group)["word"]) for group, words in own.items()}


def _checks(settings: SearchSettings) -> dict[tuple[str, str], tuple[Collection, synthetic.Words, History]]:
    """Return the toy and synthetic collections by the paper's words and the authors' code."""
    if not (settings.about_gender and settings.validate_direction):
        return {}
    made: dict[tuple[str, str], tuple[Collection, synthetic.Words, History]] = {}
    for setting, lists in (("tables", synthetic.paper_words()), ("code", synthetic.authors_words())):
        for name, make in (("toy", synthetic.toy_collection), ("synthetic", synthetic.synthetic_collection)):
            collection = make(lists)
            # The authors' code measures its toy collections without a discount.
            discount = "none" if setting == "code" else settings.discount
            made[name, setting] = (collection, lists, make_history(collection, discount=discount))
    return made


def _history_tables(history: History, texts: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Return queries, judgments and documents as tables; a document is the counts of its words."""
    counts = history.bags.counts.tocoo()
    queries = [
        (query, texts[query], list(words), history.clusters.get(query)) for query, words in history.queries.items()
    ]
    judged = [(query, doc, level) for query, docs in history.qrels.items() for doc, level in docs.items()]
    of_query: dict[str, Any] = {
        "query": pl.String,
        "text": pl.String,
        "words": pl.List(pl.String),
        "cluster": pl.String,
    }
    of_judgment = {"query": pl.String, "doc": pl.String, "level": pl.Int64}
    return {
        "queries": pl.DataFrame(queries, schema=of_query, orient="row"),
        "judgments": pl.DataFrame(judged, schema=of_judgment, orient="row"),
        "documents": pl.DataFrame({"doc": list(history.bags.documents)}, schema={"doc": pl.String}),
        "words": pl.DataFrame({"word": list(history.bags.words)}, schema={"word": pl.String}),
        "counts": pl.DataFrame({"document": counts.row, "word": counts.col, "count": counts.data}),
    }


def _history_of(run: Mapping[str, Any], settings: SearchSettings) -> History:
    """Return the history from the tables of a run."""
    documents, terms = run["documents"]["doc"].to_list(), run["words"]["word"].to_list()
    document, word, count = (run["counts"][name].to_numpy() for name in ("document", "word", "count"))
    bags = Bags.of_counts(documents, terms, (document, word, count))
    qrels: dict[str, dict[str, int]] = {}
    for query, doc, level in run["judgments"].iter_rows():
        qrels.setdefault(query, {})[doc] = level
    queries = dict(run["queries"].select("query", "words").iter_rows())
    clusters = (
        dict(run["queries"].select("query", "cluster").drop_nulls().iter_rows()) if "cluster" in run["queries"] else {}
    )
    history = History(queries, bags, qrels, discount=settings.discount, inflected=settings.inflected)
    return replace(history, clusters=clusters).cut_at(settings.cutoff)


def document_words(run: Mapping[str, Any], most: int = 6) -> dict[str, str]:
    """Return the rarest words of each document, to recognise it by."""
    if not {"documents", "words", "counts"} <= set(run):
        return {}
    text = pl.lit(run["words"]["word"]).gather(pl.col("word"))
    counted = run["counts"].with_columns(text=text, spread=pl.len().over("word"))
    rarest = counted.filter(~pl.col("text").is_in(list(run.get("stop", ())))).sort("document", "spread", "text")
    joined = rarest.group_by("document", maintain_order=True).agg(pl.col("text").head(most).str.join(" "))
    names = run["documents"]["doc"]
    return {names[place]: text for place, text in joined.iter_rows()}


def document_samples(run: Mapping[str, Any]) -> list[str]:
    """Return words of some documents, spread evenly, to tell their language by."""
    step, word = max(run["documents"].height // SAMPLE, 1), pl.lit(run["words"]["word"]).gather(pl.col("word"))
    some = run["counts"].filter(pl.col("document") % step == 0).sort("document", "word")
    return some.group_by("document", maintain_order=True).agg(word.head(LOOKED_AT).str.join(" "))["word"].to_list()


def _space_tables(spaces: Spaces, wanted: Container[str]) -> dict[str, Any]:
    """Return a table of the wanted words for each set of vectors, and their names."""
    tables: dict[str, Any] = {}
    for place, space in enumerate(spaces.values()):
        terms = sorted((word for word in space.index if word in wanted), key=space.index.__getitem__)
        matrix = np.ascontiguousarray(space.matrix[[space.index[word] for word in terms]])
        tables[f"vectors_{place}"] = pl.DataFrame({"word": terms, "vector": matrix})
    return {**tables, "vectors": [[name, space.name] for name, space in spaces.items()]}


def _spaces_of(run: Mapping[str, Any]) -> dict[str, WordSpace]:
    """Return the sets of vectors from the tables of a run, by name."""
    tables = {name: (own, run[f"vectors_{place}"]) for place, (name, own) in enumerate(run["vectors"])}
    return {
        name: WordSpace.build(own, table["word"], table["vector"].to_numpy()) for name, (own, table) in tables.items()
    }
