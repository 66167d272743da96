"""Rankers as systems of a study, such as `use = "bm25"`.

The parameters name the collection, `depth`, and the ranker's own settings. A question is a query; the answer lists [document,
score], best first. The index is made when first asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.words.tokens import stop_words
from portrayal_rankers.base import Ranker, run_of, search
from portrayal_rankers.registry import Searchable, check_settings, fingerprint, make_ranker, open_searchable
from portrayal_rankers.settings import IndexSettings

PATIENCE = 7 * 24 * 3600.0  # seconds; indexing and training happen inside the first question


@dataclass
class RankerSystem(BaseSystem):
    """Asks one of the package's own rankers."""

    repeatable: bool = True
    batch: int = 100_000
    use: str = ""
    path: Path = field(default_factory=Path)
    mark: str = ""  # the collection's fingerprint
    folder: Path = field(default_factory=Path)  # where relative paths in the settings start
    depth: int = 1000
    settings: dict[str, Any] = field(default_factory=dict)
    track: Callable[[Any], Any] = iter  # shows progress over the documents
    index_folder: Path | None = None  # where the index is kept on disk, if at all
    _ranker: Ranker | None = None

    @property
    def searchable(self) -> Searchable:
        """The collection, opened once for all systems that search it."""
        shared = open_searchable(self.path, self.mark)
        return replace(shared, folder=self.folder, track=self.track, index_folder=self.index_folder)

    def search(self, queries: Mapping[str, str]) -> dict[str, list[tuple[str, float]]]:
        """Return, by query id, the documents found with their scores, best first."""
        if self._ranker is None:
            self._ranker = make_ranker(self.use, self.searchable, self.settings)
        return search(self._ranker, queries, self.depth)

    def run(self, queries: Mapping[str, str]) -> pl.DataFrame:
        """Return what is found as a run table."""
        return run_of(self.search(queries))

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Search all queries at once, in a thread."""
        return await asyncio.to_thread(self._answers, questions)

    def _answers(self, questions: Sequence[Question]) -> list[Answer]:
        results = self.search({item.stimulus: item.content for item in questions})
        return [Answer(json.dumps(results[item.stimulus]).encode()) for item in questions]


def open_system(settings: SystemSettings, folder: Path) -> RankerSystem:
    """Open a ranker; all parameters but `collection` and `depth` are its own."""
    own = dict(settings.parameters)
    name, depth = own.pop("collection", None), own.pop("depth", 1000)
    if not isinstance(name, str):
        raise PortrayalError(f"system {settings.name!r} names no collection. Set parameters.collection to its path.")
    if not isinstance(depth, int) or depth < 1:
        raise PortrayalError(f"system {settings.name!r} has depth {depth!r}. Expected a whole number of at least 1.")
    checked = check_settings(settings.use, own)  # a misspelt setting fails before anything is recorded
    if isinstance(checked, IndexSettings):
        stop_words(checked.stop, folder)
    path = folder / name if (folder / name).exists() else Path(name)
    mark = fingerprint(path)
    return RankerSystem(
        **settings.fields(
            f"ranker:{settings.use}:{mark}",
            kind="ranker",
            limits=replace(settings.limits.limits(), concurrency=1, timeout=PATIENCE),
        ),
        use=settings.use,
        path=path,
        mark=mark,
        folder=folder,
        depth=depth,
        settings=own,
    )
