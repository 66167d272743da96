"""Document collections with queries and judgments, and the runs made on them."""

from portrayal.text.collections.collection import Collection, RollCall, collection_of, in_batches
from portrayal.text.collections.readers import is_path, read_collection
from portrayal.text.collections.runs import check_run, read_run, run_table, without_result, write_run
from portrayal.text.collections.trec import read_qrels, read_topics

__all__ = [
    "Collection", "RollCall", "check_run", "collection_of", "in_batches", "is_path", "read_collection",
    "read_qrels", "read_run", "read_topics", "run_table", "without_result", "write_run",
]  # fmt: skip
