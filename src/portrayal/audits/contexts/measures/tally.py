"""Pictures counted: one row for all pictures of a person in a place that came out alike, however many there are.

A tally has the columns of `pictures.py`; its cluster columns are sums, `pictures` says how many pictures a row stands for,
and `shares of CLUSTER` sums the clusters' shares of the tags over those that have tags. Whatever is a sum over a
person's pictures is the same of a tally as of its pictures, and a tally does not grow with the number of tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import polars as pl

from portrayal.audits.contexts.measures.congruence import congruence, expectancy
from portrayal.audits.contexts.measures.nobody import nobody
from portrayal.audits.contexts.measures.people import DIFFERENCES
from portrayal.audits.contexts.measures.pictures import (
    ALIKE,
    KEYS,
    TAGGED,
    column,
    describe_pictures,
    pictures_where,
    share_column,
)
from portrayal.audits.contexts.measures.questions import FACETS, Design, named_genders
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq4_attributes import attributes
from portrayal.audits.contexts.measures.sharing import sharing
from portrayal.batches import ROWS, Source, whole_units
from portrayal.tables import results

_SUMMED = ("tags", "known", "place")
AT_ONCE = 4  # tallies added up together: a sum takes as long for one as for four
_EACH = ("stimulus", "repeat")  # what tells alike pictures apart


def tally_pictures(
    stimuli: pl.DataFrame,
    responses: Source,
    typology: pl.DataFrame,
    context_tags: pl.DataFrame,
    genders: Sequence[str] = ("feminine", "masculine"),
    rows: int = ROWS,
) -> pl.DataFrame:
    """Return the tally of all pictures of `responses`: a table, a lazy one, or a folder of Parquet files.

    The other parameters are those of `describe_pictures`; `rows` are read at a time.
    """
    waiting = [tally(describe_pictures(stimuli, _nothing(), typology, context_tags, genders))]
    for batch in whole_units(responses, KEYS, [*KEYS, "status", "tag"], rows):
        waiting.append(tally(describe_pictures(stimuli, batch, typology, context_tags, genders)))
        if len(waiting) > AT_ONCE:
            waiting = [_summed(pl.concat(waiting))]
    return _summed(pl.concat(waiting))


def tally(pictures: pl.DataFrame) -> pl.DataFrame:
    """Return the tally of pictures from `describe_pictures`."""
    clusters = [name.removeprefix(column("")) for name in pictures.columns if name.startswith(column(""))]
    tagged = pl.col("tags") > 0
    each = pictures.with_columns(
        pl.lit(1, pl.Int64).alias(ALIKE),
        tagged.cast(pl.Int64).alias(TAGGED),
        *(
            pl.when(tagged).then(pl.col(column(name)) / pl.col("tags")).otherwise(0.0).alias(share_column(name))
            for name in clusters
        ),
    ).drop(_EACH)
    return _summed(each)


def _summed(parts: pl.DataFrame) -> pl.DataFrame:
    sums = [
        name
        for name in parts.columns
        if name in (*_SUMMED, ALIKE, TAGGED) or name.startswith((column(""), share_column("")))
    ]
    alike = [name for name in parts.columns if name not in sums]
    return parts.group_by(alike, maintain_order=True).agg(pl.col(sums).sum()).select(parts.columns)


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(
        schema={"system": pl.String, "stimulus": pl.String, "repeat": pl.Int64, "status": pl.String, "tag": pl.String}
    )


def answer_tally(tallied: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Return the Results of what is a sum over people's pictures: inferred genders, recognition, accuracy, cluster shares.

    `inferred_change` has no p: its test deals single pictures. Not among them are `recognition_independence`, the distances
    and the mixed model, which need single pictures, and the
    interval of `coverage`, whose units they are.
    """
    with sharing():
        rows = [{name: value for name, value in row.items() if name != DIFFERENCES} for row in _rows(tallied, design)]
    return results(rows, facets=FACETS, audit="contexts")


def _rows(tallied: pl.DataFrame, design: Design) -> Iterator[dict[str, Any]]:
    people = pictures_where(tallied, tallied["person"].is_not_null())
    clusters = named_genders(tallied, design)
    factors = [name for name in design.factors if name in tallied.columns]
    yield from chain(
        congruence(people, design.stereotypes),
        accuracy(people, design.genders, design.gender),
        inferences(people, clusters, design.gender, tested=False),
        recognition(people, clusters, design.seed, tested=False),
        attributes(people, design.gender, factors, seed=design.seed),
        expectancy(people, design.stereotypes, design.genders, design.gender),
        nobody(tallied, clusters, design.stereotypes),
    )
