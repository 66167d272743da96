"""The figures of the search audit; numbers in brackets are those of the paper."""

from __future__ import annotations

import polars as pl

from portrayal.audits.base import Chart, Measured
from portrayal.audits.search.drawings import (
    coloured_terms,
    outcome_bars,
    panels,
    reference_panels,
    strip,
)
from portrayal.report.charts import forest, scatter_with_fit
from portrayal.report.curve import specification_curve

MOST_SYSTEMS = 12  # panels of Figure 9


def charts(measured: Measured) -> list[Chart]:
    """Return every figure the measured tables allow."""
    made = [
        _gsr(measured),
        *_scatters(measured),
        *_most_gendered(measured),
        *_example(measured),
        *_distances(measured),
        *_representation(measured),
        *_agreement(measured),
        *_specifications(measured),
        *_validation(measured),
    ]
    return [chart for chart in made if chart is not None]


def _gsr(measured: Measured) -> Chart:
    table = measured.results.filter(pl.col("measure") == "gsr").drop_nulls("value")
    return Chart(
        "gsr",
        "Gender stereotype reinforcement by system",
        "GSR of each system with its 95% interval, by measuring vectors. Above the perfect system's "
        "value, a system adds to what "
        "the relevant documents bring along.",
        forest(table, label="system", color="group", axis="GSR (slope)"),
    )


def _scatters(measured: Measured) -> list[Chart]:
    """Draw list against query genderedness, a panel a system (Figures 8 and 9)."""
    queries, fits = measured.tables["queries"], measured.tables["fits"]
    made = []
    for vectors in queries["vectors"].unique(maintain_order=True):
        points = queries.filter(pl.col("vectors") == vectors).drop_nulls(["query_score", "list_score"])
        lines = fits.filter(pl.col("vectors") == vectors)
        systems = points["system"].unique(maintain_order=True).to_list()
        shown = [name for name in systems if name in ("random", "perfect")] + systems[:MOST_SYSTEMS]
        text = (
            "Each point is a query: across, the genderedness of the query; up, that of its result "
            "list. The solid line's slope is GSR; "
            "the dashed line is the perfect system's."
        )
        drawn = panels(points.filter(pl.col("system").is_in(shown)), lines)
        made.append(
            Chart(
                f"queries-{vectors}",
                f"Queries and their lists, measured with {vectors} (Figures 8, 9)",
                text,
                drawn,
            )
        )
    return made


def _most_gendered(measured: Measured) -> list[Chart]:
    table = measured.tables.get("most_gendered")
    if table is None or table.is_empty():
        return []
    made = []
    for pole in table["pole"].unique(maintain_order=True):
        text = (
            f"The queries that lie farthest towards {pole}, term by term; the number under a term is its "
            "genderedness."
        )
        drawn = coloured_terms(table.filter(pl.col("pole") == pole))
        made.append(Chart(f"most-{pole}", f"Queries farthest towards {pole} (Figure 7)", text, drawn))
    return made


