"""The checks of each ruler, drawn: known stereotypes, reference collections, parity (Figures 1, 4, 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from portrayal.audits.search.drawings import reference_panels, strip
from portrayal.reporting.charts.charts import scatter_with_fit
from portrayal.study.audit import Chart


def ruler_charts(tables: Mapping[str, pl.DataFrame]) -> list[Chart]:
    """Draw the checks of each ruler; nothing where none was checked."""
    if "references" not in tables:
        return []
    names = tables["dichotomy_words"]["ruler"].unique(maintain_order=True)
    return [chart for name in names for chart in _checks(tables, name)]


def _checks(tables: Mapping[str, pl.DataFrame], vectors: str) -> list[Chart]:
    """Draw the checks of one ruler."""
    mine = pl.col("ruler") == vectors
    words = tables["dichotomy_words"].filter(mine).drop_nulls("score")
    references = tables["references"].filter(mine).drop_nulls(["query_score", "list_score"])
    parity = tables["parity"].filter(mine, pl.col("queries") == 6)
    return [
        _dichotomies(words, vectors),
        _reference(references, vectors, "toy", 4),
        _reference(references, vectors, "synthetic", 6),
        _parity(parity, vectors),
    ]


def _dichotomies(words: pl.DataFrame, vectors: str) -> Chart:
    title = f"Known stereotypes along the direction, {vectors} (Figure 1)"
    text = "Words of four stereotyped pairs of concepts along the gender direction; the tick is a group's mean."
    return Chart(f"dichotomies-{vectors}", title, text, strip(words), of=("dichotomy_words",))


def _reference(points: pl.DataFrame, vectors: str, name: str, number: int) -> Chart:
    title = f"The {name} collection, {vectors} (Figure {number})"
    text = f"Stereotypical, neutral and counter-stereotypical systems on the {name} collection; GSR is the slope."
    drawn = reference_panels(points.filter(pl.col("collection") == name, pl.col("word_list") == "tables"))
    return Chart(f"{name}-{vectors}", title, text, drawn, of=("references",))


def _parity(histories: pl.DataFrame, vectors: str) -> Chart:
    title = f"GSR and statistical parity, {vectors} (Figure 5)"
    text = "Each point is one way to answer six queries; GSR follows the share of stereotypical documents."
    axis = "share of stereotypical documents"
    drawn = scatter_with_fit(histories, x="share", y="gsr", x_axis=axis, y_axis="GSR")
    return Chart(f"parity-{vectors}", title, text, drawn, of=("parity",))
