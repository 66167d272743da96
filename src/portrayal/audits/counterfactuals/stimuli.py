"""The series of a study: made once from its pictures, or taken from a folder."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.errors import PortrayalError
from portrayal.runs.study import Study
from portrayal.vision.images import cache_folder


def make_stimuli(study: Study) -> pl.DataFrame:
    """Make the series, or take those of a folder."""
    settings: CounterfactualsSettings = study.settings
    if settings.series:
        taken = given(study)[0]
        if taken.is_empty():
            raise PortrayalError(
                f"everybody in {settings.series} is left out: nobody there is taken for an adult."
            )
        return taken
    from portrayal.vision.faces.build import MANIFEST

    made = pl.read_parquet(built(study) / MANIFEST)
    if made.is_empty():
        raise PortrayalError(
            "no picture could be manipulated: no frontal, adult face in colour. See docs/counterfactuals.md."
        )
    return made


def given(study: Study) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the stimuli of the folder a study names, and who was left out of it."""
    from portrayal.vision.faces.folder import read_folder

    settings: CounterfactualsSettings = study.settings
    folder = study.folder / str(settings.series)
    return read_folder(folder, settings.source, settings.license, settings.consent, settings.age)


def built(study: Study) -> Path:
    """Return the folder of the study's series, making them where they are not there yet."""
    from portrayal.vision.faces.build import Recipe, build
    from portrayal.vision.faces.model import open_manipulator
    from portrayal.vision.faces.sources import check_pictures, openpeople_pictures, read_pictures

    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        pictures = check_pictures(openpeople_pictures(tuple(settings.kinds)))
    else:
        pictures = read_pictures(study.folder / settings.pictures)
    manipulator = open_manipulator(str(study.folder / settings.model) if settings.model else None)
    recipe = Recipe(
        tuple(settings.attributes),
        tuple(settings.poles),
        settings.placebo,
        settings.size,
        settings.masked,
        study.seed,
    )
    folder = study.folder / settings.images if settings.images else cache_folder("counterfactuals")
    return build(pictures, manipulator, recipe, folder.absolute())
