"""A ranker as a system of a study: `use = "bm25"` and the other names of `portrayal.systems.rankers.registry`.

The parameters name the collection, how deep to search, and the ranker's own settings:

    [systems.parameters]
    collection = "collections/time"
    depth = 1000
    k1 = 1.2

A question is a query; the answer lists [document, score], best first. The index is made when first asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.base import Answer, BaseSystem, Question
from portrayal.systems.rankers.base import Ranker
from portrayal.systems.rankers.registry import check_settings, fingerprint, make_ranker, open_searchable
from portrayal.systems.settings import SystemSettings

PATIENCE = 7 * 24 * 3600.0  # seconds; indexing and training happen inside the first question


@dataclass
class RankerSystem(BaseSystem):
    """Asks one of the package's own rankers."""

    batch: int = 100_000
    use: str = ""
    path: Path = field(default_factory=Path)
    folder: Path = field(default_factory=Path)  # where relative paths in the settings start
    depth: int = 1000
    settings: dict[str, Any] = field(default_factory=dict)
    _ranker: Ranker | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Search all queries at once, in a thread."""
        return await asyncio.to_thread(self._answers, questions)

    def _answers(self, questions: Sequence[Question]) -> list[Answer]:
        if self._ranker is None:
            self._ranker = make_ranker(
                self.use, replace(open_searchable(self.path), folder=self.folder), self.settings
            )
        names = self._ranker.documents
        found = self._ranker.search({item.stimulus: item.content for item in questions}, self.depth)
        lists = [zip(*map(list, found[item.stimulus]), strict=True) for item in questions]
        return [
            Answer(json.dumps([[names[number], float(score)] for number, score in hits]).encode())
            for hits in lists
        ]


def open_system(settings: SystemSettings, folder: Path) -> RankerSystem:
    """Open a ranker; its parameters `collection` and `depth` are taken out, the rest are the ranker's own."""
    own = dict(settings.parameters)
    name, depth = own.pop("collection", None), own.pop("depth", 1000)
    if not isinstance(name, str):
        raise PortrayalError(
            f"system {settings.name!r} names no collection. Set parameters.collection to its path."
        )
    if not isinstance(depth, int) or depth < 1:
        raise PortrayalError(
            f"system {settings.name!r} has depth {depth!r}. Expected a whole number of at least 1."
        )
    check_settings(settings.use, own)  # a misspelt setting fails before anything is recorded
    path = folder / name if (folder / name).exists() else Path(name)
    return RankerSystem(
        **settings.fields(
            f"ranker:{settings.use}:{fingerprint(path)}",
            kind="ranker",
            limits=replace(settings.limits.limits(), concurrency=1, timeout=PATIENCE),
        ),
        use=settings.use,
        path=path,
        folder=folder,
        depth=depth,
        settings=own,
    )
