"""Series made of the pictures that a study names, for the counterfactuals audit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from portrayal.edges.folders import refuse_file
from portrayal.errors import PortrayalError
from portrayal.pictures.images import cache_folder, generated_people
from portrayal.pictures.series.folder import FolderSeries
from portrayal.pictures.series.manifest import MADE
from portrayal.study.study import Study
from portrayal.tables import read_csv
from portrayal_faces.photographs.model import Model, open_model
from portrayal_faces.series.attributes import two_poles
from portrayal_faces.series.build import CHECKS, LEFT_OUT, Recipe, build, build_name, planned_series, read_built
from portrayal_faces.series.sources import check_pictures, openpeople_pictures, read_pictures

if TYPE_CHECKING:
    from portrayal.audits.counterfactuals.settings import CounterfactualsSettings


def make_series(study: Study) -> FolderSeries:
    """Return the series of a study's pictures, making those that are not there yet."""
    folder = build(*_ingredients(study), quiet=not sys.stderr.isatty())
    made = read_built(folder)
    if made.is_empty():
        raise PortrayalError(
            "no picture could be manipulated: no frontal, adult face in colour. See docs/counterfactuals_series.md."
        )
    return FolderSeries(
        with_starts(made, starting_groups(study)), pl.read_parquet(folder / LEFT_OUT), pl.read_parquet(folder / CHECKS)
    )


def plan_series(study: Study) -> pl.DataFrame:
    """Return the stimuli without making any, as if nobody were left out."""
    pictures, model, recipe, folder = _ingredients(study)
    if (folder / build_name(pictures, model, recipe) / MADE).exists():
        return make_series(study).stimuli
    return with_starts(planned_series(pictures, recipe), starting_groups(study))


def with_starts(stimuli: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Add `start` where known: the person's group on the series' attribute before editing."""
    if starts["start"].null_count() == starts.height:
        return stimuli
    keys = [name for name in starts.columns if name != "start"]
    return stimuli.join(starts.unique(keys), on=keys, how="left", maintain_order="left")


def starting_groups(study: Study) -> pl.DataFrame:
    """Return picture, attribute and start, from generated people or from a table's columns."""
    settings: CounterfactualsSettings = study.settings
    if settings.pictures == "openpeople":
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
    return pl.DataFrame(rows, schema=dict.fromkeys(("picture", "attribute", "start"), pl.String), orient="row")


def _ingredients(study: Study) -> tuple[pl.DataFrame, Model, Recipe, Path]:
    """Return pictures, model, recipe and folder of a study's series."""
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
