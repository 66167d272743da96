"""Recorded answers of the experiments: `use = "sobem_captions"` and `use = "label_table"`, with a `path`.

One answer per photograph holds all its captions, which a captioner's study names (`name`, `version`); one answer per image
holds its label. Nothing is generated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from portrayal.audits.associations.datasets.label_tables import label_table
from portrayal.audits.associations.datasets.sobem import recorded_captions
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.plugins.replay import ANSWERED, REFUSED


class CaptionFile(Settings):
    """The file of recorded captions."""

    path: str


class LabelFile(CaptionFile):
    """The table of labels, and the one of its systems that is meant."""

    system: str | None = None


@dataclass
class Recorded(BaseSystem):
    """Answers from a file, read when first asked."""

    batch: int = 1024
    repeatable: bool = True
    read: Callable[[], Mapping[str, Answer | CallFailed]] = dict
    lacking: str = ""  # an answer's absence in words
    _answers: Mapping[str, Answer | CallFailed] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the stimuli up."""
        if self._answers is None:
            self._answers = self.read()
        return [self._answers.get(question.stimulus) or CallFailed(self.lacking) for question in questions]


def open_system(settings: SystemSettings, folder: Path) -> Recorded:
    """Open a file of recorded captions or labels."""
    captions = settings.use == "sobem_captions"
    own = settings.read(CaptionFile if captions else LabelFile)
    path = folder / own.path
    if captions and not settings.version:
        raise PortrayalError(
            f"system {settings.name!r} has no version. Recorded captions name their captioner and its settings: "
            'version = "1,000 captions a photograph, top-p 1.0".'
        )
    if not path.is_file():
        raise PortrayalError(f"no {'recorded captions' if captions else 'table of labels'} at {path}. Check the path.")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    if captions:
        fields, read = settings.fields(f"sobem_captions:{digest}"), partial(_captions, path, settings.version)
        return Recorded(**fields, batch=280, read=read, lacking="no recorded captions for this photograph")
    chosen = getattr(own, "system", None)
    # A recording: the guard and the gates are for what draws.
    fields = settings.fields(f"replay:{digest}:{chosen or ''}")
    return Recorded(**fields, read=partial(_labels, path, chosen), lacking="no recorded label for this image")


def _captions(path: Path, version: str) -> dict[str, Answer | CallFailed]:
    grouped = recorded_captions(path).group_by("stimulus", maintain_order=True).agg("caption")
    return {
        name: Answer(json.dumps(captions, ensure_ascii=False).encode(), version=version)
        for name, captions in grouped.iter_rows()
    }


def _labels(path: Path, system: str | None) -> dict[str, Answer | CallFailed]:
    rows = label_table(path).iter_rows(named=True)
    return {row["stimulus"]: _label(row) for row in rows if system is None or row["system"] == system}


def _label(row: Mapping[str, Any]) -> Answer | CallFailed:
    status = str(row["status"] or "").lower()
    if status in REFUSED:
        return Answer(b"[]", refused=True)
    if status not in ANSWERED or row["label"] is None:
        return CallFailed(f"recorded as {row['status']}")
    labels = [row["label"], *([f"face:{'yes' if row['face'] else 'no'}"] if row["face"] is not None else [])]
    return Answer(json.dumps([{"label": label, "score": None} for label in labels]).encode())
