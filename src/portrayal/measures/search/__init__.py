"""The measures of the search audit: genderedness, GSR and its companions. Docs: docs/search.md."""

from portrayal.measures.search.arab import rank_bias
from portrayal.measures.search.bags import Bags, bags_of
from portrayal.measures.search.direction import Direction, find_direction, score_words
from portrayal.measures.search.entities import compare_gaps, count_mentions, document_groups, representation
from portrayal.measures.search.exposure import exposure
from portrayal.measures.search.gsr import Relative, gsr, relative_gsr
from portrayal.measures.search.history import History, lists_of, perfect_lists, random_lists, score_history
from portrayal.measures.search.kendall import kendall_distance
from portrayal.measures.search.lists import rank_weights, shared_weights
from portrayal.measures.search.parity import enumerate_histories
from portrayal.measures.search.reliability import correlate
from portrayal.measures.search.slope import Slope, measure_slope

__all__ = [
    "Bags",
    "Direction",
    "History",
    "Relative",
    "Slope",
    "bags_of",
    "compare_gaps",
    "correlate",
    "count_mentions",
    "document_groups",
    "enumerate_histories",
    "exposure",
    "find_direction",
    "gsr",
    "kendall_distance",
    "lists_of",
    "measure_slope",
    "perfect_lists",
    "random_lists",
    "rank_bias",
    "rank_weights",
    "relative_gsr",
    "representation",
    "score_history",
    "score_words",
    "shared_weights",
]
