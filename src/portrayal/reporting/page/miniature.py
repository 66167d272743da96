"""Small chart of a card: a few estimates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from portrayal.reporting.charts.looks import Look, Looks, swatch
from portrayal.reporting.charts.theme import PALETTE
from portrayal.reporting.page.results import Scale
from portrayal.reporting.page.section import Section
from portrayal.stats.decisions.decision import FOUND
from portrayal.tables import facets
from portrayal.text.formatting import estimate, is_missing, plain, plural, visible

ROWS = 4
WIDTH, STEP, LEFT = 240, 25, 6
LETTERS = 40


def miniature(section: Section, row: int | None, looks: Looks) -> str:
    """Return an SVG of the cited row and its neighbours; empty without an estimate."""
    results = section.measured.results.with_row_index("row")
    if row is None or is_missing(results["value"][row]):
        return ""
    cited = results.row(row, named=True)
    shown = _alike(results, cited, [one.row for one in section.findings])
    naming = _naming(shown, [*facets(section.measured.results), "group"])
    scale = Scale.of(shown, WIDTH, 8.0)
    lines = [_line(one, place, scale, looks, section, naming) for place, one in enumerate(shown)]
    zero = scale.at(float(cited["null"] or 0.0)) or 0.0
    height = STEP * len(shown) + 4
    return (
        f'<svg class="miniature" viewBox="0 0 {WIDTH} {height}" '
        f'preserveAspectRatio="xMinYMid meet" role="img" aria-label="{_label(shown, cited)}">'
        f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="{height}"/>{"".join(lines)}</svg>'
    )


def _alike(results: pl.DataFrame, cited: dict[str, Any], spoken: Sequence[int]) -> list[dict[str, Any]]:
    """Return the cited row and a few others of its measure."""
    same = results.filter(
        pl.col("measure") == cited["measure"],
        pl.col("unit").eq_missing(pl.lit(cited["unit"], pl.String)),
        pl.col("value").is_not_null(),
        pl.col("row") != cited["row"],
    ).to_dicts()
    order = {row: place for place, row in enumerate(spoken)}
    about = [*facets(results.drop("row")), "group", "versus"]
    alike = {one["row"] for one in same if all(one[name] == cited[name] for name in about)}  # of other systems
    others = sorted(same, key=lambda one: (one["row"] not in alike, order.get(int(one["row"]), len(order))))
    return [cited, *others[: ROWS - 1]]


def _label(rows: Sequence[dict[str, Any]], cited: dict[str, Any]) -> Markup:
    said = f"{plural(len(rows), 'estimate')} of {plain(cited['measure'])} with 95% intervals; the first is {estimate(*ends(cited))}"
    return escape(visible(said))


def ends(row: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the estimate and both ends of a row."""
    return row["value"], row["low"], row["high"]


def _naming(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Return the column that tells these rows apart."""
    for name in ("system", *columns):
        if len({str(one.get(name)) for one in rows}) == len(rows):
            return name
    return "group"


def _line(row: dict[str, Any], place: int, scale: Scale, looks: Looks, section: Section, naming: str) -> str:
    shown = section.measured.shown(str(row["system"]))
    look = looks.get(shown, Look(PALETTE[0], "circle", (1, 0)))
    name = shown if naming == "system" else str(row.get(naming) or "")
    name = visible(name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…")
    y, at = STEP * place + 19, scale.at(row["value"])
    start, end = scale.at(row["low"]), scale.at(row["high"])
    whisker = ""
    if start is not None and end is not None:
        whisker = f'<line x1="{start}" x2="{end}" y1="{y}" y2="{y}" stroke="{look.color}" stroke-width="2"/>'
    fill = look.color if row["decision"] == FOUND else "var(--card)"
    point = f'<path d="{swatch(look, 4.0)}" transform="translate({at},{y})" fill="{fill}" stroke="{look.color}" stroke-width="1.6"/>'
    return f'<text x="{LEFT}" y="{y - 8}">{escape(name)}</text>{whisker}{point}'
