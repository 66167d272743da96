"""The series of a study: made once from its pictures, or taken from a folder."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.occupations import read_shares
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.errors import PortrayalError
from portrayal.pictures.series.folder import Chosen, FolderSeries, read_folder
from portrayal.pictures.series.manifest import SHIPPED, load_entry, shipped_set
from portrayal.study.study import Study


def make_stimuli(study: Study) -> pl.DataFrame:
    """Make the series, or take those of a folder."""
    _check_shares(study)
    taken = read_series(study).stimuli
    if taken.is_empty():
        raise PortrayalError(f"everybody in {study.settings.series} is left out: nobody there is taken for an adult.")
    return taken


def plan_stimuli(study: Study) -> pl.DataFrame:
    """Return the stimuli without making series: unmade ones are counted whole."""
    if study.settings.series:
        return make_stimuli(study)
    _check_shares(study)
    planned: pl.DataFrame = _maker().plan_series(study)
    return planned


def _check_shares(study: Study) -> None:
    """Read the shares that slopes are compared with, so that errors come early."""
    if study.settings.shares:
        read_shares(study.folder / study.settings.shares)


def read_series(study: Study) -> FolderSeries:
    """Return the series of a study, who was left out, and their checks."""
    settings: CounterfactualsSettings = study.settings
    if not settings.series:
        made: FolderSeries = _maker().make_series(study)
        return made
    folder = shipped_set() if settings.series == SHIPPED else study.folder / str(settings.series)
    varied = [*settings.attributes, *(["placebo"] if settings.placebo else [])]
    chosen = Chosen(settings.kind, varied, settings.pairs if settings.poles else None)
    return read_folder(folder, settings.source, settings.license, settings.consent, settings.age, chosen)


def _maker() -> Any:
    """Return the module that changes the pictures of a study."""
    return load_entry("photographs", "a study of pictures to be changed")
