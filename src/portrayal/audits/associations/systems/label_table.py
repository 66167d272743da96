"""Recorded labels of a generator's images as a system: `use = "label_table"`. Nothing is generated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings

BLOCKED = ("filtered", "refused", "blocked")


class TableSettings(Settings):
    """The table, and which of its systems."""

    path: str
    system: str | None = None


@dataclass
class LabelTable(BaseSystem):
    """Labels from a table, read when first asked."""

    batch: int = 1024
    repeatable: bool = True
    path: Path = field(default_factory=Path)
    chosen: str | None = None
    _rows: dict[str, dict[str, Any]] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the images up."""
        if self._rows is None:
            self._rows = self._read_rows()
        return [self._look_up(question) for question in questions]

    def _read_rows(self) -> dict[str, dict[str, Any]]:
        from portrayal.audits.associations.datasets.label_tables import label_table

        rows = label_table(self.path).iter_rows(named=True)
        return {row["stimulus"]: row for row in rows if self.chosen is None or row["system"] == self.chosen}

    def _look_up(self, question: Question) -> Answer | Exception:
        row = (self._rows or {}).get(question.stimulus)
        if row is None:
            return CallFailed("no recorded label for this image")
        if row["status"] in BLOCKED:
            return Answer(b"[]", refused=True)
        if row["status"] != "answered" or row["label"] is None:
            return CallFailed(f"recorded as {row['status']}")
        labels = [row["label"], *([f"face:{'yes' if row['face'] else 'no'}"] if row["face"] is not None else [])]
        return Answer(json.dumps([{"label": label, "score": None} for label in labels]).encode())


def open_system(settings: SystemSettings, folder: Path) -> LabelTable:
    """Open a table of labels."""
    own = settings.read(TableSettings)
    path = folder / own.path
    if not path.is_file():
        raise PortrayalError(f"no table of labels at {path}. Check the path.")
    return LabelTable(
        # A recording: the guard and the gates are for what draws.
        **settings.fields(f"replay:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}:{own.system or ''}"),
        path=path,
        chosen=own.system,
    )
