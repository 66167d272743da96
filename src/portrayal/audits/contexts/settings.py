"""The `[contexts]` table of a study."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from portrayal.audits.contexts.measures.design import LABELS
from portrayal.pictures.compose import Crop, CutHeads
from portrayal.settings import Settings
from portrayal.text.languages import Languages


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
    cut_heads: CutHeads = "enlarge"  # or leave out: people whose own picture cuts their head off
    gender: str = "gender"
    genders: dict[str, list[str]] = Field(default_factory=lambda: {key: list(names) for key, names in LABELS.items()})
    factors: list[str] = ["gender", "race"]
    typology: str | None = None
    languages: Languages = ["en"]  # of the typology's and the places' words
    contexts: str | None = None
    context_tags: str | None = None
    # Tags that a service is less sure of are not counted; None: what the service itself leaves out by default.
    least_confidence: float | None = Field(None, ge=0, le=1)
    misgendering_tolerance: float = Field(0.05, gt=0, lt=1)  # the share of pictures that may be misgendered
    confidences: list[Annotated[float, Field(gt=0, le=1)]] = [0.5, 0.7, 0.9]  # with which tests are told again
    ratings: str | None = None  # people's ratings of the places, a Reviews CSV
    described: bool = True  # false: what is tested alone, without the rows that only describe
    mixed: bool = True
    contact_sheet: bool = True
