"""TREC run files as systems: `use = "run:bm25.run"`. Queries are looked up by their id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.collections import read_run


@dataclass
class RunFile(BaseSystem):
    """Answers from a run made elsewhere."""

    repeatable: bool = True
    batch: int = 100_000
    path: Path = field(default_factory=Path)
    _lists: dict[str, list[dict[str, Any]]] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Look the queries up by id."""
        if self._lists is None:
            try:
                run = read_run(self.path)
            except PortrayalError as error:  # of this system alone: the others can still be asked
                raise CallFailed(str(error)) from None
            results = run.select("query", pl.struct("doc", "rank", "score")).group_by("query").all()
            self._lists = dict(results.iter_rows())
        return [Answer(json.dumps(self._lists.get(item.stimulus, [])).encode()) for item in questions]


def open_system(settings: SystemSettings, folder: Path) -> RunFile:
    """Open a run file; it is read when first asked."""
    path = folder / settings.use.removeprefix("run:")
    if not path.is_file():
        raise PortrayalError(f"no run file at {path}. Check the path after 'run:'.")
    return RunFile(**settings.fields(f"run:{hashlib.sha256(path.read_bytes()).hexdigest()}", kind="ranker"), path=path)
