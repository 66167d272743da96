"""The figures of the search audit; numbers in brackets are those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from portrayal.audits.search.findings import TEXTS
from portrayal.audits.search.measures.representation import NEITHER, UNDEFINED
from portrayal.audits.search.settings import SearchSettings
from portrayal.reporting.charts.charts import forest, scatter_with_fit
from portrayal.reporting.charts.curve import specification_curve
from portrayal.reporting.charts.theme import GRID, INK, MUTED, PALETTE
from portrayal.study.audit import Chart, Measured
from portrayal.text.formatting import p_value

MOST_SYSTEMS = 12  # panels of Figure 9
CHOICES = ("ruler", "direction", "discount", "inflected")
POSITIVE, NEGATIVE = "#7b4ba0", "#d55e00"  # the paper's purple and orange, told apart by colour-blind readers
SIZE = 190  # pixels of a panel
GROUPS = {"jobs_m": "jobs of men", "jobs_f": "jobs of women"}  # as the word list calls them, and in words


def charts(measured: Measured, settings: SearchSettings) -> list[Chart]:
    """Return every figure the measured tables allow."""
    drawn = [_slopes(measured.results), _scatters(measured.tables["queries"], measured.tables["fits"])]
    for name, draw in DRAWN.items():
        table = measured.tables.get(name)
        if table is not None and not table.is_empty():
            drawn.append(draw(table))
    drawn += [_specifications(measured), _rulers(measured.tables)]
    return [chart for some in drawn for chart in some]


def _slopes(results: pl.DataFrame) -> Iterator[Chart]:
    """Draw GSR and, with judgments, its difference to the perfect system."""
    main = True
    for measure, own in TEXTS["slopes"].items():
        rows = results.filter(pl.col("measure") == measure).drop_nulls("value")
        if rows.height:
            drawn = forest(rows, label="system", color="ruler", axis=own["axis"])
            yield Chart(own["name"], own["title"], own["text"], drawn, of=(measure,), main=main)
            main = False


def _scatters(queries: pl.DataFrame, fits: pl.DataFrame) -> Iterator[Chart]:
    """Draw list against query genderedness, a panel a system (Figures 8 and 9)."""
    text = (
        "Each point is a query: across, the genderedness of the query; up, that of its result list. "
        "The solid line's slope is GSR; the dashed line is the perfect system's."
    )
    for vectors in queries["ruler"].unique(maintain_order=True):
        points = queries.filter(pl.col("ruler") == vectors).drop_nulls(["query_score", "list_score"])
        systems = points["system"].unique(maintain_order=True).to_list()
        panels = [name for name in systems if name in ("random", "perfect")] + systems[:MOST_SYSTEMS]
        drawn = _panels(points.filter(pl.col("system").is_in(panels)), fits.filter(pl.col("ruler") == vectors))
        title = f"Queries and their lists, measured with the word vectors {vectors} (Figures 8, 9)"
        yield Chart(f"queries-{vectors}", title, text, drawn, of=("queries", "fits"))


def _most_gendered(table: pl.DataFrame) -> Iterator[Chart]:
    for (pole,), part in table.group_by("pole", maintain_order=True):
        text = (
            f"The queries that lie farthest towards {pole}, term by term; the number under a term is its genderedness."
        )
        title = f"Queries farthest towards {pole} (Figure 7)"
        yield Chart(f"most-{pole}", title, text, _coloured_terms(part), of=("most_gendered",))


def _example(table: pl.DataFrame) -> Iterator[Chart]:
    # Eight words a line, the query on a line of its own.
    lined = table.with_columns(place=pl.int_range(pl.len()).over("part"))
    line = pl.format("words {} on", pl.col("place") // 8 * 8 + 1)
    name = pl.when(pl.col("part") == "query").then(pl.lit("query")).otherwise(line)
    lined = lined.with_columns(query=name, place=pl.col("place") % 8, term="word")
    text = (
        "One query and the beginning of a relevant document. Grey words do not count: they are stop words, "
        "words of the query or of no known score; the others are coloured by genderedness."
    )
    yield Chart("example", "What is counted in a document (Figure 2)", text, _coloured_terms(lined), of=("example",))


def _distances(table: pl.DataFrame) -> Iterator[Chart]:
    x_axis, y_axis = "|g(q)|", "Kendall distance, 0 to 1"
    known = table.drop_nulls()
    drawn = scatter_with_fit(known, x="genderedness", y="distance", color="variant", x_axis=x_axis, y_axis=y_axis)
    text = "How far a variant reorders the results of a query, against how gendered the query is."
    title = "Rankings before and after, by query genderedness (Figure 10)"
    yield Chart("distances", title, text, drawn, of=("distances",))


def _agreement(table: pl.DataFrame) -> Iterator[Chart]:
    text = (
        "Each point is a query, scored with two sets of word vectors. Points near a line mean that the vectors agree."
    )
    for (first, second), part in table.drop_nulls().group_by("first", "second", maintain_order=True):
        drawn = scatter_with_fit(part, x="x", y="y", x_axis=f"g(q) with {first}", y_axis=f"g(q) with {second}")
        title = f"{first} against {second} (Figure 11)"
        yield Chart(f"agreement-{first}-{second}", title, text, drawn, of=("agreement",))


def _specifications(measured: Measured) -> Iterator[Chart]:
    """Draw one specification curve a system."""
    table, tests = (measured.tables.get(name) for name in ("specifications", "specification_tests"))
    if table is None or tests is None:
        return
    judged = not measured.results.filter(pl.col("measure") == "gsr_difference").is_empty()
    axis = "GSR less the perfect system's" if judged else "GSR"
    for place, test in enumerate(tests.iter_rows(named=True), 1):
        mine = table.filter(pl.col("system") == test["system"]).drop_nulls("value")
        if mine.is_empty():
            continue
        choices = [name for name in CHOICES if mine[name].n_unique() > 1] or ["ruler"]
        above = test["median"] >= 0
        sided = mine.with_columns(side=pl.col("low") > 0 if above else pl.col("high") < 0)
        drawn = specification_curve(sided, choices=choices, supports="side", axis=axis)
        p = p_value(test["joint_p"])
        text = (
            f"The lists of {test['system']} measured in every way that moves the number; the claim is that "
            f"{axis} lies {'above' if above else 'below'} zero. Of {test['ways']} ways {test['above']} lie above zero and "
            f"{test['below']} below, interval and all; all together: p {p if p[0] in '<>' else f'= {p}'}."
        )
        title = f"Does the way of measuring matter for {test['system']}?"
        yield Chart(f"specifications-{place}", title, text, drawn, of=("specifications",), system=test["system"])


def _rulers(tables: Mapping[str, pl.DataFrame]) -> Iterator[Chart]:
    """Draw the checks of each ruler (Figures 1, 4, 5 and 6)."""
    names = tables["dichotomy_words"]["ruler"].unique(maintain_order=True) if "references" in tables else ()
    for vectors in names:
        mine = pl.col("ruler") == vectors
        words = tables["dichotomy_words"].filter(mine).drop_nulls("score")
        title = f"Known stereotypes along the direction, {vectors} (Figure 1)"
        text = "Words of four stereotyped pairs of concepts along the gender direction; the tick is a group's mean."
        yield Chart(f"dichotomies-{vectors}", title, text, _strip(words), of=("dichotomy_words",))
        references = tables["references"].filter(mine).drop_nulls(["query_score", "list_score"])
        for name, number in (("toy", 4), ("synthetic", 6)):
            title = f"The {name} collection, {vectors} (Figure {number})"
            text = (
                f"Stereotypical, neutral and counter-stereotypical systems on the {name} collection; GSR is the slope."
            )
            points = references.filter(pl.col("collection") == name, pl.col("word_list") == "tables")
            yield Chart(f"{name}-{vectors}", title, text, _reference_panels(points), of=("references",))
        histories = tables["parity"].filter(mine, pl.col("queries") == 6)
        title = f"GSR and statistical parity, {vectors} (Figure 5)"
        text = "Each point is one way to answer six queries; GSR follows the share of stereotypical documents."
        axis = "share of stereotypical documents"
        drawn = scatter_with_fit(histories, x="share", y="gsr", x_axis=axis, y_axis="GSR")
        yield Chart(f"parity-{vectors}", title, text, drawn, of=("parity",))


def _panels(points: pl.DataFrame, fits: pl.DataFrame) -> Any:
    """Draw a panel per system: queries, their fit, the perfect system's fit (dashed)."""
    import altair as alt

    ends = [points["query_score"].min(), points["query_score"].max()]
    fitted = fits.drop_nulls().filter(pl.col("slope").is_not_nan())
    lines = {system: (slope, intercept) for _, system, slope, intercept in fitted.rows()}
    columns = {"system": pl.String, "x": pl.Float64, "y": pl.Float64, "kind": pl.String}
    rows = []
    systems = points["system"].unique(maintain_order=True) if None not in ends else ()
    for kind, panels in (("fit", {name: name for name in systems}), ("perfect", dict.fromkeys(systems, "perfect"))):
        for panel, system in panels.items():
            if system in lines:
                slope, intercept = lines[system]
                rows += [(panel, end, intercept + slope * end, kind) for end in ends]
    dots = points.select("system", x="query_score", y="list_score", kind=pl.lit("query"))
    base = alt.Chart().encode(
        alt.X(field="x", type="quantitative", title="g(q)", scale=alt.Scale(zero=False)),
        alt.Y(field="y", type="quantitative", title="g(L)", scale=alt.Scale(zero=False)),
    )
    marks = {
        "query": base.mark_point(filled=True, size=18, opacity=0.55, color=PALETTE[0]),
        "fit": base.mark_line(color=INK, strokeWidth=2),
        "perfect": base.mark_line(color=MUTED, strokeDash=[4, 3]),
    }
    layers = [mark.transform_filter(f"datum.kind == '{kind}'") for kind, mark in marks.items()]
    data = pl.concat([dots, pl.DataFrame(rows, schema=columns, orient="row")])
    return _by_system(alt.layer(*layers, data=data).properties(width=SIZE, height=SIZE))


