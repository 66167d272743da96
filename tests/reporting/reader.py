"""A reader of HTML without a browser: elements with their attributes, text and place in the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "input", "hr"}
INLINE = {"a", "code", "strong", "em", "i", "b", "span"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    content: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        return [one for one in self.content if isinstance(one, Element)]

    def walk(self):
        """Yield this element and all inside it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, tag: str, **attributes: str) -> list[Element]:
        """Return the elements inside with this tag and these attributes ('id', 'class_' holding a word)."""
        return [one for one in self.walk() if one.tag == tag and one.fits(attributes)]

    def fits(self, attributes: dict[str, str]) -> bool:
        own = self.attributes
        return all(
            value in own.get("class", "").split() if name == "class_" else own.get(name) == value
            for name, value in attributes.items()
        )

    @property
    def text(self) -> str:
        """All text inside, spaces run together."""
        return " ".join("".join(self._all()).split())

    def _all(self):
        for one in self.content:
            if isinstance(one, str):
                yield one
            else:
                edge = "" if one.tag in INLINE else " "
                yield edge
                yield from one._all()
                yield edge


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document", {})
        self.here = self.root

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.content.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attrs):
        self.here.content.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.here.tag != tag:
            raise ValueError(f"</{tag}> closes <{self.here.tag}>")
        self.here = self.here.parent or self.root

    def handle_data(self, data):
        self.here.content.append(data)


def read(html: str) -> Element:
    """Parse a page whose every element is closed; anything else is an error."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    if reader.here is not reader.root:
        raise ValueError(f"<{reader.here.tag}> is never closed")
    return reader.root
