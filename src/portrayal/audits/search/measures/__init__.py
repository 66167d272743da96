"""The measures of the search audit: genderedness, GSR and its companions. Docs: docs/search.md."""

from portrayal.audits.search.measures.arab import rank_bias
from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.entities import compare_gaps, count_mentions, document_groups, representation
from portrayal.audits.search.measures.exposure import exposure
from portrayal.audits.search.measures.gsr import Relative, gsr, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, random_lists, score_history
from portrayal.audits.search.measures.kendall import kendall_distance
from portrayal.audits.search.measures.lists import rank_weights, shared_weights
from portrayal.audits.search.measures.parity import enumerate_histories
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.audits.search.measures.reliability import correlate
from portrayal.audits.search.measures.slope import Slope, measure_slope
from portrayal.text.vectors.direction import Direction, find_direction, score_words

__all__ = [
    "Bags",
    "Direction",
    "History",
    "Relative",
    "Slope",
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
