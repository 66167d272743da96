"""The series of a study: made once from its pictures, or taken from a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from portrayal.audits.counterfactuals.measures.presence import START
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.shares import read_shares
from portrayal.edges.folders import refuse_file
from portrayal.errors import PortrayalError
from portrayal.pictures.images import cache_folder
from portrayal.study.study import Study
from portrayal.tables import read_csv

if TYPE_CHECKING:
    from portrayal.pictures.series.folder import FolderSeries
    from portrayal_faces.photographs.model import Model
    from portrayal_faces.series.build import Recipe


def make_stimuli(study: Study) -> pl.DataFrame:
    """Make the series, or take those of a folder."""
    settings: CounterfactualsSettings = study.settings
    _check_shares(study)
    if settings.series:
        taken = given(study).stimuli
        if taken.is_empty():
            raise PortrayalError(f"everybody in {settings.series} is left out: nobody there is taken for an adult.")
        return taken
    from portrayal_faces.series.build import read_built

    made = read_built(built(study))
    if made.is_empty():
        raise PortrayalError(
            "no picture could be manipulated: no frontal, adult face in colour. See docs/counterfactuals.md."
        )
    return with_starts(made, starting_groups(study))


def plan_stimuli(study: Study) -> pl.DataFrame:
    """Return the stimuli as `make_stimuli` does, but make no series: those not made yet are counted as if nobody were left out."""
    from portrayal_faces.series.build import MANIFEST, build_name, planned_series

    if study.settings.series:
        return make_stimuli(study)
    _check_shares(study)
    pictures, model, recipe, folder = _ingredients(study)
    if (folder / build_name(pictures, model, recipe) / MANIFEST).exists():
        return make_stimuli(study)
    return with_starts(planned_series(pictures, recipe), starting_groups(study))


def _check_shares(study: Study) -> None:
    """Read the shares that slopes are held against: what is wrong with them is said before anything is made, asked or paid for."""
    if study.settings.shares:
        read_shares(study.folder / study.settings.shares)


def with_starts(stimuli: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Add `start` where any is known: the group, on the series' own attribute, of the person before anything is edited."""
    if starts[START].null_count() == starts.height:
        return stimuli
    keys = [name for name in starts.columns if name != START]
    return stimuli.join(starts.unique(keys), on=keys, how="left", maintain_order="left")


def starting_groups(study: Study) -> pl.DataFrame:
    """Return picture, attribute and start: of the generated people as they were made, of others from columns `gender` and `race`."""
    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        from portrayal_faces.series.sources import generated_people

        labelled = {"gender": "sex", "race": "ethnicity"}
        rows = [
            (f"{person} {kind.replace('_', ' ')}", attribute, labels.get(name))
            for person, _, labels in generated_people()
            for kind in settings.kinds
            for attribute, name in labelled.items()
        ]
    else:
        table = read_csv(study.folder / settings.pictures, "a table of pictures").to_dicts()
        rows = [
            (row.get("picture") or row["file"], attribute, row.get(attribute) or None)
            for row in table
            for attribute in ("gender", "race")
        ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("picture", "attribute", START), pl.String), orient="row")


def given(study: Study) -> FolderSeries:
    """Return the series of the folder a study names, who was left out of it, and the checks it tells."""
    from portrayal.pictures.series.folder import Chosen, read_folder
    from portrayal.pictures.series.shipped import SHIPPED, shipped_set

    settings: CounterfactualsSettings = study.settings
    folder = shipped_set() if settings.series == SHIPPED else study.folder / str(settings.series)
    varied = [*settings.attributes, *(["placebo"] if settings.placebo else [])]
    chosen = Chosen(settings.kind, varied, settings.pairs if settings.poles else None)
    return read_folder(folder, settings.source, settings.license, settings.consent, settings.age, chosen)


def built(study: Study) -> Path:
    """Return the folder of the study's series, making them where they are not there yet."""
    from portrayal_faces.series.build import build

    return build(*_ingredients(study), quiet=not sys.stderr.isatty())


def _ingredients(study: Study) -> tuple[pl.DataFrame, Model, Recipe, Path]:
    """Return what a study's series are made of: pictures, model, recipe, and the folder they go to."""
    from portrayal_faces.photographs.model import open_model
    from portrayal_faces.series.attributes import two_poles
    from portrayal_faces.series.build import Recipe
    from portrayal_faces.series.sources import check_pictures, openpeople_pictures, read_pictures

    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
        pictures = check_pictures(openpeople_pictures(tuple(settings.kinds)))
    else:
        pictures = read_pictures(study.folder / settings.pictures, study.picture_folders())
    for pair in settings.pairs:
        two_poles(pair)
    model = open_model(str(study.folder / settings.model) if settings.model else None)
    recipe = Recipe(
        tuple(settings.attributes), tuple(settings.pairs), settings.placebo, settings.size, settings.masked, study.seed
    )
    model.require(recipe.axes())
    folder = study.folder / settings.images if settings.images else cache_folder("counterfactuals")
    refuse_file(folder)
    return pictures, model, recipe, folder.absolute()