def _reference_panels(points: pl.DataFrame) -> Any:
    """Draw the three reference systems side by side, occupations coloured by their pole."""
    import altair as alt

    frame = points.select("system", "query", "pole", x="query_score", y="list_score")
    base = alt.Chart().encode(
        alt.X(field="x", type="quantitative", title="g(q)", scale=alt.Scale(zero=False)),
        alt.Y(field="y", type="quantitative", title="g(L)"),
    )
    dots = base.mark_point(filled=True, size=30).encode(*_poles("predominantly"))
    line = base.mark_line(color=INK, strokeDash=[2, 2]).transform_regression("x", "y")
    layered = alt.layer(dots, line, data=frame).properties(width=SIZE, height=SIZE)
    return _by_system(layered)


def _coloured_terms(table: pl.DataFrame) -> Any:
    """Draw each query as a row of terms, coloured and numbered by genderedness."""
    import altair as alt

    frame = table.select("query", "place", "term", "score")
    reach = float(frame["score"].abs().max() or 1.0)  # type: ignore[arg-type]
    base = alt.Chart(frame, width=alt.Step(86), height=alt.Step(40)).encode(
        alt.X(field="place", type="ordinal", axis=None), alt.Y(field="query", type="nominal", sort=None, title=None)
    )
    scale = alt.Scale(domain=[-reach, 0, reach], range=[NEGATIVE, "#f5f5f5", POSITIVE])
    known = alt.Color(field="score", type="quantitative", scale=scale, title="genderedness")
    tiles = base.mark_rect(stroke="#ffffff", strokeWidth=2, invalid=None).encode(
        color=alt.condition("isValid(datum.score)", known, alt.value(GRID))
    )
    strong = alt.condition(f"abs(datum.score) > {0.55 * reach}", alt.value("#ffffff"), alt.value("#1d2734"))
    words = base.mark_text(dy=-6, fontSize=12, limit=82).encode(
        text=alt.Text(field="term", type="nominal"), color=strong
    )
    numbers = base.mark_text(dy=9, fontSize=10).encode(
        text=alt.Text(field="score", type="quantitative", format="+.2f"), color=strong
    )
    return tiles + words + numbers.transform_filter("isValid(datum.score)")


