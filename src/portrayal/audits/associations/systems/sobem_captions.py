"""Recorded captions of SOBEM's photographs as a captioner: `use = "sobem_captions"`, with a `path`.

One answer per photograph holds all its captions. Name the captioner and its settings in the study (`name`, `version`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings


class CaptionFile(Settings):
    """The file of recorded captions."""

    path: str


@dataclass
class SobemCaptions(BaseSystem):
    """Captions from a file, read when first asked."""

    batch: int = 280
    repeatable: bool = True
    path: Path = field(default_factory=Path)
    _captions: dict[str, list[str]] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the photographs up by name."""
        if self._captions is None:
            self._captions = read_captions(self.path)
        return [self._look_up(question) for question in questions]

    def _look_up(self, question: Question) -> Answer | Exception:
        captions = (self._captions or {}).get(question.stimulus)
        if captions is None:
            return CallFailed("no recorded captions for this photograph")
        return Answer(json.dumps(captions, ensure_ascii=False).encode(), version=self.version)


def read_captions(path: Path) -> dict[str, list[str]]:
    """Return the captions of each photograph."""
    from portrayal.audits.associations.datasets.sobem import recorded_captions

    grouped = recorded_captions(path).group_by("stimulus", maintain_order=True).agg("caption")
    return dict(grouped.iter_rows())


def open_system(settings: SystemSettings, folder: Path) -> SobemCaptions:
    """Open a file of recorded captions."""
    own = validate(CaptionFile, settings.parameters, f"parameters of system {settings.name!r}")
    path = folder / own.path
    if not settings.version:
        raise PortrayalError(
            f"system {settings.name!r} has no version. Recorded captions name their captioner and its settings: "
            'version = "1,000 captions a photograph, top-p 1.0".'
        )
    if not path.is_file():
        raise PortrayalError(f"no recorded captions at {path}. Check the path.")
    return SobemCaptions(
        **settings.fields(f"sobem_captions:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"), path=path
    )
