"""Tags of any number of pictures, from a folder of Parquet files: what is a sum over people's pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from portrayal.audits.contexts.measure import stereotypes_of
from portrayal.audits.contexts.measures.questions import Design
from portrayal.audits.contexts.measures.tally import answer_tally, tally_pictures
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.batches import ROWS, Source
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology


def tag_shares(
    responses: Source,
    stimuli: pl.DataFrame,
    genders: Mapping[str, Sequence[str]] | None = None,
    factors: Sequence[str] | None = None,
    typology: Path | str | None = None,
    seed: int = 0,
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure taggers on more tags than memory holds: inferred genders, places recognised, cluster shares, by group.

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
        A Results table with the rows of a contexts audit that are sums over a person's pictures (docs/contexts.md lists
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
    chosen = dict(settings.genders if genders is None else genders)
    known = load_typology(typology)
    clusters = set(known["sub_cluster"].drop_nulls())
    chosen = {cluster: labels for cluster, labels in chosen.items() if cluster in clusters}
    tallied = tally_pictures(stimuli, responses, known, load_context_tags(), list(chosen), rows)
    named = settings.factors if factors is None else factors
    design = Design(chosen, settings.gender, named, stereotypes_of(load_contexts()), seed=seed)
    return answer_tally(tallied, design)
