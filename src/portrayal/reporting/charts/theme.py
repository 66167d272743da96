"""Theme of every chart: colour-blind safe, on white and dark cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Hues of Okabe and Ito (2008), each light or dark enough to be told from the others by readers who do not see red or green,
# and to reach 3:1 against white; tests/report/test_looks.py measures it.
PALETTE = ("#0062ab", "#d9640f", "#0a9a72", "#8d2f78", "#573f00", "#4a98d3")
GREYS = ("#6b7480", "#8b939c", "#3f4852")  # of simulated systems alone
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (10, 4))
INK = "#1d2733"
MUTED = "#5b6673"
GRID = "#e3e7ec"
CARD = "#ffffff"
# What each of these becomes on a dark page; drawings in files keep the left column.
DARK: Mapping[str, str] = {
    INK: "#e8eaed",
    MUTED: "#a7b0ba",
    GRID: "#343b43",
    CARD: "#1c2126",
    "black": "#e8eaed",
    "#0062ab": "#4da3dc",
    "#d9640f": "#ee8a3c",
    "#d55e00": "#ee8a3c",
    "#0a9a72": "#35b98f",
    "#8d2f78": "#d888c1",
    "#573f00": "#d0a53a",
    "#4a98d3": "#a9d3f3",
    "#6b7480": "#9aa4b0",
    "#8b939c": "#757d87",
    "#3f4852": "#c3cad2",
}
# Liberation Sans is measured in place of both: their widths are equal, so that no label runs out of its box.
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"

THEME: Mapping[str, Any] = {
    "background": CARD,
    "aria": False,  # the whole figure carries one label; thousands of marks read aloud help nobody
    "font": FONT,
    "padding": 8,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelLimit": 260,
        "titlePadding": 10,
    },
    "axisQuantitative": {"tickCount": 7},
    "axisY": {"domain": False, "ticks": False, "labelPadding": 8},
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelFontWeight": "bold"},
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "top",
        "labelLimit": 320,
        "columns": 3,
        "symbolOpacity": 1,
    },
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "subtitleColor": MUTED, "subtitleFontSize": 12},
    "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
    "mark": {"color": PALETTE[0]},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": MUTED},
    "bar": {"cornerRadiusEnd": 2},
}


def saying(sentence: str) -> dict[str, Any]:
    """Return a quiet line above a plot, for what must be known to read it."""
    return {"text": sentence, "fontWeight": "normal", "fontSize": 12, "color": MUTED}


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite spec with the theme under its own configuration."""
    own = dict(spec.get("config", {}))
    view = own.get("view", {})
    if view == {"continuousWidth": 300, "continuousHeight": 300}:  # altair's default, nobody's choice
        own["view"] = {"continuousWidth": 560, "continuousHeight": 300}
    return {**spec, "config": merge(THEME, own)}


def dark_rules(selector: str = ".canvas svg") -> str:
    """Return the style rules that turn drawn colours into those of a dark page."""
    return "\n".join(
        f'{selector} [{paint}="{light}" i] {{ {paint}: {dark}; }}'
        for light, dark in DARK.items()
        for paint in ("fill", "stroke")
    )


def merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two nested mappings; `over` wins."""
    both = dict(under)
    for key, value in over.items():
        inner = both.get(key)
        nested = isinstance(inner, Mapping) and isinstance(value, Mapping)
        both[key] = merge(inner, value) if nested else value  # type: ignore[arg-type]
    return both
