"""Document collections with queries and judgments, and the runs made on them."""

from portrayal.stimuli.collections.collection import Collection, collection_of, in_batches
from portrayal.stimuli.collections.readers import FORMS, read_collection
from portrayal.stimuli.collections.runs import check_run, read_run, run_table, without_result, write_run
from portrayal.stimuli.collections.trec import read_qrels, read_topics

__all__ = [
    "FORMS",
    "Collection",
    "check_run",
    "collection_of",
    "in_batches",
    "read_collection",
    "read_qrels",
    "read_run",
    "read_topics",
    "run_table",
    "without_result",
    "write_run",
]
