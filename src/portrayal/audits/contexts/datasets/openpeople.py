"""Ten AI-generated adults of the `openpeople` package (MIT), in like clothes before a grey backdrop.

Labels come with the package, given by whoever described the people before generating them: sex, ethnicity (mixed, so not used
as groups), and a Fitzpatrick skin type that does not always match the picture. Skin types I to III are called lighter,
IV to VI darker.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.contexts.datasets.people_folder import PEOPLE
from portrayal.parts.find import part_folder

LIGHTER = ("I", "II", "III")


def load_openpeople(picture: str = "studio_portrait") -> pl.DataFrame:
    """Return one row per person: person, file, source, license, consent, gender, skin, skin_type, age.

    Parameters
    ----------
    picture
        Which of the package's pictures: studio_portrait, studio_posture, ...
    """
    people = part_folder("openpeople", "the people that come with the contexts audit")
    folders = sorted((people / "data" / "curated").glob("P*"))
    rows = [_person(folder, picture) for folder in folders]
    return pl.DataFrame(rows).select(*PEOPLE, pl.exclude(*PEOPLE))


def _person(folder: Path, picture: str) -> dict[str, Any]:
    described = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    known = described["character_details"]["demographics"]
    skin = known["skin_tone"].removeprefix("Fitzpatrick ").strip()
    return {
        "person": described["person_id"],
        "file": str(folder / "assets" / f"{picture}.jpg"),
        "source": "openpeople 0.1.2, generated",
        "license": "MIT",
        "consent": "generated",
        "gender": known["sex"],
        "skin": "lighter" if skin in LIGHTER else "darker",
        "skin_type": skin,
        "age": known["age_range"],
    }