def _representation(table: pl.DataFrame) -> Iterator[Chart]:
    """Draw, per system and bin of query genderedness, the shares of the outcomes, stacked."""
    import altair as alt

    outcomes = table["outcome"].unique(maintain_order=True).to_list()
    places = {name: place for place, name in enumerate(outcomes)}
    frame = table.with_columns(order=pl.col("outcome").replace_strict(places, return_dtype=pl.Int64))
    grey = {NEITHER: "#c4cad1", UNDEFINED: "#8d97a3"}  # the poles come first
    tones = [grey.get(name, (POSITIVE, NEGATIVE)[min(place, 1)]) for name, place in places.items()]
    colours = alt.Scale(domain=outcomes, range=tones)
    bars = alt.Chart(frame, width=SIZE, height=SIZE).mark_bar()
    encoded = bars.encode(
        alt.X(field="bin", type="nominal", sort=None, title="g(q)", axis=alt.Axis(labelAngle=-40)),
        alt.Y(field="share", type="quantitative", title="share of queries", scale=alt.Scale(domain=[0, 1])),
        alt.Color(field="outcome", type="nominal", sort=outcomes, scale=colours, title="more than relevant"),
        alt.Order(field="order", type="quantitative"),
    )
    title = "Who is over-represented (Figure 12)"
    text = (
        "Per bin of query genderedness, the share of queries whose list over-represents documents about one "
        "group, against the relevant documents. 'No documents of either' is an outcome of its own."
    )
    yield Chart("representation", title, text, _by_system(encoded), of=("representation",))


