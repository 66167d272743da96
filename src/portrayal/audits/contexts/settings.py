"""The `[contexts]` table of a study."""

from __future__ import annotations

from pydantic import Field

from portrayal.audits.contexts.measures.questions import LABELS
from portrayal.settings import Settings
from portrayal.vision.compose import Crop


class ContextsSettings(Settings):
    """The `[contexts]` table of a study. Paths start at the study file's folder."""

    # openpeople, a folder of the Chicago Face Database, or a CSV with image_id and factors
    people: str = "openpeople"
    norming: str | None = None  # the Chicago Face Database's norming sheet, as CSV
    people_license: str = "not stated"
    consent: str = ""  # how the people agreed; empty keeps pictures on this machine
    backgrounds: str | None = None  # a folder with backgrounds.csv; the drawings that ship when left out
    per_context: int | None = Field(None, ge=1)
    pictures: str | None = None  # where composed pictures go; the user's cache when left out
    images: bool = True  # false: recorded tags alone, `people` is the table of images
    width: int = Field(640, ge=64, le=8192)
    height: int = Field(480, ge=64, le=8192)
    ratio: float = Field(0.5, gt=0)
    tolerance: int = Field(24, ge=1, le=255)
    crop: Crop = "both"
    gender: str = "gender"
    genders: dict[str, list[str]] = Field(
        default_factory=lambda: {key: list(names) for key, names in LABELS.items()}
    )
    factors: list[str] = ["gender", "race"]
    typology: str | None = None
    contexts: str | None = None
    context_tags: str | None = None
    ratings: str | None = None  # people's ratings of the places, a Reviews CSV
    mixed: bool = True
    contact_sheet: bool = True