def _example(measured: Measured) -> list[Chart]:
    table = measured.tables.get("example")
    if table is None or table.is_empty():
        return []
    # Eight words a line, the query on a line of its own.
    lined = table.with_columns(place=pl.int_range(pl.len()).over("part"))
    name = (
        pl.when(pl.col("part") == "query")
        .then(pl.lit("query"))
        .otherwise(pl.format("words {} on", pl.col("place") // 8 * 8 + 1))
    )
    lined = lined.with_columns(query=name, place=pl.col("place") % 8, term="word")
    text = (
        "One query and the beginning of a relevant document. Grey words do not count: they are stop "
        "words, words of the query "
        "or of no known score; the others are coloured by genderedness."
    )
    return [Chart("example", "What is counted in a document (Figure 2)", text, coloured_terms(lined))]


def _distances(measured: Measured) -> list[Chart]:
    table = measured.tables.get("distances")
    if table is None:
        return []
    drawn = scatter_with_fit(
        table.drop_nulls(),
        x="genderedness",
        y="distance",
        color="variant",
        x_axis="|g(q)|",
        y_axis="Kendall distance, 0 to 1",
    )
    text = "How far a variant reorders the results of a query, against how gendered the query is."
    return [Chart("distances", "Rankings before and after, by query genderedness (Figure 10)", text, drawn)]


def _representation(measured: Measured) -> list[Chart]:
    table = measured.tables.get("representation")
    if table is None:
        return []
    text = (
        "Per bin of query genderedness, the share of queries whose list over-represents documents "
        "about one group, against the relevant "
        "documents. 'No documents of either' is an outcome of its own."
    )
    return [Chart("representation", "Who is over-represented (Figure 12)", text, outcome_bars(table))]


def _agreement(measured: Measured) -> list[Chart]:
    table = measured.tables.get("agreement")
    if table is None:
        return []
    made = []
    for (first, second), part in table.drop_nulls().group_by("first", "second", maintain_order=True):
        drawn = scatter_with_fit(
            part, x="x", y="y", x_axis=f"g(q) with {first}", y_axis=f"g(q) with {second}"
        )
        text = (
            "Each point is a query, scored with two sets of word vectors. Points near a line mean that "
            "the vectors agree."
        )
        made.append(
            Chart(f"agreement-{first}-{second}", f"{first} against {second} (Figure 11)", text, drawn)
        )
    return made


def _specifications(measured: Measured) -> list[Chart]:
    table = measured.tables.get("specifications")
    if table is None or table.drop_nulls("value").is_empty():
        return []
    choices = ["system", "vectors", "direction", "discount", "inflected"]
    judged = not measured.results.filter(pl.col("measure") == "gsr_difference").is_empty()
    axis = "GSR less the perfect system's" if judged else "GSR"
    text = (
        "The same lists measured in every combination of vectors, direction, rank discount and treatment "
        "of inflected query words."
    )
    return [
        Chart(
            "specifications",
            "Does the way of measuring matter?",
            text,
            specification_curve(table.drop_nulls("value"), choices=choices, supports="supports", axis=axis),
        )
    ]


def _validation(measured: Measured) -> list[Chart]:
    """Draw the checks of each ruler (Figures 1, 4, 5 and 6)."""
    if "references" not in measured.tables:
        return []
    names = measured.tables["dichotomy_words"]["vectors"].unique(maintain_order=True)
    return [chart for name in names for chart in _checks(measured, name)]


def _checks(measured: Measured, vectors: str) -> list[Chart]:
    """Draw the checks of one ruler."""
    mine = pl.col("vectors") == vectors
    words = measured.tables["dichotomy_words"].filter(mine).drop_nulls("score")
    references = measured.tables["references"].filter(mine).drop_nulls(["query_score", "list_score"])
    parity = measured.tables["parity"].filter(mine, pl.col("queries") == 6)
    return [
        _dichotomies(words, vectors),
        _reference(references, vectors, "toy", 4),
        _reference(references, vectors, "synthetic", 6),
        _parity(parity, vectors),
    ]


def _dichotomies(words: pl.DataFrame, vectors: str) -> Chart:
    title = f"Known stereotypes along the direction, {vectors} (Figure 1)"
    text = (
        "Words of four stereotyped pairs of concepts along the gender direction; the tick is a group's mean."
    )
    return Chart(f"dichotomies-{vectors}", title, text, strip(words))


def _reference(points: pl.DataFrame, vectors: str, name: str, number: int) -> Chart:
    title = f"The {name} collection, {vectors} (Figure {number})"
    text = f"Stereotypical, neutral and counter-stereotypical systems on the {name} collection; GSR is the slope."
    drawn = reference_panels(points.filter(pl.col("setting") == f"{name}, tables"))
    return Chart(f"{name}-{vectors}", title, text, drawn)


def _parity(histories: pl.DataFrame, vectors: str) -> Chart:
    title = f"GSR and statistical parity, {vectors} (Figure 5)"
    text = "Each point is one way to answer six queries; GSR follows the share of stereotypical documents."
    axis = "share of stereotypical documents"
    return Chart(
        f"parity-{vectors}",
        title,
        text,
        scatter_with_fit(histories, x="share", y="gsr", x_axis=axis, y_axis="GSR"),
    )
