"""Inputs of the contexts measure besides the answers: word lists, ratings, the contact sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.factorial import ENLARGED
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import compose_pictures, only_replayed
from portrayal.study.study import Study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

LISTS = {"typology": load_typology, "contexts": load_contexts, "context_tags": load_context_tags}


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read word lists, ratings, and the contact sheet."""
    from portrayal.run.reviews import read_reviews

    settings: ContextsSettings = study.settings
    named = {key: getattr(settings, key) for key in LISTS}
    inputs: dict[str, Any] = {
        key: load(study.folder / named[key] if named[key] else None) for key, load in LISTS.items()
    }
    inputs["ratings"] = read_reviews(study.folder / settings.ratings) if settings.ratings else None
    if settings.images and not only_replayed(study):
        inputs.update(_picture_inputs(study, inputs["contexts"]))
    return inputs


def _picture_inputs(study: Study, contexts: pl.DataFrame) -> dict[str, Any]:
    """Return people left out, the places, and a contact sheet of generated people."""
    from portrayal.pictures.contact_sheet import contact_sheet, named_strip

    manifest = compose_pictures(study)
    people = manifest.filter(pl.col("role") == "baseline")
    names = _names(manifest, contexts)
    alone = manifest.filter(pl.col("role") == "background").sort("background").unique("context", maintain_order=True)
    first = [(names[one].removesuffix(" 1"), file) for one, file in alone.select("background", "file").iter_rows()]
    wanted = study.settings.contact_sheet and set(people["consent"]) == {"generated"}
    return {
        "unusable": manifest.filter(pl.col("role") == "unusable").select("stimulus", "flags").rows(),
        "cut_heads": people.filter(pl.col("flags").str.contains(ENLARGED, literal=True))["person"].to_list(),
        "contact_sheet": contact_sheet(manifest, names) if wanted else None,
        "places": named_strip(first),
    }


def _names(manifest: pl.DataFrame, contexts: pl.DataFrame) -> dict[str, str]:
    """Return each background's place by name, with a number where the place has several."""
    named = dict(contexts.select("context", "name").drop_nulls().iter_rows())
    alone = manifest.filter(pl.col("role") == "background").sort("background")
    return {
        background: f"{named.get(place, place)} {number if part.height > 1 else ''}".strip()
        for (place,), part in alone.group_by("context", maintain_order=True)
        for number, background in enumerate(part["background"], 1)
    }
