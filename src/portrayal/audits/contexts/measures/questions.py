"""All four questions at once: from a table of pictures to one Results table."""

from __future__ import annotations

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import congruence, expectancy
from portrayal.audits.contexts.measures.coverage import coverage, note_coverage
from portrayal.audits.contexts.measures.design import FACETS, Design
from portrayal.audits.contexts.measures.mixed import mixed
from portrayal.audits.contexts.measures.nobody import nobody
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq4_attributes import attributes
from portrayal.audits.contexts.measures.rq4_descriptions import descriptions
from portrayal.audits.contexts.measures.views import DIFFERENCES, Rows, by_system
from portrayal.tables import results

OF_PEOPLE = (congruence, accuracy, inferences, recognition, descriptions, attributes, expectancy, mixed)


def answer_questions(pictures: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Return the Results of all questions for all systems in a table of pictures."""
    return answers_and_differences(pictures, design)[0]


def answers_and_differences(pictures: pl.DataFrame, design: Design) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the Results, and people's differences (row, unit, difference) in rows that are tested together."""
    rows = list(_rows(pictures, design.fit(pictures)))
    schema = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
    apart = [pl.DataFrame(schema=schema)]
    for at, row in enumerate(rows):
        if DIFFERENCES in row:
            people, values = row.pop(DIFFERENCES)
            apart.append(pl.DataFrame([np.full(len(values), at), list(people), values], schema))
    return results(note_coverage(rows), facets=FACETS, audit="contexts"), pl.concat(apart)


def _rows(pictures: pl.DataFrame, design: Design) -> Rows:
    people = by_system(pictures.filter(pl.col("person").is_not_null()))
    for question in OF_PEOPLE:
        for view in people:
            yield from question(view, design)
    if design.describes:
        for view in by_system(pictures.filter(role="background")):
            yield from nobody(view, design)
    for view in by_system(pictures):
        if view.single:  # the units of its interval
            yield from coverage(view)
