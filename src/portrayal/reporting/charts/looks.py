"""One colour and one shape per system, in every chart of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.reporting.charts.theme import DASHES, GREYS, PALETTE, SHAPES

SCALED = ("color", "fill", "stroke", "shape", "strokeDash")


@dataclass(frozen=True)
class Look:
    """Look of one system."""

    color: str
    shape: str
    dash: tuple[int, ...]
    simulated: bool = False


Looks = Mapping[str, Look]


def looks_of(systems: Iterable[tuple[str, bool]]) -> dict[str, Look]:
    """Give every system its look, in the order they come.

    Real systems take the palette in turn and simulated ones the greys. Where the colours are used up the shapes move on by
    one, so that two systems never share both.

    Examples
    --------
    >>> found = looks_of([("A", False), ("a phantom (simulated)", True)])
    >>> found["A"].color != found["a phantom (simulated)"].color
    True
    """
    named = dict(systems)
    found: dict[str, Look] = {}
    for simulated, colors in ((False, PALETTE), (True, GREYS)):
        for place, name in enumerate(name for name, planted in named.items() if planted == simulated):
            turn, tone = divmod(place, len(colors))
            shape = SHAPES[(tone + turn) % len(SHAPES)]
            found[name] = Look(colors[tone], shape, DASHES[(tone + turn) % len(DASHES)], simulated)
    return found


def dressed(spec: Any, looks: Looks) -> Any:
    """Return a Vega-Lite spec whose scales over systems have the systems' looks."""
    if isinstance(spec, list):
        return [dressed(one, looks) for one in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: _scaled(key, value, looks) if key in SCALED else value if key == "datasets" else dressed(value, looks)
        for key, value in spec.items()
    }


def greyed(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a chart about a simulated system, in greys."""
    tones = {color: GREYS[place % len(GREYS)] for place, color in enumerate(PALETTE)}
    return dict(_replaced(spec, tones))


def _scaled(channel: str, value: Any, looks: Looks) -> Any:
    domain = value.get("scale", {}).get("domain") if isinstance(value, dict) and value.get("scale") else None
    if not isinstance(domain, list) or not any(name in looks for name in domain):
        return value
    given = value["scale"].get("range") or [None] * len(domain)
    worn = [_worn(channel, looks[name]) if name in looks else old for name, old in zip(domain, given, strict=False)]
    return {**value, "scale": {**value["scale"], "range": worn}}


def _worn(channel: str, look: Look) -> Any:
    return {"shape": look.shape, "strokeDash": list(look.dash)}.get(channel, look.color)


def _replaced(value: Any, tones: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: inner if key == "datasets" else _replaced(inner, tones) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, tones) for inner in value]
    return tones.get(value, value) if isinstance(value, str) else value


def swatch(look: Look, size: float = 6.0) -> str:
    """Return the outline of a system's shape around the origin."""
    return MARKS[look.shape](size)


def _polygon(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f},{y:.2f}" for x, y in points) + "Z"


MARKS: Mapping[str, Any] = {
    "circle": lambda r: f"M{-r:.2f},0A{r:.2f},{r:.2f} 0 1 0 {r:.2f},0A{r:.2f},{r:.2f} 0 1 0 {-r:.2f},0Z",
    "square": lambda r: _polygon([(-0.9 * r, -0.9 * r), (0.9 * r, -0.9 * r), (0.9 * r, 0.9 * r), (-0.9 * r, 0.9 * r)]),
    "diamond": lambda r: _polygon([(0, -1.2 * r), (1.0 * r, 0), (0, 1.2 * r), (-1.0 * r, 0)]),
    "triangle-up": lambda r: _polygon([(0, -1.1 * r), (1.1 * r, 0.9 * r), (-1.1 * r, 0.9 * r)]),
    "triangle-down": lambda r: _polygon([(0, 1.1 * r), (1.1 * r, -0.9 * r), (-1.1 * r, -0.9 * r)]),
    "cross": lambda r: _polygon(
        [(-r, -r / 3), (-r / 3, -r / 3), (-r / 3, -r), (r / 3, -r), (r / 3, -r / 3), (r, -r / 3),
         (r, r / 3), (r / 3, r / 3), (r / 3, r), (-r / 3, r), (-r / 3, r / 3), (-r, r / 3)]
    ),
    "triangle-right": lambda r: _polygon([(1.1 * r, 0), (-0.9 * r, -1.1 * r), (-0.9 * r, 1.1 * r)]),
}  # fmt: skip
