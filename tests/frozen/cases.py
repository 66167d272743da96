"""Every case that is frozen, by name, and which of them are quick."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from frozen import (
    association_studies,
    caption_studies,
    context_studies,
    counterfactual_studies,
    functions,
    search_studies,
    shipped,
    waves,
)
from frozen.tables import Tables


class Case(NamedTuple):
    """A way to tables, given an empty folder."""

    tables: Callable[[Path], Tables]
    quick: bool = True


SHIPPED = {
    "simulated": True,
    "associations": False,
    "associations_templates": False,
    "associations_emotion_words": True,
    "associations_depictions": False,
    "associations_labels": True,
    "associations_saliency": True,
    "captions": False,
    "contexts": False,
    "counterfactuals": False,
    "search": False,
}

OWN = {
    **association_studies.STUDIES,
    **caption_studies.STUDIES,
    **context_studies.STUDIES,
    **counterfactual_studies.STUDIES,
    **search_studies.STUDIES,
    **waves.STUDIES,
}
SLOW: set[str] = set()

CASES = {
    **{name: Case(partial(shipped.shipped, name), quick) for name, quick in SHIPPED.items()},
    "search_table2": Case(shipped.deterministic_table2, quick=False),
    **{name: Case(made, name not in SLOW) for name, made in OWN.items()},
    **{name: Case(made, name not in functions.SLOW) for name, made in functions.FUNCTIONS.items()},
}
