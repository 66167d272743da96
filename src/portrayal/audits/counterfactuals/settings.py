"""The `[counterfactuals]` table of a study."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from portrayal.errors import PortrayalError
from portrayal.settings import Settings

OF_PICTURES = {"pictures", "kinds", "model", "images", "size", "masked"}  # that are changed for a study
TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))
WORDS = TEXTS["words"]  # of tables and charts


class CounterfactualsSettings(Settings):
    """The `[counterfactuals]` table of a study. Paths start at the study file's folder."""

    pictures: str = "openpeople"  # or a CSV with file, source, consent, and where known person, license, age
    kinds: list[str] = ["studio_portrait", "amateur_selfie"]  # of the generated people's pictures
    # "shipped", or a folder of counterfactual pictures made elsewhere; nothing is manipulated then.
    series: str | None = None
    kind: Literal["face only", "whole"] | None = None  # of its series; face only when left out and both are there
    source: str = ""  # of that folder, where its table does not say
    license: str = ""
    consent: str = ""
    age: str = ""  # of everybody there, such as "30-39"; without one the age reader decides
    attributes: list[Literal["gender", "race"]] = ["gender", "race"]
    # Of race: the groups at -1 and 1, or several such pairs. White and Black when left out; of a folder, all pairs it has.
    poles: list[str] | list[list[str]] | None = None
    placebo: bool = True
    model: str | None = None  # an ONNX file of `training.photographs`; the network that ships when left out
    images: str | None = None  # where series go; the user's cache when left out
    size: int = Field(320, ge=128, le=4096)
    masked: bool = True
    cluster: Literal["person"] = "person"  # what is counted; there is nothing to choose any more
    plain_concepts: bool = False  # true keeps Face, Skin, Red color ... in the tables
    labels: list[str] = []  # drawn as curves; the steepest ones when left out
    shares: str | None = None  # a CSV with occupation and share (masculine); Table 3 and Kay et al. when left out

    @model_validator(mode="before")
    @classmethod
    def _shipped_by_default(cls, table: Any) -> Any:
        """Show the set that ships, unless a study names pictures or series."""
        from portrayal.pictures.series.manifest import SHIPPED

        if not isinstance(table, dict):
            return table
        of_pictures = sorted(OF_PICTURES & table.keys())
        if table.get("series") and of_pictures:
            raise PortrayalError(
                f"[counterfactuals] has series = {table['series']!r} and {', '.join(of_pictures)}: series are shown as they are, and no "
                f"picture is changed. Leave out {', '.join(of_pictures)} to show them, or series to have pictures changed."
            )
        return table if "series" in table or of_pictures else {**table, "series": SHIPPED}

    @field_validator("attributes", "kinds")
    @classmethod
    def _each_once(cls, names: list[str], field: ValidationInfo) -> list[str]:
        """Return each once: what is named twice would be shown, tested and reported twice."""
        if not names:
            empty = f"[counterfactuals] has {field.field_name} = []: nothing would be shown."
            raise PortrayalError(f"{empty} Name at least one, or leave it out.")
        return list(dict.fromkeys(names))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of poles of race, each once and with the negative end first."""
        poles: list[Any] = self.poles or [["White", "Black"]]
        pairs = [poles] if isinstance(poles[0], str) else poles
        for pair in pairs:
            if len(pair) != 2 or pair[0] == pair[1]:
                raise PortrayalError(f"race needs two different poles; got {list(pair)}. Example: White, Black.")
        return list(dict.fromkeys((low, high) for low, high in pairs))
