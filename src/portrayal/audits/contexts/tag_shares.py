"""Measures of more tags than memory holds, folded over batches of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import Design, stereotypes_of
from portrayal.audits.contexts.measures.pictures import KEYS, WordLists, describe_pictures
from portrayal.audits.contexts.measures.questions import answer_questions
from portrayal.audits.contexts.measures.views import ALIKE, TAGGED, cluster_shares, column, share_column
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.tables.batches import ROWS, Source, whole_units
from portrayal.tables.folds import Fold, run_folds
from portrayal.text.words.typology import load_contexts, load_typology

AT_ONCE = 4  # tables added up together: a sum takes as long for one as for four
SUMS = ("tags", "known", "place", ALIKE, TAGGED)
NOTHING = pl.DataFrame(
    schema={"system": pl.String, "stimulus": pl.String, "repeat": pl.Int64, "status": pl.String, "tag": pl.String}
)


def tag_shares(
    responses: Source,
    stimuli: pl.DataFrame,
    genders: Mapping[str, Sequence[str]] | None = None,
    factors: Sequence[str] | None = None,
    typology: Path | str | None = None,
    seed: int = 0,
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure taggers on more tags than memory holds.

    Parameters
    ----------
    responses
        A folder of Parquet files, a lazy table or a table: system, stimulus, repeat, status and tag, one row per tag. The rows of
        a picture lie together.
    stimuli
        One row per picture shown: stimulus, role (baseline, composite, background), person, context, background, gender
        and further factors.
    genders
        The sub-clusters that name a gender, each with the labels of people it is right for; those of a study by default.
    factors
        The columns of `stimuli` whose levels make the cells, as in a study.
    typology
        A CSV in place of the typology that ships.
    seed
        Of the tests that permute people.
    rows
        Read at a time; memory grows with it, not with the number of tags.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a contexts audit that are sums over a person's pictures (docs/contexts_large.md lists
        them), the same as in memory: counts equal, floats within 1e-12.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import tag_shares
    >>> stimuli = pl.DataFrame({"stimulus": ["a", "b"], "role": "baseline", "person": ["a", "b"], "context": None,
    ...     "background": None, "gender": ["female", "male"]}, schema_overrides={"context": pl.String, "background": pl.String})
    >>> tags = pl.DataFrame({"system": "s", "stimulus": ["a", "b"], "repeat": 0, "status": "answered", "tag": ["woman", "tree"]})
    >>> found = tag_shares(tags, stimuli).filter(measure="inferred_count")
    >>> dict(found.select("inferred", "value").iter_rows())
    {'feminine': 1.0, 'masculine': 0.0, 'neutral': 1.0}
    """
    settings = ContextsSettings.model_validate({})
    lists = WordLists(load_typology(typology))
    clusters = set(lists.typology["sub_cluster"].drop_nulls())
    named = settings.genders if genders is None else genders
    named = {cluster: labels for cluster, labels in named.items() if cluster in clusters}
    chosen = settings.factors if factors is None else factors
    design = Design(named, settings.gender, chosen, stereotypes_of(load_contexts()), seed=seed)
    needs, paper = (*KEYS, "status", "tag"), "Barlas et al. 2020, Sections 4.5.2 and 4.5.3"
    count = partial(_count, stimuli, lists, list(named))

    def answer(parts: list[pl.DataFrame], _: Any) -> pl.DataFrame:
        return answer_questions(_sum(pl.concat(parts)), design)

    fold = Fold("contexts", count, answer, needs=needs, paper=paper, add=_add)

    def batches() -> Iterator[pl.DataFrame]:
        return chain([NOTHING], whole_units(responses, KEYS, fold.needs, rows))

    return cast(pl.DataFrame, run_folds([fold], batches)[fold.name])


def _count(
    stimuli: pl.DataFrame, lists: WordLists, genders: Sequence[str], batch: pl.DataFrame, _: Any
) -> list[pl.DataFrame]:
    """Return one row for all pictures of a person and place that are alike."""
    pictures = describe_pictures(stimuli, batch, lists, genders)
    shares = np.nan_to_num(cluster_shares(pictures, lists.clusters))
    counts = {ALIKE: pl.lit(1, pl.Int64), TAGGED: (pl.col("tags") > 0).cast(pl.Int64)}
    of_clusters = pl.DataFrame(shares, schema=list(map(share_column, lists.clusters)), orient="row")
    return [_sum(pictures.with_columns(**counts).hstack(of_clusters).drop("stimulus", "repeat"))]


def _add(one: list[pl.DataFrame], other: list[pl.DataFrame]) -> list[pl.DataFrame]:
    parts = [*one, *other]
    return [_sum(pl.concat(parts))] if len(parts) > AT_ONCE else parts


def _sum(parts: pl.DataFrame) -> pl.DataFrame:
    sums = [name for name in parts.columns if name in SUMS or name.startswith((column(""), share_column("")))]
    alike = [name for name in parts.columns if name not in sums]
    return parts.group_by(alike, maintain_order=True).agg(pl.col(sums).sum()).select(parts.columns)