def _strip(words: pl.DataFrame) -> Any:
    """Draw the words of each group along the direction, a tick at the mean."""
    import altair as alt

    frame = words.select("word", pl.col("group").replace(GROUPS), "pole", "score", "dichotomy")
    base = alt.Chart(frame, width=430, height=alt.Step(26)).encode(
        alt.Y(field="group", type="nominal", sort=None, title=None)
    )
    across = alt.X(field="score", type="quantitative", title="genderedness")
    mean = alt.X(field="score", aggregate="mean", type="quantitative")
    colour, shape = _poles("stereotype")
    dots = base.mark_point(filled=True, opacity=0.6, size=35).encode(across, colour, shape)
    means = base.mark_tick(thickness=3, size=20).encode(mean, colour)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[3, 3])
    return zero.encode(alt.X(field="zero", type="quantitative")) + dots + means


def _by_system(chart: Any) -> Any:
    """Set a chart once for each system, three beside each other."""
    import altair as alt

    return chart.facet(facet=alt.Facet(field="system", type="nominal", title=None, sort=None), columns=3)


def _poles(title: str) -> tuple[Any, Any]:
    """Return the colours and shapes of the paper's two genders, in one legend."""
    import altair as alt

    names = ["female", "male"]
    colours = alt.Scale(domain=names, range=[POSITIVE, NEGATIVE])
    colour = alt.Color(field="pole", type="nominal", scale=colours, title=title)
    return colour, alt.Shape(field="pole", type="nominal", scale=alt.Scale(domain=names), title=title)


# Drawers of tables that are there, in the order of the page.
DRAWN = {
    "most_gendered": _most_gendered,
    "example": _example,
    "distances": _distances,
    "representation": _representation,
    "agreement": _agreement,
}
