"""Ranked lists of any number of queries, from a folder of Parquet files: what is a sum over a query's list."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.found import Found
from portrayal.audits.search.gsr_of_run import ranked_study
from portrayal.audits.search.histories import check_asked, measuring_stop_words, measuring_words, read_bags
from portrayal.audits.search.inputs import check_quality, measuring_spaces, mentions, open_collection, pole_pairs
from portrayal.audits.search.measure import FACETS
from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.history import History
from portrayal.audits.search.measures.scored_runs import make_rulers
from portrayal.batches import ROWS, Source, whole_units
from portrayal.edges.spill import Columns
from portrayal.study.study import Study
from portrayal.tables import RESPONSES, results
from portrayal.tables import ROWS as OF_KIND
from portrayal.text.collections.collection import Collection
from portrayal.text.collections.shelf import Shelf, shelve

LIST = ("system", "repeat", "stimulus")
COLUMNS = {**RESPONSES, **OF_KIND["ranker"]}
FOLDER = "portrayal-lists-"  # how the name of the temporary folder begins


def list_shares(
    responses: Source, collection: Path | str, vectors: str = "glove", seed: int = 0, rows: int = ROWS, **settings: Any
) -> pl.DataFrame:
    """Measure rankers on more results than memory holds: GSR, quality, exposure, ARaB and over-representation.

    Parameters
    ----------
    responses
        A folder of Parquet files, a lazy table or a table: system, stimulus (the query), repeat, status, doc, rank and score, one
        row per result. The rows of a list lie together.
    collection
        A folder or file of documents, queries and judgments, or a generated collection by name ("toy"). Its documents are held in
        memory; queries and judgments lie in a temporary file.
    vectors
        The measuring vectors, by name or path.
    seed
        Of the tests' sign flips.
    rows
        Read at a time; memory grows with it, and neither with the number of queries nor with the lengths of lists.
    **settings
        Further settings of the search audit, such as `cutoff` or `quality`.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a search audit that are sums over a query's list (docs/search.md lists them), the same as
        in memory: counts equal, floats within 1e-12.

    Raises
    ------
    PortrayalError
        When the rows of a list lie in two places, or a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import list_shares
    >>> from portrayal.text.collections.synthetic import reference_run, toy_collection
    >>> run = reference_run(toy_collection(), "stereotypical").rename({"query": "stimulus"})
    >>> answers = run.with_columns(system=pl.lit("s"), repeat=pl.lit(0, pl.Int64), status=pl.lit("answered"))
    >>> found = list_shares(answers, "toy").filter(measure="gsr", system="s")
    >>> found["value"].item() > 0.5, found["n"].item()
    (True, 20)
    """
    study = ranked_study({"collection": str(collection), "vectors": [vectors], **settings}, seed)
    check_quality(study.settings)
    opened = open_collection(study, held=False)
    stop = measuring_stop_words(study.settings.stop, study.folder)
    with shelve(opened, partial(measuring_words, stop=stop)) as shelf, TemporaryDirectory(prefix=FOLDER) as folder:
        check_asked(opened, shelf.count)
        history = _history(opened, study, stop)
        found = _found(study, shelf, history, Columns(Path(folder), len(shelf)))
        for batch in whole_units(responses, LIST, list(COLUMNS), rows):
            for key, part in batch.group_by("system", "repeat", maintain_order=True):
                found.add((str(key[0]), int(key[1])), part)
        return results(found.rows(), facets=FACETS, audit="search")


def _history(collection: Collection, study: Study, stop: frozenset[str]) -> History:
    """Read the documents once: a history that no query is asked of yet."""
    read, settings = read_bags(collection.documents(), stop), study.settings
    bags = Bags(read.documents, read.words, read.counts)
    return History({}, bags, {}, settings.cutoff, settings.discount, settings.inflected)


def _found(study: Study, shelf: Shelf, history: History, columns: Columns) -> Found:
    """Make the rulers, and score the reference systems."""
    settings = study.settings
    # A ruler looks at the words that are asked, whichever query has them.
    asked = History({"": list(shelf.words)}, history.bags)
    spaces = measuring_spaces(study, asked)
    rulers = make_rulers(spaces, pole_pairs(settings), settings.direction, asked)
    found = Found(settings, study.seed, shelf, history, rulers, mentions(settings), columns)
    found.add_references(np.random.default_rng(study.seed))
    return found
