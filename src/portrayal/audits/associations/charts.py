"""Charts of an associations audit: effect sizes, the paper's table of them, specification curves."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.associations.findings import CHOICES, MEASURES
from portrayal.audits.associations.published import as_printed
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.shipped import titled
from portrayal.stats.decisions.decision import FOUND
from portrayal.study.audit import Chart, Measured
from portrayal.text.formatting import number

SHADE, PAPER, INK = "#c2543a", "#ffffff", "#1d2734"
CELL = 34  # pixels


def charts(measured: Measured, settings: AssociationsSettings) -> list[Chart]:
    """Draw effect sizes with intervals, tables of them, and each test's specification curve."""
    from portrayal.reporting.charts.charts import forest
    from portrayal.reporting.charts.curve import specification_curve

    results, of = measured.results.drop_nulls("value"), ("eat",)
    main = forest(results.filter(pl.col("measure").is_in(MEASURES)), label="test", axis="d")
    drawn = [Chart("effect_sizes", *titled("effect_sizes"), main, of=MEASURES, main=True)]
    tested = results.filter(measure="eat")
    if min(tested["system"].n_unique(), tested["test"].n_unique()) > 1:
        words = titled("effect_table", sided=" and ".join(tested["sided"].unique().sort()))
        drawn.append(Chart("effect_table", *words, effect_table(tested), of=of))
    printed, name = as_printed(measured), "effect_table_published"
    if not printed.is_empty():
        drawn.append(Chart(name, *titled(name), effect_table(printed), of=of))
    specified = measured.tables.get("specifications", pl.DataFrame(schema=["system", "test"]))
    for place, ((system, test), rows) in enumerate(specified.group_by("system", "test", maintain_order=True), start=1):
        varied = [choice for choice in CHOICES if rows[choice].n_unique() > 1]
        curve = specification_curve(rows, choices=varied, supports="supports", low=None, high=None, axis="d")
        words = titled("specifications", system=str(system), test=str(test))
        drawn.append(Chart(f"specifications_{place}", *words, curve, of=("specifications",), system=str(system)))
    return drawn


def effect_cells(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row per system and test; `shade` is d, no less than 0."""
    star = pl.when(pl.col("decision") == FOUND).then(pl.lit("*")).otherwise(pl.lit(""))
    written = pl.col("value").map_elements(lambda d: number(d, 2), return_dtype=pl.String)
    return (
        results.filter(measure="eat")
        .drop_nulls("value")
        .select(
            "system",
            "test",
            d="value",
            shade=pl.col("value").clip(lower_bound=0),
            written=pl.format("{}{}", written, star),
        )
    )


def effect_table(results: pl.DataFrame) -> Any:
    """Draw the cells: colour by positive d, a star where it was found."""
    import altair as alt

    base = alt.Chart(effect_cells(results), width=alt.Step(CELL + 26), height=alt.Step(CELL)).encode(
        alt.X(field="test", type="nominal", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-40)),
        alt.Y(field="system", type="nominal", title=None, sort=None),
    )
    scale = alt.Scale(domain=[0, 2], range=[PAPER, SHADE], interpolate="rgb", clamp=True)
    legend = alt.Legend(title="d, where positive", gradientLength=160)
    color = alt.Color(field="shade", type="quantitative", scale=scale, legend=legend)
    figures = base.mark_text(color=INK, fontSize=12).encode(alt.Text(field="written", type="nominal"))
    return base.mark_rect(stroke="#c9ced6").encode(color) + figures
