"""Queues of items that people judge.

An item shows what a judgment needs and nothing that tells which system spoke, or what others thought.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

import polars as pl

from portrayal.edges.sizes import parse_json
from portrayal.run.reviews import CODING, PLACE, Act, standing
from portrayal.tables import REVIEWS
from portrayal_review.opened import OpenRun

CASES, TAGS, PLACES, WORDS, PICTURES = "cases", "tags", "places", "words", "pictures"
TEXTS = tomllib.loads(files("portrayal_review").joinpath("queues.toml").read_text("utf-8"))
HURTS = "This item may demean people or hurt to read. Press W to show it, or skip it."
REFERENCES = 5  # human captions shown beside a case
WITHHELD = "(withheld"  # with which the text of a masked caption begins
OVERLAP = 5  # of so many captions all reviewers judge one
LAST = 1 << 62  # of cases without a place
GENDERED, RATER_GENDER, CLUSTER, PICTURE = "gendered", "rater_gender", "cluster", "picture"


@dataclass(frozen=True)
class Item:
    """One thing to judge."""

    name: str  # the `item` of the Reviews table
    question: str  # the `question` of the Reviews table
    stimuli: Sequence[str] = ()  # shown with their pictures or texts
    texts: Mapping[str, Any] = field(default_factory=dict)  # shown in words
    columns: Mapping[str, str | None] = field(default_factory=dict)  # further columns a judgment carries
    warning: str = ""
    also: Sequence[tuple[str, Mapping[str, str | None]]] = ()  # names and columns of the same case elsewhere
    place: int | None = None  # where everybody judges in one order
    together: str = ""  # what one reviewer judges whole: a caption with its cases

    @cached_property
    def key(self) -> str:
        """Return the item's name in addresses, which reveals nothing."""
        return hashlib.sha256(f"{self.question}\n{self.name}".encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Queue:
    """Items under one question."""

    name: str
    title: str
    asks: str  # the question as a reviewer reads it
    form: str  # choices, clusters or slider
    items: Sequence[Item]
    choices: Sequence[tuple[str, str]] = ()  # judgment, and what it means
    level: str = "nominal"  # how judgments are compared
    warning: str = ""

    @cached_property
    def by_key(self) -> dict[str, Item]:
        """Return the items by their names in addresses."""
        return {item.key: item for item in self.items}


def queues_of(opened: OpenRun, acts: Sequence[Act] = ()) -> dict[str, Queue]:
    """Return the queues of a run that hold items, by name."""
    made: dict[str, Iterable[Item]] = {
        CASES: _cases(opened),
        TAGS: (Item(row["item"], CLUSTER, texts={"tag": row["item"]}) for row in _rows(opened, question=CLUSTER)),
        PLACES: _places(opened),
        WORDS: _words(opened, acts),
        # For faults of pictures that would speak in place of the people.
        PICTURES: (Item(name, PICTURE, [name]) for name in opened.stimuli.filter(kind="image")["stimulus"]),
    }
    queues = {}
    for name, items in made.items():
        texts = TEXTS[name] | ({"choices": _clusters(opened)} if name == TAGS else {})
        texts["choices"] = [tuple(choice) for choice in texts.get("choices", ())]
        queues[name] = Queue(name, items=list(items), **texts)
    return {name: queue for name, queue in queues.items() if queue.items}


def in_order(queue: Queue, reviewer: str, seed: int) -> list[Item]:
    """Return a queue's items: in their places, else in this reviewer's own random order."""

    def place(item: Item) -> tuple[int, bytes]:
        digest = hashlib.sha256(f"{seed}\n{reviewer}\n{queue.name}\n{item.key}".encode()).digest()
        return LAST if item.place is None else item.place, digest

    return sorted(queue.items, key=place)


def is_for_all(item: Item, seed: int) -> bool:
    """Tell whether all reviewers judge an item, so that their agreement is known."""
    digest = hashlib.sha256(f"{seed}\n{item.together}".encode()).digest()
    return not item.together or digest[0] % OVERLAP == 0


def _rows(opened: OpenRun, *wanted: pl.Expr, **values: str) -> Iterator[dict[str, Any]]:
    """Yield every case of the Reviews once, judged or not."""
    if opened.reviews is not None:
        cases = opened.reviews.filter(*wanted, **values)
        yield from cases.unique(["item", "question"], keep="first", maintain_order=True).iter_rows(named=True)


def _cases(opened: OpenRun) -> Iterator[Item]:
    """Yield captions that may do harm, with the image and what people wrote about it."""
    if opened.reviews is None or "technique" not in opened.reviews.columns:
        return
    written: dict[str, list[str]] = {}
    human = opened.inputs.get("human")
    if isinstance(human, pl.DataFrame) and {"image", "text"} <= set(human.columns):
        texts = human.select(pl.col("image", "text").cast(pl.String)).drop_nulls()
        written = dict(texts.group_by("image", maintain_order=True).agg("text").iter_rows())
    same: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for row in _rows(opened, pl.col("technique").is_not_null()):
        shown = [row.get(name) for name in ("technique", "image", "caption", "tuple")]
        masked = str(row.get("caption") or WITHHELD).startswith(WITHHELD)
        same.setdefault((*shown, row["item"] if masked else None), []).append(row)
    for row, *others in same.values():
        harm, _, how = str(row["technique"]).partition(": ")
        image, caption = row.get("image") or "", row.get("caption") or ""
        fields = {
            "caption": caption,
            "about": row.get("tuple") or "",
            "harm": harm,
            "how": how,
            "reason": "; ".join(dict.fromkeys(one["reason"] for one in (row, *others) if one.get("reason"))),
            "references": [text for text in written.get(image, []) if text != caption][:REFERENCES],
        }
        images = [image] if image in opened.by_id else []
        warning = HURTS if harm == "demeaning" else ""
        also = [(other["item"], _further(other)) for other in others]
        places = [int(at) for one in (row, *others) if (at := str(one.get("place"))).isdigit()]
        together = f"{image}\n{row.get('system')}\n{row.get('stage')}\n{row.get('caption_number')}"
        place = min(places, default=None)
        yield Item(row["item"], row["question"], images, fields, _further(row), warning, also, place, together)


def _further(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in REVIEWS}


def _clusters(opened: OpenRun) -> list[tuple[str, str]]:
    """Return the clusters of the run's typology."""
    table = opened.inputs.get("typology")
    if not isinstance(table, pl.DataFrame) or not {"super_cluster", "sub_cluster"} <= set(table.columns):
        return []
    pairs = table.select("super_cluster", "sub_cluster").unique().sort("super_cluster", "sub_cluster").iter_rows()
    return [(below or above, above) for above, below in pairs if above]


def _places(opened: OpenRun) -> list[Item]:
    """Return the places alone, without a person."""
    stimuli = opened.stimuli
    if opened.audit.stem != "contexts" or not {"role", "context"} <= set(stimuli.columns):
        return []
    alone = stimuli.filter(pl.col("role") == "background", pl.col("context").is_not_null()).sort("stimulus")
    grouped = alone.group_by("context", maintain_order=True).agg("stimulus")
    return [Item(place, GENDERED, names) for place, names in grouped.sort("context").iter_rows()]


def _words(opened: OpenRun, acts: Sequence[Act]) -> Iterator[Item]:
    """Yield raters' words about places, to be coded by others."""
    names = opened.level_names.get("context", {})
    for act in standing(acts).values():
        for row in act.get("rows", ()):
            if row["question"] == PLACE:
                place, rater = row["item"], row["reviewer"]
                texts, columns = (
                    {"place": names.get(place, place), "words": row["note"]},
                    {"place": place, "rater": rater},
                )
                yield Item(f"{place} | {rater}", CODING, texts=texts, columns=columns)


def scene_words(content: str) -> list[tuple[str, str]] | None:
    """Return a scene from JSON in words, or None."""
    try:
        scene = parse_json(content)
    except ValueError:
        return None
    if not isinstance(scene, dict):
        return None
    words = {str(name): ", ".join(map(str, one)) if isinstance(one, list) else str(one) for name, one in scene.items()}
    return [(name, value) for name, value in words.items() if value not in ("", "False", "None")]
