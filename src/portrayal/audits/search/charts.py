"""The figures of the search audit; numbers in brackets are those of the paper."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from portrayal.audits.search.drawings import coloured_terms, outcome_bars, panels
from portrayal.audits.search.ruler_charts import ruler_charts
from portrayal.audits.search.settings import SearchSettings
from portrayal.reporting.charts.charts import forest, scatter_with_fit
from portrayal.reporting.charts.curve import specification_curve
from portrayal.reporting.words.words import p_value
from portrayal.study.audit import Chart, Measured

MOST_SYSTEMS = 12  # panels of Figure 9
CHOICES = ("ruler", "direction", "discount", "inflected")


def charts(measured: Measured, settings: SearchSettings) -> list[Chart]:
    """Return every figure the measured tables allow."""
    made = [*_slopes(measured.results), *_scatters(measured.tables["queries"], measured.tables["fits"])]
    for name, draw in DRAWN.items():
        table = measured.tables.get(name)
        if table is not None and not table.is_empty():
            made += draw(table)
    return [*made, *_specifications(measured), *ruler_charts(measured.tables)]


def _slopes(results: pl.DataFrame) -> list[Chart]:
    """Draw GSR and, where there are judgments, what is tested: its difference to the perfect system."""
    differences, own = (
        results.filter(pl.col("measure") == name).drop_nulls("value") for name in ("gsr_difference", "gsr")
    )
    less = (
        "What each system adds to the perfect system's GSR, with its 95% interval, by measuring word vectors. A filled point was "
        "found: its corrected p is under 5% and its interval leaves out 0."
    )
    whole = (
        "GSR of each system with its 95% interval, by measuring word vectors. Above the perfect system's value, "
        "a system adds to what the relevant documents bring along."
    )
    drawn = [
        (
            "gsr-difference",
            "GSR less the perfect system's",
            less,
            differences,
            "difference of slopes",
            "gsr_difference",
            True,
        ),
        ("gsr", "Gender stereotype reinforcement by system", whole, own, "GSR (slope)", "gsr", differences.is_empty()),
    ]
    return [
        Chart(name, title, text, forest(table, label="system", color="ruler", axis=axis), of=(measure,), main=main)
        for name, title, text, table, axis, measure, main in drawn
        if table.height
    ]


def _scatters(queries: pl.DataFrame, fits: pl.DataFrame) -> list[Chart]:
    """Draw list against query genderedness, a panel a system (Figures 8 and 9)."""
    text = (
        "Each point is a query: across, the genderedness of the query; up, that of its result list. "
        "The solid line's slope is GSR; the dashed line is the perfect system's."
    )
    made = []
    for vectors in queries["ruler"].unique(maintain_order=True):
        points = queries.filter(pl.col("ruler") == vectors).drop_nulls(["query_score", "list_score"])
        systems = points["system"].unique(maintain_order=True).to_list()
        shown = [name for name in systems if name in ("random", "perfect")] + systems[:MOST_SYSTEMS]
        lines = fits.filter(pl.col("ruler") == vectors)
        drawn = panels(points.filter(pl.col("system").is_in(shown)), lines)
        title = f"Queries and their lists, measured with the word vectors {vectors} (Figures 8, 9)"
        made.append(Chart(f"queries-{vectors}", title, text, drawn, of=("queries", "fits")))
    return made


def _most_gendered(table: pl.DataFrame) -> list[Chart]:
    made = []
    for (pole,), part in table.group_by("pole", maintain_order=True):
        text = (
            f"The queries that lie farthest towards {pole}, term by term; the number under a term is its genderedness."
        )
        title = f"Queries farthest towards {pole} (Figure 7)"
        made.append(Chart(f"most-{pole}", title, text, coloured_terms(part), of=("most_gendered",)))
    return made


def _example(table: pl.DataFrame) -> list[Chart]:
    # Eight words a line, the query on a line of its own.
    lined = table.with_columns(place=pl.int_range(pl.len()).over("part"))
    name = (
        pl.when(pl.col("part") == "query")
        .then(pl.lit("query"))
        .otherwise(pl.format("words {} on", pl.col("place") // 8 * 8 + 1))
    )
    lined = lined.with_columns(query=name, place=pl.col("place") % 8, term="word")
    text = (
        "One query and the beginning of a relevant document. Grey words do not count: they are stop words, "
        "words of the query or of no known score; the others are coloured by genderedness."
    )
    return [Chart("example", "What is counted in a document (Figure 2)", text, coloured_terms(lined), of=("example",))]


def _distances(table: pl.DataFrame) -> list[Chart]:
    drawn = scatter_with_fit(
        table.drop_nulls(),
        x="genderedness",
        y="distance",
        color="variant",
        x_axis="|g(q)|",
        y_axis="Kendall distance, 0 to 1",
    )
    text = "How far a variant reorders the results of a query, against how gendered the query is."
    title = "Rankings before and after, by query genderedness (Figure 10)"
    return [Chart("distances", title, text, drawn, of=("distances",))]


def _representation(table: pl.DataFrame) -> list[Chart]:
    text = (
        "Per bin of query genderedness, the share of queries whose list over-represents documents about one "
        "group, against the relevant documents. 'No documents of either' is an outcome of its own."
    )
    drawn = outcome_bars(table)
    return [Chart("representation", "Who is over-represented (Figure 12)", text, drawn, of=("representation",))]


def _agreement(table: pl.DataFrame) -> list[Chart]:
    text = (
        "Each point is a query, scored with two sets of word vectors. Points near a line mean that the vectors agree."
    )
    made = []
    for (first, second), part in table.drop_nulls().group_by("first", "second", maintain_order=True):
        x_axis, y_axis = f"g(q) with {first}", f"g(q) with {second}"
        drawn = scatter_with_fit(part, x="x", y="y", x_axis=x_axis, y_axis=y_axis)
        title = f"{first} against {second} (Figure 11)"
        made.append(Chart(f"agreement-{first}-{second}", title, text, drawn, of=("agreement",)))
    return made


def _specifications(measured: Measured) -> list[Chart]:
    """Draw one curve a system: the ways of measuring that move its number, and on which side of zero they lie."""
    table, tests = (measured.tables.get(name) for name in ("specifications", "specification_tests"))
    if table is None or tests is None:
        return []
    judged = not measured.results.filter(pl.col("measure") == "gsr_difference").is_empty()
    axis = "GSR less the perfect system's" if judged else "GSR"
    made = []
    for place, test in enumerate(tests.iter_rows(named=True), 1):
        mine = table.filter(pl.col("system") == test["system"]).drop_nulls("value")
        if mine.is_empty():
            continue
        choices = [name for name in CHOICES if mine[name].n_unique() > 1]
        above = test["median"] >= 0
        side = pl.col("low") > 0 if above else pl.col("high") < 0
        claim = f"{axis} lies {'above' if above else 'below'} zero"
        drawn = specification_curve(
            mine.with_columns(side=side), choices=choices or ["ruler"], supports="side", axis=axis
        )
        text = (
            f"The lists of {test['system']} measured in every way that moves the number; the claim is that "
            f"{claim}. Of {test['ways']} ways {test['above']} lie above zero and {test['below']} below, interval and all; all "
            f"together: p {_compared(test['joint_p'])}."
        )
        title = f"Does the way of measuring matter for {test['system']}?"
        made.append(Chart(f"specifications-{place}", title, text, drawn, of=("specifications",), system=test["system"]))
    return made


def _compared(p: float | None) -> str:
    said = p_value(p)
    return said if said[0] in "<>" else f"= {said}"


# What is drawn of a table that is there, in the order of the page.
DRAWN: dict[str, Callable[[pl.DataFrame], list[Chart]]] = {
    "most_gendered": _most_gendered,
    "example": _example,
    "distances": _distances,
    "representation": _representation,
    "agreement": _agreement,
}
