"""Effect sizes by model and test as one shaded table (the paper's Tables 1, 2).

Positive d is shaded, negative d is not. A star marks what was found: the paper's own stars are uncorrected one-sided tests.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.stats.decisions.decision import FOUND
from portrayal.text.formatting import number

SHADE, PAPER, INK = "#c2543a", "#ffffff", "#1d2734"


def effect_cells(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row per system and test; `shade` is d, no less than 0."""
    rows = results.filter(pl.col("measure") == "eat").drop_nulls("value")
    star = pl.when(pl.col("decision") == FOUND).then(pl.lit("*")).otherwise(pl.lit(""))
    return rows.select(
        "system",
        "test",
        pl.col("value").alias("d"),
        shade=pl.col("value").clip(lower_bound=0),
        written=pl.format("{}{}", pl.col("value").map_elements(lambda d: number(d, 2), return_dtype=pl.String), star),
    )


def effect_table(results: pl.DataFrame, cell: int = 34) -> Any:
    """Draw the cells: colour by positive d, a star where it was found."""
    import altair as alt

    cells = effect_cells(results)
    base = alt.Chart(cells, width=alt.Step(cell + 26), height=alt.Step(cell)).encode(
        alt.X(field="test", type="nominal", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=-40)),
        alt.Y(field="system", type="nominal", title=None, sort=None),
    )
    scale = alt.Scale(domain=[0, 2], range=[PAPER, SHADE], interpolate="rgb", clamp=True)
    legend = alt.Legend(title="d, where positive", gradientLength=160)
    shaded = base.mark_rect(stroke="#c9ced6").encode(
        alt.Color(field="shade", type="quantitative", scale=scale, legend=legend)
    )
    figures = base.mark_text(color=INK, fontSize=12).encode(alt.Text(field="written", type="nominal"))
    return shaded + figures
