"""Charts for a narrow screen, with the names of rows above them."""

from __future__ import annotations

from typing import Any

WIDE = 240  # a plot wider than this is made narrower
PLOT = 300  # of a plot whose rows are named above their points
SIDE = 215  # of a plot with names beside it
ABOVE = 44  # pixels of a row with its name above
PANEL = 132
LABELS: dict[str, Any] = {
    "labelAlign": "left",
    "labelBaseline": "bottom",
    "labelPadding": 0,
    "labelLimit": 320,
    "tickBand": "extent",
    "grid": True,
}


def narrowed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a Vega-Lite spec for a narrow screen.

    Rows named by a field 'label' (a forest, bars) carry their names above them; other plots are made narrower, and panels stand
    two beside each other.
    """
    config = {**spec.get("config", {})}
    config["legend"] = {**config.get("legend", {}), "columns": 1, "labelLimit": 300}
    config["axis"] = {**config.get("axis", {}), "labelLimit": 110}
    config["axisQuantitative"] = {**config.get("axisQuantitative", {}), "tickCount": 4}
    changed = _walk({key: value for key, value in spec.items() if key != "config"}, _series(spec))
    return {**changed, "config": config}


def _walk(value: Any, series: int) -> Any:
    if isinstance(value, list):
        return [_walk(one, series) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: inner if key in ("datasets", "data") else _changed(key, inner, value, series)
        for key, inner in value.items()
    }


def _changed(key: str, inner: Any, owner: dict[str, Any], series: int) -> Any:
    if key == "width" and isinstance(inner, (int, float)):
        return inner if inner <= WIDE and not _is_panel(owner) else _width(owner)
    if key == "height" and isinstance(inner, (int, float)) and _is_panel(owner):
        return PANEL
    if key == "height" and isinstance(inner, dict) and "step" in inner and "for" not in inner and _named(owner):
        return {"step": ABOVE}
    if key == "columns":
        return 2 if "facet" in owner else 1
    if key == "y" and isinstance(inner, dict) and inner.get("field") == "label":
        return {**inner, "axis": {**LABELS, "labelOffset": -9 if series < 2 else -7.5 * series - 2}}
    if key == "yOffset" and isinstance(inner, dict) and "scale" in inner:
        return {**inner, "scale": {**inner["scale"], "paddingOuter": 1.1}}
    return _walk(inner, series)


def _width(owner: dict[str, Any]) -> int:
    return PANEL if _is_panel(owner) else PLOT if _named(owner) else SIDE


def _is_panel(owner: dict[str, Any]) -> bool:
    """Tell whether this is the chart inside a facet: as high as it is wide."""
    return owner.get("width") == owner.get("height") and isinstance(owner.get("width"), (int, float))


def _named(owner: Any) -> bool:
    """Tell whether the rows of a chart are named by a field 'label'."""
    if isinstance(owner, list):
        return any(map(_named, owner))
    if not isinstance(owner, dict):
        return False
    rows = owner.get("encoding", {}).get("y")
    own = isinstance(rows, dict) and rows.get("field") == "label"
    return own or _named(owner.get("layer", [])) or _named(owner.get("vconcat", []))


def _series(value: Any) -> int:
    """Return how many series share a row."""
    if isinstance(value, list):
        return max(map(_series, value), default=1)
    if not isinstance(value, dict):
        return 1
    here = value.get("yOffset")
    if isinstance(here, dict):
        return len(here.get("scale", {}).get("domain", [1]))
    return max((_series(inner) for key, inner in value.items() if key not in ("datasets", "data")), default=1)
