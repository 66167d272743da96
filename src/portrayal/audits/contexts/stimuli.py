"""Stimuli and inputs of the contexts audit: people composed into places, word lists, ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts import people
from portrayal.audits.contexts.factorial import ENLARGED, Recipe, compose_all, load_backgrounds
from portrayal.audits.contexts.input_checks import check_design, usual_confidence
from portrayal.audits.contexts.measures.design import place_names
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.errors import PortrayalError
from portrayal.pictures.contact_sheet import contact_sheet, named_strip
from portrayal.pictures.images import cache_folder
from portrayal.study.study import Study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

LISTS = {"typology": load_typology, "contexts": load_contexts, "context_tags": load_context_tags}


def make_stimuli(study: Study) -> pl.DataFrame:
    """Return Stimuli with role, person, context and factors, composing pictures where they are needed."""
    settings: ContextsSettings = study.settings
    if not settings.images or only_replayed(study):
        return check_design(people.recorded_stimuli(study.folder / settings.people), study)
    check_design(_people(study), study)
    manifest = compose_pictures(study)
    usable = manifest.filter(pl.col("role") != "unusable")
    if usable.filter(role="baseline").is_empty():
        raise PortrayalError(f"no person's picture can be used. The first: {manifest['flags'].drop_nulls()[0]}")
    return usable.rename({"file": "content"}).with_columns(kind=pl.lit("image"))


def compose_pictures(study: Study) -> pl.DataFrame:
    """Put the people into the places; pictures that were composed before stay as they are."""
    settings: ContextsSettings = study.settings
    folder = study.folder / settings.pictures if settings.pictures else cache_folder("contexts")
    where = study.folder / settings.backgrounds if settings.backgrounds else None
    backgrounds = load_backgrounds(where, settings.per_context, study.picture_folders())
    parts = ("width", "height", "ratio", "tolerance", "crop", "cut_heads")
    recipe = Recipe(**{name: getattr(settings, name) for name in parts})
    return compose_all(_people(study), backgrounds, folder.absolute(), recipe)


def _people(study: Study) -> pl.DataFrame:
    settings: ContextsSettings = study.settings
    path = study.folder / settings.people
    if settings.people == "openpeople":
        return people.load_openpeople()
    if path.is_dir():
        norming = study.folder / settings.norming if settings.norming else None
        return people.load_chicago_faces(path, norming, settings.consent)
    license_name, consent = settings.people_license, settings.consent
    return people.load_people(path, license_name=license_name, consent=consent, also=study.picture_folders())


def only_replayed(study: Study) -> bool:
    """Return whether no picture is needed: recorded tags of people in a CSV."""
    replayed = all(system.use.startswith("replay:") for system in study.systems)
    return replayed and study.settings.people.endswith(".csv")


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read word lists, ratings, and the contact sheet."""
    from portrayal.run.reviews import read_reviews

    settings: ContextsSettings = study.settings
    files = {key: getattr(settings, key) for key in LISTS}
    inputs: dict[str, Any] = {
        key: load(study.folder / files[key] if files[key] else None) for key, load in LISTS.items()
    }
    inputs["least_confidence"] = usual_confidence(study.systems)
    inputs["ratings"] = read_reviews(study.folder / settings.ratings) if settings.ratings else None
    if settings.images and not only_replayed(study):
        inputs |= _picture_inputs(study, inputs["contexts"])
    return inputs


def _picture_inputs(study: Study, contexts: pl.DataFrame) -> dict[str, Any]:
    """Return people left out, the places, and a contact sheet of generated people."""
    manifest = compose_pictures(study)
    baseline = manifest.filter(role="baseline")
    alone = manifest.filter(role="background").sort("background")
    number = pl.int_range(1, pl.len() + 1).over("context")
    numbered = pl.when(pl.len().over("context") > 1).then(pl.format("{} {}", "place", number)).otherwise("place")
    named = alone.with_columns(place=pl.col("context").replace(place_names(contexts))).with_columns(name=numbered)
    first = named.unique("context", keep="first", maintain_order=True)
    generated = study.settings.contact_sheet and set(baseline["consent"]) == {"generated"}
    titles = dict(named.select("background", "name").rows())
    return {
        "unusable": manifest.filter(role="unusable").select("stimulus", "flags").rows(),
        "cut_heads": baseline.filter(pl.col("flags").str.contains(ENLARGED, literal=True))["person"].to_list(),
        "contact_sheet": contact_sheet(manifest, titles) if generated else None,
        "places": named_strip(first.select("place", "file").rows()),
    }
