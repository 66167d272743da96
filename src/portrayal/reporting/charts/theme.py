"""Theme of every chart: colour-blind safe, on light, dark and narrow screens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any

# Liberation Sans is measured in place of Arial and Helvetica: their widths are equal, so that no label runs out of its box.
_THEME = json.loads(files("portrayal.reporting").joinpath("charts/theme.json").read_text("utf-8"))
# Hues of Okabe and Ito (2008), each light or dark enough to be told from the others by readers who do not see red or green,
# and to reach 3:1 against white; tests/reporting/test_looks.py measures it.
PALETTE: tuple[str, ...] = tuple(_THEME["palette"])
GREYS: tuple[str, ...] = tuple(_THEME["greys"])  # of simulated systems alone
SHAPES: tuple[str, ...] = tuple(_THEME["shapes"])
DASHES: tuple[tuple[int, ...], ...] = tuple(map(tuple, _THEME["dashes"]))
INK, MUTED, GRID, CARD = (str(_THEME[name]) for name in ("ink", "muted", "grid", "card"))
DARK: Mapping[str, str] = _THEME["dark"]  # of each colour on a dark page; drawings in files keep the light one
DATA = ("datasets", "data")
# Narrow screens: a plot wider than WIDE is made PLOT wide where its rows are named above their points, and SIDE elsewhere.
WIDE, PLOT, SIDE, PANEL = 240, 300, 215, 132
ABOVE = 44  # pixels of a row with its name above
LABELS: dict[str, Any] = _THEME["above"]  # the axis of names above their rows


class _Altair:
    """Altair, imported when the first chart is made."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("altair"), name)


alt: Any = _Altair()


def saying(chart: Any, sentence: str) -> Any:
    """Put a quiet line above a plot, for what must be known to read it."""
    title = {"text": sentence, "fontWeight": "normal", "fontSize": 12, "color": MUTED}
    return chart.properties(title=title) if sentence else chart


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the Vega-Lite spec with the theme under its own configuration."""
    own = dict(spec.get("config", {}))
    if own.get("view") == {"continuousWidth": 300, "continuousHeight": 300}:  # altair's default, nobody's choice
        own["view"] = {"continuousWidth": 560, "continuousHeight": 300}
    return {**spec, "config": merge(_THEME["config"], own)}


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
        both[key] = merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return both


def rebuilt(spec: Any, change: Callable[[str, Any, dict[str, Any]], Any]) -> Any:
    """Change a spec by key, value and owner; None goes below, data stay."""
    if isinstance(spec, list):
        return [rebuilt(one, change) for one in spec]
    if not isinstance(spec, dict):
        return spec
    changed = {}
    for key, value in spec.items():
        new = None if key in DATA else change(key, value, spec)
        changed[key] = value if key in DATA else rebuilt(value, change) if new is None else new
    return changed


def narrowed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a Vega-Lite spec for a narrow screen.

    Rows named by a field 'label' (a forest, bars) carry their names above them; other plots are made narrower, and panels stand
    two beside each other.
    """
    shifts = [one["yOffset"] for one in _parts(spec) if isinstance(one.get("yOffset"), dict)]
    series = max((len(shift.get("scale", {}).get("domain", [1])) for shift in shifts), default=1)

    def change(key: str, value: Any, owner: dict[str, Any]) -> Any:
        # The chart inside a facet is as high as it is wide.
        panel = owner.get("width") == owner.get("height") and isinstance(owner.get("width"), (int, float))
        if key == "width" and isinstance(value, (int, float)) and (value > WIDE or panel):
            return PANEL if panel else PLOT if _named(owner) else SIDE
        if key == "height" and isinstance(value, (int, float)) and panel:
            return PANEL
        if key == "height" and isinstance(value, dict) and "step" in value and "for" not in value and _named(owner):
            return {"step": ABOVE}
        if key == "columns":
            return 2 if "facet" in owner else 1
        if key == "y" and isinstance(value, dict) and value.get("field") == "label":
            return {**value, "axis": {**LABELS, "labelOffset": -9 if series < 2 else -7.5 * series - 2}}
        if key == "yOffset" and isinstance(value, dict) and "scale" in value:
            return {**value, "scale": {**value["scale"], "paddingOuter": 1.1}}
        return None

    config = {
        "legend": {"columns": 1, "labelLimit": 300},
        "axis": {"labelLimit": 110},
        "axisQuantitative": {"tickCount": 4},
    }
    changed = rebuilt({key: value for key, value in spec.items() if key != "config"}, change)
    return {**changed, "config": merge(spec.get("config", {}), config)}


def _parts(spec: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping of a spec, except in its data."""
    if isinstance(spec, dict):
        yield spec
    inner = spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, list) else ()
    for key, value in inner:
        if key not in DATA:
            yield from _parts(value)


def _named(owner: dict[str, Any]) -> bool:
    """Tell whether the rows of a chart are named by a field 'label'."""
    return any(isinstance(one.get("y"), dict) and one["y"].get("field") == "label" for one in _parts(owner))
