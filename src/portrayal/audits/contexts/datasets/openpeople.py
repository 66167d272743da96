"""Ten AI-generated adults of the `openpeople` package (MIT), in like clothes before a grey backdrop.

Labels come with the package, given by whoever described the people before generating them: sex, ethnicity (mixed, so not used
as groups), and a Fitzpatrick skin type that does not always match the picture. Skin types I to III are called lighter,
IV to VI darker.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.contexts.datasets.people_folder import PEOPLE
from portrayal.pictures.people import generated_people

LIGHTER = ("I", "II", "III")


def load_openpeople(picture: str = "studio_portrait") -> pl.DataFrame:
    """Return one row per person: person, file, source, license, consent, gender, skin, skin_type, age."""
    rows = [_person(*described, picture) for described in generated_people()]
    return pl.DataFrame(rows).select(*PEOPLE, pl.exclude(*PEOPLE))


def _person(name: str, assets: Path, labels: dict[str, str], picture: str) -> dict[str, str]:
    skin = labels["skin_tone"].removeprefix("Fitzpatrick ").strip()
    return {
        "person": name,
        "file": str(assets / f"{picture}.jpg"),
        "source": "openpeople 0.1.2, generated",
        "license": "MIT",
        "consent": "generated",
        "gender": labels["sex"],
        "skin": "lighter" if skin in LIGHTER else "darker",
        "skin_type": skin,
        "age": labels["age_range"],
    }
