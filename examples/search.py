"""Measure a ranker of your own: any function from queries to ranked documents will do.

    python examples/search.py

It uses the generated collection `balanced`, in which relevance has nothing to do with gender, and prints GSR with its interval
for BM25, for the mean of word vectors, and for the latter with the gender direction removed.
"""

from __future__ import annotations

from portrayal.audits.search.inputs import make_history
from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.history import lists_of, perfect_lists, score_history, word_scores
from portrayal.text.collections import read_collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.direction import find_direction
from portrayal.text.vectors.sets import open_vectors
from portrayal_rankers.base import rank
from portrayal_rankers.registry import Searchable, make_ranker

RANKERS = {
    "BM25": ("bm25", {}),
    "mean of word vectors": ("add", {"vectors": "glove"}),
    "the same, direction removed": ("add", {"vectors": "glove", "debias": "regular"}),
}


def main() -> None:
    collection = read_collection("balanced")
    history = make_history(collection)
    space = open_vectors("glove")
    direction = find_direction(space, list(read_lexicon("gender_pairs").iter_rows()))
    scores = word_scores(space, direction, history)
    perfect = score_history(history, perfect_lists(history), scores, shared=True)
    show("perfect", gsr(perfect))
    for name, (ranker, settings) in RANKERS.items():
        run = rank(collection, make_ranker(ranker, Searchable(collection), settings), depth=100)
        table = score_history(history, lists_of(run), scores)
        show(name, gsr(table))
        show("  less the perfect system", relative_gsr(table, perfect).difference)


def show(name: str, slope) -> None:
    print(f"{name:30} GSR {slope.value:+.3f} [{slope.low:+.3f}, {slope.high:+.3f}], p {slope.p:.4f}, {slope.n} queries")


if __name__ == "__main__":
    main()
