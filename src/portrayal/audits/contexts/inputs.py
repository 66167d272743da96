"""What the contexts measure looks at besides the answers: word lists, ratings, the contact sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.stimuli import compose_pictures, only_replayed
from portrayal.runs.study import Study
from portrayal.text.typology import load_context_tags, load_contexts, load_typology


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
        found.update(_picture_inputs(study))
    return found


def _picture_inputs(study: Study) -> dict[str, Any]:
    """The people left out with their reasons; the contact sheet, unless somebody shown is real."""
    from portrayal.vision.contact_sheet import contact_sheet

    manifest = compose_pictures(study)
    left_out = manifest.filter(pl.col("role") == "unusable").select("stimulus", "flags").rows()
    generated = set(manifest.filter(pl.col("role") == "baseline")["consent"]) == {"generated"}
    wanted = study.settings.contact_sheet and generated
    return {"unusable": left_out, "contact_sheet": contact_sheet(manifest) if wanted else None}


def _read_ratings(study: Study) -> pl.DataFrame | None:
    from portrayal.runs.reviews import read_reviews

    return read_reviews(study.folder / study.settings.ratings) if study.settings.ratings else None
