"""One colour and one shape per system, in every chart of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from portrayal.reporting.charts.theme import DASHES, GREYS, PALETTE, SHAPES, rebuilt

SCALED = ("color", "fill", "stroke", "shape", "strokeDash")
# Corners of a system's shape around the origin, for a size of 1.
MARKS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.2), (1, 0), (0, 1.2), (-1, 0)),
    "triangle-up": ((0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
    "triangle-down": ((0, 1.1), (1.1, -0.9), (-1.1, -0.9)),
    "triangle-right": ((1.1, 0), (-0.9, -1.1), (-0.9, 1.1)),
    "cross": ((-1, -1 / 3), (-1 / 3, -1 / 3), (-1 / 3, -1), (1 / 3, -1), (1 / 3, -1 / 3), (1, -1 / 3),
              (1, 1 / 3), (1 / 3, 1 / 3), (1 / 3, 1), (-1 / 3, 1), (-1 / 3, 1 / 3), (-1, 1 / 3)),
}  # fmt: skip


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
    """
    named = dict(systems)
    looks: dict[str, Look] = {}
    for simulated, colors in ((False, PALETTE), (True, GREYS)):
        for place, name in enumerate(name for name, planted in named.items() if planted == simulated):
            turn, tone = divmod(place, len(colors))
            shape = SHAPES[(tone + turn) % len(SHAPES)]
            looks[name] = Look(colors[tone], shape, DASHES[(tone + turn) % len(DASHES)], simulated)
    return looks


def dressed(spec: Any, looks: Looks) -> Any:
    """Return a Vega-Lite spec whose scales over systems have the systems' looks."""

    def dress(channel: str, value: Any, _: Any) -> Any:
        scale = (value.get("scale") or {}) if channel in SCALED and isinstance(value, dict) else {}
        domain = scale.get("domain")
        if channel not in SCALED or not isinstance(domain, list) or not any(name in looks for name in domain):
            return value if channel in SCALED else None
        before = scale.get("range") or [None] * len(domain)
        worn = [
            _worn(channel, looks[name]) if name in looks else old for name, old in zip(domain, before, strict=False)
        ]
        return {**value, "scale": {**scale, "range": worn}}

    return rebuilt(spec, dress)


def _worn(channel: str, look: Look) -> Any:
    return {"shape": look.shape, "strokeDash": list(look.dash)}.get(channel, look.color)


def greyed(spec: Any) -> Any:
    """Return the spec of a chart about a simulated system, in greys."""
    if isinstance(spec, dict):
        return {key: inner if key == "datasets" else greyed(inner) for key, inner in spec.items()}
    if isinstance(spec, list):
        return [greyed(inner) for inner in spec]
    return GREYS[PALETTE.index(spec) % len(GREYS)] if spec in PALETTE else spec


def swatch(look: Look, size: float = 6.0) -> str:
    """Return the outline of a system's shape around the origin."""
    if look.shape == "circle":
        return f"M{-size:.2f},0A{size:.2f},{size:.2f} 0 1 0 {size:.2f},0A{size:.2f},{size:.2f} 0 1 0 {-size:.2f},0Z"
    return "M" + "L".join(f"{x * size:.2f},{y * size:.2f}" for x, y in MARKS[look.shape]) + "Z"
