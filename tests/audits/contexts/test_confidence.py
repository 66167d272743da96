"""Findings again with the surer tags alone: measured anew only where a tag is dropped."""

from __future__ import annotations

import polars as pl

from portrayal.audits.contexts.measures.questions import at_thresholds

KEYS = ("group", "versus", "place", "background", "inferred", "attribute", "factor", "vector")
FOUND = pl.DataFrame(
    {
        "system": ["a", "a"],
        "measure": ["congruence", "expectancy"],
        "p": [0.01, 0.5],
        "p_floor": [0.001, 0.001],
        "value": [0.3, 0.1],
        "decision": ["found", "not found"],
        "reason": [None, None],
        "confidence": ["", ""],
        "of": ["", ""],
        "family": ["confirmatory", "confirmatory"],
        **{key: ["x", "x"] for key in KEYS},
    },
    schema_overrides={"reason": pl.String},
)
TAGS = pl.DataFrame({"system": ["a", "a"], "tag": ["woman", "tree"], "confidence": [0.9, 0.6]})


def test_where_no_tag_is_dropped_the_rows_are_those_at_hand_and_nothing_is_measured() -> None:
    asked: list[int] = []

    def measured(responses: pl.DataFrame, places: object) -> pl.DataFrame:
        asked.append(responses["tag"].null_count())
        return FOUND.with_columns(value=pl.col("value") / 2)

    again = at_thresholds(FOUND, TAGS, [0.5, 0.7], ["congruence", "expectancy"], measured)
    assert asked == [1]  # at .7 alone, where "tree" goes
    assert again.select("measure", "of", "value", "p").rows() == [
        ("with_confidence", "congruence", 0.3, None),
        ("with_confidence", "congruence", 0.15, None),
    ]
