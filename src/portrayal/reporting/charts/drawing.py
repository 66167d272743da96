"""Altair charts drawn to SVG and PNG without network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from portrayal.errors import PortrayalError
from portrayal.reporting.charts.looks import Look, Looks, dressed, greyed
from portrayal.reporting.charts.narrow import narrowed
from portrayal.reporting.charts.theme import themed
from portrayal.study.audit import Chart
from portrayal.text.formatting import visible_all

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"url\((['\"]?)#([^)'\"]+)\1\)")
NOBODYS: Mapping[str, Look] = {}
_DROPPED = {"script", "foreignObject", "iframe", "handler"}


@dataclass(frozen=True)
class Drawing:
    """Drawn chart of one section; `svg` is empty for a picture that came as PNG."""

    chart: Chart
    name: str  # the file's stem under charts/
    svg: str
    png: bytes | None = None
    phone: str = ""  # the same figure for a narrow screen, where it is a main one


def to_svg(chart: Any, label: str = "", looks: Looks = NOBODYS, narrow: bool = False, grey: bool = False) -> str:
    """Draw an altair chart as SVG text, or nothing where it would be empty."""
    import vl_convert

    spec = themed(dressed(visible_all(spec_of(chart)), looks))
    spec = narrowed(spec) if narrow else spec
    spec = greyed(spec) if grey else spec
    try:
        # An empty list of addresses: data may only come from the spec itself.
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    except ValueError as error:
        said = " ".join(str(error).split())[:200]
        raise PortrayalError(f"a chart cannot be drawn: {said} Check its columns and types.") from None
    return tidied(svg, label) if _shows_something(svg) else ""


def _shows_something(svg: str) -> bool:
    """Tell whether anything but axes, legends and reference lines is drawn."""
    groups = (one for one in _parse(svg).iter() if "role-mark" in one.get("class", ""))
    return any(len(group) and "mark-rule" not in group.get("class", "") for group in groups)


def svg_to_png(svg: str, scale: float = 2.0) -> bytes:
    """Turn drawn SVG text into PNG."""
    import vl_convert

    return vl_convert.svg_to_png(svg, scale=scale)


def prefixed(svg: str, prefix: str) -> str:
    """Put `prefix` before every id, so that drawings in one page do not collide."""
    root = _parse(svg)
    ids = [element.get("id", "") for element in root.iter() if element.get("id")]
    _rename(root, {name: f"{prefix}-{name}" for name in ids})
    return _write(root)


def tidied(svg: str, label: str) -> str:
    """Drop scripts, handlers and outside links, number the ids from one, and name the figure."""
    root = _parse(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in _DROPPED:
                parent.remove(child)
        # The figure carries one label: roles of its parts without words of their own would only be noise.
        for key in [key for key, value in parent.attrib.items() if _unsafe(key, value) or _spoken(key)]:
            del parent.attrib[key]
    # The renderer counts its ids over all drawings of the process: the same chart must give the same text.
    ids = [element.get("id", "") for element in root.iter() if element.get("id")]
    _rename(root, {name: f"part-{number}" for number, name in enumerate(dict.fromkeys(ids), start=1)})
    root.set("role", "img")
    if label:
        root.set("aria-label", visible_all(label))
    return _write(root)


def spec_of(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite spec of an altair chart, or of what is a spec already."""
    if isinstance(chart, dict):
        return chart
    import altair

    # The transformer is chosen for this call only: a user's own altair settings stay as they are.
    with altair.data_transformers.enable("default", max_rows=None):
        # The renderer refuses what is no chart; checking against the whole schema first takes longer than drawing.
        return chart.to_dict(validate=False)


def _rename(root: ElementTree.Element, names: Mapping[str, str]) -> None:
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                element.set(key, names[value])
            elif key in ("href", f"{{{XLINK}}}href") and value.startswith("#"):
                element.set(key, f"#{names.get(value[1:], value[1:])}")
            elif "url(" in value:
                element.set(key, _REFERENCE.sub(lambda match: f"url(#{names.get(match[2], match[2])})", value))


def _spoken(key: str) -> bool:
    return key == "role" or key.startswith("aria-")


def _unsafe(key: str, value: str) -> bool:
    name = key.rpartition("}")[2].lower()
    outside = name == "href" and not value.startswith(("#", "data:image/"))
    return name.startswith("on") or outside


def _parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def _write(root: ElementTree.Element) -> str:
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")
