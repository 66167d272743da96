"""The collection and the measuring vectors as a run keeps them: tables in, tables out."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import History
from portrayal.audits.search.settings import SearchSettings
from portrayal.text.vectors.space import WordSpace


def keep_history(history: History, texts: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Return queries, judgments and documents as tables; a document is how often each of its words occurs."""
    counts = history.bags.counts.tocoo()
    judged = [(query, doc, level) for query, docs in history.qrels.items() for doc, level in docs.items()]
    return {
        "queries": pl.DataFrame(
            [(query, texts[query], list(words)) for query, words in history.queries.items()],
            schema={"query": pl.String, "text": pl.String, "words": pl.List(pl.String)},
            orient="row",
        ),
        "judgments": pl.DataFrame(
            judged, schema={"query": pl.String, "doc": pl.String, "level": pl.Int64}, orient="row"
        ),
        "documents": pl.DataFrame({"doc": list(history.bags.documents)}, schema={"doc": pl.String}),
        "words": pl.DataFrame({"word": list(history.bags.words)}, schema={"word": pl.String}),
        "counts": pl.DataFrame({"document": counts.row, "word": counts.col, "count": counts.data}),
    }


def kept_history(kept: Mapping[str, Any], settings: SearchSettings) -> History:
    """Return the history from the tables of a run."""
    from scipy import sparse

    documents, words = kept["documents"]["doc"].to_list(), kept["words"]["word"].to_list()
    table = kept["counts"]
    entries = (table["count"].to_numpy(), (table["document"].to_numpy(), table["word"].to_numpy()))
    counts = sparse.coo_array(entries, shape=(len(documents), len(words))).tocsc()
    qrels: dict[str, dict[str, int]] = {}
    for query, doc, level in kept["judgments"].iter_rows():
        qrels.setdefault(query, {})[doc] = level
    queries = dict(kept["queries"].select("query", "words").iter_rows())
    bags = Bags(documents, words, counts)
    return History(queries, bags, qrels, settings.cutoff, settings.discount, settings.inflected)


def document_words(kept: Mapping[str, Any], most: int = 6) -> dict[str, str]:
    """Return the rarest words of each document, stop words left out, as a reader may recognise it by them."""
    if not {"documents", "words", "counts"} <= set(kept):
        return {}
    named = kept["counts"].with_columns(
        text=pl.lit(kept["words"]["word"]).gather(pl.col("word")), held=pl.len().over("word")
    )
    told = (
        named.filter(~pl.col("text").is_in(list(kept.get("stop", ()))))
        .sort("document", "held", "text")
        .group_by("document", maintain_order=True)
        .agg(pl.col("text").head(most).str.join(" "))
    )
    names = kept["documents"]["doc"]
    return {names[place]: text for place, text in told.iter_rows()}


def keep_spaces(spaces: Mapping[str, WordSpace], wanted: Container[str]) -> dict[str, Any]:
    """Return each set of vectors as a table of the wanted words and their vectors, and the sets' names."""
    names = [[asked, space.name] for asked, space in spaces.items()]
    tables = {f"vectors_{place}": _table(space, wanted) for place, space in enumerate(spaces.values())}
    return {**tables, "vectors": names}


def kept_spaces(kept: Mapping[str, Any]) -> dict[str, WordSpace]:
    """Return the sets of vectors from the tables of a run, by the name the study gives them."""
    found = {}
    for place, (asked, name) in enumerate(kept["vectors"]):
        table = kept[f"vectors_{place}"]
        found[asked] = WordSpace.build(name, table["word"], table["vector"].to_numpy())
    return found


def _table(space: WordSpace, wanted: Container[str]) -> pl.DataFrame:
    words = sorted((word for word in space.index if word in wanted), key=space.index.__getitem__)
    matrix = np.ascontiguousarray(space.matrix[[space.index[word] for word in words]])
    return pl.DataFrame({"word": words, "vector": matrix})
