"""Pages of a report: sections in, HTML out, without network or script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from portrayal.reporting.charts.drawing import Drawing
from portrayal.reporting.page.evidence import Traced, answers_view, trace
from portrayal.reporting.page.results import result_blocks
from portrayal.reporting.page.section import Section, draw_all
from portrayal.reporting.page.views import head_view, page_view, plain_head_view
from portrayal.reporting.words.names import NAMES
from portrayal.text import formatting

__all__ = ["Section", "render", "render_drawn", "row_pages"]
FILTERS = ("number", "estimate", "interval", "p_value", "count", "share", "plural", "plain", "cell", "tied")


def render(sections: Sequence[Section], title: str) -> str:
    """Return the whole report as HTML."""
    return render_drawn(sections, title, draw_all(sections), [trace(section) for section in sections])


def render_drawn(
    sections: Sequence[Section], title: str, drawings: Sequence[Sequence[Drawing]], traces: Sequence[Traced]
) -> str:
    """Return the report from drawn charts and traced rows, one of each per section."""
    view = page_view(sections, title, drawings, traces)
    return environment().get_template("page.html").render(view)


def row_pages(traced: Traced) -> Iterator[tuple[str, str]]:
    """Yield the pages beside the report, each with its name."""
    section = traced.section
    title = f"{section.audit.title}: {section.study_name}"
    names = {**NAMES, **section.audit.names}
    blocks = result_blocks(section.measured.results, section.anchor, None, names, traced.addresses())
    about = {**head_view(title), "anchor": section.anchor, "study": section.study_name, "audit": section.audit}
    yield f"{section.anchor}.html", _page("rows.html", {**about, "blocks": blocks})
    for choice in range(len(traced.choices)):
        view = {**about, **plain_head_view(title), **answers_view(traced, choice)}
        yield traced.file(choice), _page("answers.html", view)


def _page(template: str, view: dict[str, Any]) -> str:
    return environment().get_template(template).render(view)


@cache
def environment() -> jinja2.Environment:
    """Return the template environment: everything escaped, control characters made visible."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("portrayal.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_final,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in FILTERS:
        found.filters[name] = getattr(formatting, name)
    return found


def _final(value: Any) -> Any:
    """Clean what is not markup already; autoescaping follows."""
    if isinstance(value, Markup):
        return value
    return formatting.visible(value) if isinstance(value, str) else value
