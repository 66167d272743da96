"""Inputs of the contexts measure besides the answers: word lists, ratings, the contact sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.factorial import ENLARGED
from portrayal.audits.contexts.measures.design import place_names
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import compose_pictures, only_replayed
from portrayal.study.study import Study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

LISTS = {"typology": load_typology, "contexts": load_contexts, "context_tags": load_context_tags}


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read word lists, ratings, and the contact sheet."""
    from portrayal.run.reviews import read_reviews

    settings: ContextsSettings = study.settings
    files = {key: getattr(settings, key) for key in LISTS}
    inputs: dict[str, Any] = {
        key: load(study.folder / files[key] if files[key] else None) for key, load in LISTS.items()
    }
    inputs["ratings"] = read_reviews(study.folder / settings.ratings) if settings.ratings else None
    if settings.images and not only_replayed(study):
        inputs |= _picture_inputs(study, inputs["contexts"])
    return inputs


def _picture_inputs(study: Study, contexts: pl.DataFrame) -> dict[str, Any]:
    """Return people left out, the places, and a contact sheet of generated people."""
    from portrayal.pictures.contact_sheet import contact_sheet, named_strip

    manifest = compose_pictures(study)
    people = manifest.filter(role="baseline")
    alone = manifest.filter(role="background").sort("background")
    number = pl.int_range(1, pl.len() + 1).over("context")
    numbered = pl.when(pl.len().over("context") > 1).then(pl.format("{} {}", "place", number)).otherwise("place")
    named = alone.with_columns(place=pl.col("context").replace(place_names(contexts))).with_columns(name=numbered)
    first = named.unique("context", keep="first", maintain_order=True)
    generated = study.settings.contact_sheet and set(people["consent"]) == {"generated"}
    return {
        "unusable": manifest.filter(role="unusable").select("stimulus", "flags").rows(),
        "cut_heads": people.filter(pl.col("flags").str.contains(ENLARGED, literal=True))["person"].to_list(),
        "contact_sheet": contact_sheet(manifest, dict(named.select("background", "name").rows()))
        if generated
        else None,
        "places": named_strip(first.select("place", "file").rows()),
    }
