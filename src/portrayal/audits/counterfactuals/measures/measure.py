"""The measure: stimuli and answers in; Results, the tables charts are drawn from, and warnings out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.labels import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.presence import blocks
from portrayal.audits.counterfactuals.measures.rows import (
    BlockSlopes,
    Options,
    block_rows,
    estimate,
    group_rows,
    label_rows,
)
from portrayal.audits.counterfactuals.measures.slopes import DRAWS
from portrayal.report.words import percent
from portrayal.stats.intervals import wilson
from portrayal.stats.multiplicity import adjust
from portrayal.tables import check_responses, results

PLACEBO = "placebo"


def measure_counterfactuals(
    stimuli: pl.DataFrame,
    responses: pl.DataFrame,
    options: Options = Options(),  # noqa: B008, RUF100
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], list[str]]:
    """Measure how labels follow the manipulated cue.

    Parameters
    ----------
    stimuli
        One row per step, with the columns of `presence.FACTORS`.
    responses
        A tagger's responses.
    options
        Clusters, repeats, draws and seed.

    Returns
    -------
    tuple
        Results; tables `labels` (one row per label) and `rates` (one per label and step); warnings.
    """
    found = [estimate(block, options) for block in blocks(stimuli, responses)]
    rows = [row for each in found for row in _rows(each, options)]
    tables = {"labels": _labels_table(found, options.method), "rates": _rates_table(found)}
    rows += _placebo_rows(tables["labels"])
    return results(rows, audit="counterfactuals"), tables, _warnings(tables["labels"])


def label_slopes(
    stimuli: Any,
    responses: Any,
    *,
    cluster: str = "picture",
    draws: int = DRAWS,
    seed: int = 0,
    method: str = "benjamini-hochberg",
) -> pl.DataFrame:
    """Return how much more likely each label becomes as only the manipulated cue changes.

    Parameters
    ----------
    stimuli
        One row for each step of each series: `stimulus`, `picture` (the source image), `person`, `attribute`, `condition`
        ('edited' or 'unedited') and `value`, the cue's strength, evenly spaced around 0.
    responses
        A tagger's answers: `system`, `stimulus`, `repeat`, `status`, `tag`, `confidence`, one row a tag.
    cluster
        What the interval and the test take as one: 'picture' or 'person'.
    draws, seed
        Bootstrap samples of the interval and their seed.
    method
        The correction over all labels, a name in `portrayal.stats.multiplicity`.

    Returns
    -------
    polars.DataFrame
        One row for each system, attribute and label: `slope` (of the label's share, over its share at the centre, on the
        value), `low`, `high`, `slope_per_step`, `p` (exact: series read backwards), `p_adjusted`, `p_paper` and
        `passes_paper` (least squares, as published), `at_centre`, `n` (source images), `plain` and `occupation`.

    Examples
    --------
    >>> import polars
    >>> from portrayal import label_slopes
    >>> stimuli = [
    ...     {"stimulus": f"{picture}{value:+}", "picture": picture, "person": picture, "attribute": "gender",
    ...      "condition": "edited", "value": value}
    ...     for picture in "abcdef" for value in (-1, 0, 1)
    ... ]
    >>> responses = [
    ...     {"system": "mine", "stimulus": step["stimulus"], "repeat": 0, "status": "answered", "tag": tag, "confidence": 0.9}
    ...     for step in stimuli for tag in ("face", "nurse") if tag == "face" or step["value"] >= 0
    ... ]
    >>> label_slopes(stimuli, responses).select("label", "slope", polars.col("p").round(5)).rows()
    [('face', 0.0, 1.0), ('nurse', 0.5, 0.03125)]
    """
    answers = check_responses(responses, "tagger", "See docs/counterfactuals.md.")
    repeats = int(answers["repeat"].max() or 0) + 1  # type: ignore[arg-type]
    options = Options(cluster, repeats, draws, seed, method=method)
    found = [estimate(block, options) for block in blocks(stimuli, answers)]
    return _labels_table(found, method)


def _rows(found: BlockSlopes, options: Options) -> Iterator[dict[str, Any]]:
    """Yield a block's rows; a placebo's slopes are named apart, so that they are in no family of tests."""
    placebo = found.block.attribute == PLACEBO
    for row in (*label_rows(found), *group_rows(found.block, options), *block_rows(found)):
        yield {**row, "measure": f"{PLACEBO}_{row['measure']}"} if placebo else row


def _labels_table(found: Sequence[BlockSlopes], method: str) -> pl.DataFrame:
    """One row per label: what Tables 1, 2, 5 and 6 are cut from."""
    parts = [_label_columns(each) for each in found]
    return _corrected(pl.concat(parts), method) if parts else pl.DataFrame()


def _corrected(labels: pl.DataFrame, method: str) -> pl.DataFrame:
    """Correct p over all labels of all systems and attributes, the family of the results; a placebo is in no family."""
    tested = pl.when(pl.col("attribute") != PLACEBO).then("p")
    family = labels.select(tested.fill_null(float("nan"))).to_series().to_numpy()
    adjusted = pl.Series("p_adjusted", adjust(family, method)).fill_nan(None)
    return labels.insert_column(labels.get_column_index("p") + 1, adjusted)


def _label_columns(found: BlockSlopes) -> pl.DataFrame:
    block, slopes = found.block, found.slopes
    count = len(block.labels)
    table = pl.DataFrame(
        {
            "system": [block.system] * count,
            "attribute": [block.attribute] * count,
            "label": block.labels,
            "slope": slopes.slope,
            "low": slopes.low,
            "high": slopes.high,
            "slope_per_step": slopes.slope * found.spacing,
            "p": found.p,
            "p_paper": slopes.p_paper,
            "passes_paper": [found.passes(place) for place in range(count)],
            "at_centre": slopes.at_centre,
            "n": [len(block.pictures)] * count,
            "plain": [is_plain(label) for label in block.labels],
            "occupation": [occupation_group(label) for label in block.labels],
        },
        schema_overrides={  # a system that answers nothing has no labels to tell the types by
            "system": pl.String,
            "attribute": pl.String,
            "n": pl.Int64,
            "label": pl.String,
            "occupation": pl.String,
            "passes_paper": pl.Boolean,
            "plain": pl.Boolean,
        },
    )
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def _rates_table(found: Sequence[BlockSlopes]) -> pl.DataFrame:
    """One row per label and step: what Figure 5 is drawn from."""
    rows = [row for each in found for row in _rates(each)]
    kinds: dict[str, Any] = dict.fromkeys(("system", "attribute", "label"), pl.String)
    kinds |= dict.fromkeys(("value", "share", "normalised", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _rates(found: BlockSlopes) -> Iterator[tuple[Any, ...]]:
    """Yield share and normalised share with a band: the share's Wilson interval over the centre's rate."""
    block, n = found.block, len(found.block.pictures)
    shares = block.present.mean(axis=0) if n else np.zeros((len(block.values), len(block.labels)))
    for place, label in enumerate(block.labels):
        base = shares[block.centre, place]
        for step, value in enumerate(block.values):
            ends = [end / base if base else None for end in wilson(shares[step, place] * n, n)]
            yield block.system, block.attribute, label, float(value), float(shares[step, place]), *ends


def _placebo_rows(labels: pl.DataFrame) -> list[dict[str, Any]]:
    """How many labels move along a random direction: about one in twenty at most, if the audit can be believed."""
    rows = []
    for (system,), mine in labels.filter(pl.col("attribute") == PLACEBO).group_by(
        "system", maintain_order=True
    ):
        moved = wilson(int((mine["p"] < 0.05).sum()), mine.height)
        about = {"system": system, "group": PLACEBO, "contrast": "all labels"}
        note = f"uncorrected p < 0.05; {int(mine['passes_paper'].sum())} pass the paper's filters"
        rows.append(moved.row("placebo_labels_moved", **about, unit="share of labels", note=note))
    return rows


def _warnings(labels: pl.DataFrame) -> list[str]:
    """Warn where the placebo axis moves labels as a real cue would."""
    return [
        f"Manipulation check failed: along a random direction (placebo) {percent(row['value'])} of the {row['n']} labels of "
        f"{row['system']} move at p < 0.05. Slopes of this system may be artefacts of editing."
        for row in _placebo_rows(labels)
        if row["low"] > 0.05
    ]
