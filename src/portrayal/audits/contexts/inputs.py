"""What the contexts measure looks at besides the answers: word lists, ratings, the contact sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.factorial import ENLARGED
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import compose_pictures, only_replayed
from portrayal.study.study import Study
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read what the measure looks at beside responses: word lists, ratings, and the contact sheet."""
    settings: ContextsSettings = study.settings
    path = {
        key: study.folder / value
        for key in ("typology", "contexts", "context_tags")
        if (value := getattr(settings, key))
    }
    found: dict[str, Any] = {
        "typology": load_typology(path.get("typology")),
        "contexts": load_contexts(path.get("contexts")),
        "context_tags": load_context_tags(path.get("context_tags")),
        "ratings": _read_ratings(study),
    }
    if settings.images and not only_replayed(study):
        found.update(_picture_inputs(study, found["contexts"]))
    return found


def _picture_inputs(study: Study, contexts: pl.DataFrame) -> dict[str, Any]:
    """The people left out with their reasons; the places; the contact sheet, unless somebody shown is real."""
    from portrayal.pictures.contact_sheet import contact_sheet, named_strip

    manifest = compose_pictures(study)
    left_out = manifest.filter(pl.col("role") == "unusable").select("stimulus", "flags").rows()
    generated = set(manifest.filter(pl.col("role") == "baseline")["consent"]) == {"generated"}
    wanted = study.settings.contact_sheet and generated
    enlarged = manifest.filter(pl.col("role") == "baseline", pl.col("flags").str.contains(ENLARGED, literal=True))
    names = _names(manifest, contexts)
    return {
        "unusable": left_out, "cut_heads": enlarged["person"].to_list(),
        "contact_sheet": contact_sheet(manifest, names) if wanted else None,
        "places": named_strip(_first_of_each(manifest, names)),
    }  # fmt: skip


def _names(manifest: pl.DataFrame, contexts: pl.DataFrame) -> dict[str, str]:
    """Return each background's place by name, with a number where the place has several."""
    named = dict(contexts.select("context", "name").drop_nulls().iter_rows())
    alone = manifest.filter(pl.col("role") == "background").sort("background")
    found = {}
    for (place,), part in alone.group_by("context", maintain_order=True):
        for number, background in enumerate(part["background"], 1):
            found[background] = f"{named.get(place, place)} {number if part.height > 1 else ''}".strip()
    return found


def _first_of_each(manifest: pl.DataFrame, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the name and the picture of every place, its first background."""
    first = manifest.filter(pl.col("role") == "background").sort("background").unique("context", maintain_order=True)
    return [
        (names[background].removesuffix(" 1"), file)
        for background, file in first.select("background", "file").iter_rows()
    ]


def _read_ratings(study: Study) -> pl.DataFrame | None:
    from portrayal.run.reviews import read_reviews

    return read_reviews(study.folder / study.settings.ratings) if study.settings.ratings else None
