"""Altair charts drawn to SVG and PNG without network, several side by side in processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, NamedTuple
from xml.etree import ElementTree

from portrayal.errors import PortrayalError
from portrayal.reporting.charts.looks import Look, Looks, dressed, greyed
from portrayal.reporting.charts.theme import alt, narrowed, themed
from portrayal.study.audit import Chart
from portrayal.text.formatting import visible_all

XLINK = "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"url\((['\"]?)#([^)'\"]+)\1\)")
NOBODYS: Mapping[str, Look] = {}
_DROPPED = {"script", "foreignObject", "iframe", "handler"}
ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
ElementTree.register_namespace("xlink", XLINK)


@dataclass(frozen=True)
class Drawing:
    """Drawn chart of one section; `svg` is empty for a picture that came as PNG."""

    chart: Chart
    name: str  # the file's stem under charts/
    svg: str
    png: bytes | None = None
    phone: str = ""  # the same figure for a narrow screen, where it is a main one


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
    """Return a function that draws, here or in processes: the renderer holds Python's lock."""
    if processes < 2:
        yield draw_here
        return
    # Spawned, not forked: numerical libraries have threads of their own, which a fork would break.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for _ in range(processes):
            pool.submit(_import)
        yield lambda sketches: pool.map(_draw_with_png, sketches)


def _draw(sketch: Sketch) -> Drawn:
    svg = to_svg(*sketch[:3], grey=sketch.grey)
    return Drawn(svg, to_svg(*sketch[:3], narrow=True, grey=sketch.grey) if svg and sketch.main else "")


def _draw_with_png(sketch: Sketch) -> Drawn:
    drawn = _draw(sketch)
    return drawn._replace(png=svg_to_png(drawn.svg)) if drawn.svg else drawn


def _import() -> None:
    """Start a process: what it imports is what takes the time."""


def to_svg(chart: Any, label: str = "", looks: Looks = NOBODYS, narrow: bool = False, grey: bool = False) -> str:
    """Draw an altair chart as SVG text, or nothing where it would be empty."""
    import vl_convert

    spec = themed(dressed(visible_all(spec_of(chart)), looks))
    spec = narrowed(spec) if narrow else spec
    try:
        # An empty list of addresses: data may only come from the spec itself.
        svg = vl_convert.vegalite_to_svg(greyed(spec) if grey else spec, allowed_base_urls=[])
    except ValueError as error:
        reason = " ".join(str(error).split())[:200]
        raise PortrayalError(f"a chart cannot be drawn: {reason} Check its columns and types.") from None
    # Nothing is shown where nothing but axes, legends and reference lines is drawn.
    groups = (one for one in ElementTree.fromstring(svg).iter() if "role-mark" in one.get("class", ""))
    return tidied(svg, label) if any(len(one) and "mark-rule" not in one.get("class", "") for one in groups) else ""


def svg_to_png(svg: str) -> bytes:
    """Turn drawn SVG text into PNG."""
    import vl_convert

    return vl_convert.svg_to_png(svg, scale=2.0)


def prefixed(svg: str, prefix: str) -> str:
    """Put `prefix` before every id, so that drawings in one page do not collide."""
    root = ElementTree.fromstring(svg)
    return _rename(root, {name: f"{prefix}-{name}" for name in _ids(root)})


def tidied(svg: str, label: str) -> str:
    """Drop scripts, handlers and outside links, number the ids from one, and name the figure."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in _DROPPED:
                parent.remove(child)
        for key in [key for key, value in parent.attrib.items() if _is_dropped(key, value)]:
            del parent.attrib[key]
    root.set("role", "img")
    if label:
        root.set("aria-label", visible_all(label))
    # The renderer counts its ids over all drawings of the process: the same chart must give the same text.
    return _rename(root, {name: f"part-{number}" for number, name in enumerate(dict.fromkeys(_ids(root)), start=1)})


def spec_of(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite spec of an altair chart, or of what is a spec already."""
    if isinstance(chart, dict):
        return chart
    # The transformer is chosen for this call only: a user's own altair settings stay as they are.
    with alt.data_transformers.enable("default", max_rows=None):
        # The renderer refuses what is no chart; checking against the whole schema first takes longer than drawing.
        return chart.to_dict(validate=False)


def _ids(root: ElementTree.Element) -> list[str]:
    return [element.get("id", "") for element in root.iter() if element.get("id")]


def _rename(root: ElementTree.Element, names: Mapping[str, str]) -> str:
    """Return a drawing as text, its ids and the references to them renamed."""
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                element.set(key, names[value])
            elif key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
                element.set(key, f"#{names.get(value[1:], value[1:])}")
            elif "url(" in value:
                element.set(key, _REFERENCE.sub(lambda match: f"url(#{names.get(match[2], match[2])})", value))
    return ElementTree.tostring(root, encoding="unicode")


def _is_dropped(key: str, value: str) -> bool:
    """Tell handlers, outside links, and words of parts: the figure carries one label."""
    name = key.rpartition("}")[2].lower()
    outside = name == "href" and not value.startswith(("#", "data:image/"))
    return outside or name.startswith("on") or key == "role" or key.startswith("aria-")
