"""Charts drawn side by side in processes, because the renderer holds Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

from portrayal.reporting.charts.drawing import svg_to_png, to_svg
from portrayal.reporting.charts.looks import Looks


class Sketch(NamedTuple):
    """Source of a drawing."""

    spec: dict[str, Any]  # Vega-Lite
    label: str
    looks: Looks
    grey: bool
    main: bool  # drawn for a narrow screen too


class Drawn(NamedTuple):
    """A chart as SVG for wide and narrow screens, and as PNG."""

    svg: str
    phone: str = ""
    png: bytes | None = None


Draw = Callable[[Iterable[Sketch]], Iterable[Drawn]]


def draw_here(sketches: Iterable[Sketch]) -> Iterator[Drawn]:
    """Draw one after the other, without PNGs, which a page does not need."""
    return map(_draw, sketches)


@contextmanager
def drawing(processes: int) -> Iterator[Draw]:
    """Return a function that draws, here or in so many processes."""
    if processes < 2:
        yield draw_here
        return
    # Spawned, not forked: numerical libraries have threads of their own, which a fork would break.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for _ in range(processes):
            pool.submit(_nothing)
        yield lambda sketches: pool.map(_draw_with_png, sketches)


def _draw(sketch: Sketch) -> Drawn:
    given = sketch.spec, sketch.label, sketch.looks
    svg = to_svg(*given, grey=sketch.grey)
    return Drawn(svg, to_svg(*given, narrow=True, grey=sketch.grey) if svg and sketch.main else "")


def _draw_with_png(sketch: Sketch) -> Drawn:
    drawn = _draw(sketch)
    return drawn._replace(png=svg_to_png(drawn.svg)) if drawn.svg else drawn


def _nothing() -> None:
    """Start a process: what it imports is what takes the time."""
