"""Stimuli of the contexts audit: people composed into places, or a table of recorded images."""

from __future__ import annotations

import polars as pl

from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError
from portrayal.pictures.images import cache_folder
from portrayal.study.study import Study


def make_stimuli(study: Study) -> pl.DataFrame:
    """Return Stimuli with role, person, context and factors, composing pictures where they are needed."""
    settings: ContextsSettings = study.settings
    if not settings.images or only_replayed(study):
        from portrayal.audits.contexts.datasets.people import recorded_stimuli

        return recorded_stimuli(study.folder / settings.people)
    manifest = compose_pictures(study)
    usable = manifest.filter(pl.col("role") != "unusable")
    if usable.filter(role="baseline").is_empty():
        raise PortrayalError(f"no person's picture can be used. The first: {manifest['flags'].drop_nulls()[0]}")
    return usable.rename({"file": "content"}).with_columns(kind=pl.lit("image"))


def compose_pictures(study: Study) -> pl.DataFrame:
    """Put the people into the places; pictures that were composed before stay as they are."""
    from portrayal.audits.contexts.factorial import Recipe, compose_all, load_backgrounds

    settings: ContextsSettings = study.settings
    folder = study.folder / settings.pictures if settings.pictures else cache_folder("contexts")
    where = study.folder / settings.backgrounds if settings.backgrounds else None
    backgrounds = load_backgrounds(where, settings.per_context, study.picture_folders())
    parts = ("width", "height", "ratio", "tolerance", "crop", "cut_heads")
    recipe = Recipe(**{name: getattr(settings, name) for name in parts})
    return compose_all(_people(study), backgrounds, folder.absolute(), recipe)


def _people(study: Study) -> pl.DataFrame:
    from portrayal.audits.contexts.datasets import chicago_faces, people

    settings: ContextsSettings = study.settings
    path = study.folder / settings.people
    if settings.people == "openpeople":
        return people.load_openpeople()
    if path.is_dir():
        norming = study.folder / settings.norming if settings.norming else None
        return chicago_faces.load_chicago_faces(path, norming, settings.consent)
    license_name, consent = settings.people_license, settings.consent
    return people.load_people(path, license_name=license_name, consent=consent, also=study.picture_folders())


def only_replayed(study: Study) -> bool:
    """Return whether no picture is needed: recorded tags of people in a CSV."""
    replayed = all(system.use.startswith("replay:") for system in study.systems)
    return replayed and study.settings.people.endswith(".csv")
