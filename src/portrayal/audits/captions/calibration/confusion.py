"""The confusion table of the captions audit: every technique on every phantom, and what each phantom planted.

Every technique is asked about every phantom, so that at 5% a test would be wrong about one phantom of all in most
tables. Its level here is 5% over the whole column.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from portrayal.audits.captions.calibration import planted_truth, truth_row
from portrayal.audits.captions.calibration.headlines import HEADLINES, found, measure
from portrayal.audits.captions.calibration.planted import OPTIONS, RATE, SCENES, planted
from portrayal.audits.captions.phantom import PHANTOMS

LEVEL = 0.05 / len(PHANTOMS)
FINER = replace(OPTIONS, permutations=2999)  # so that six p-values, corrected, can fall below the level


def confusion(seed: int = 0) -> pl.DataFrame:
    """Return one row per phantom: what it planted, the row that recovers it, and what each technique found.

    Columns: phantom, planted, value, low, high (null for phantoms without a harm), and one for each technique, true
    where it found something.
    """
    return pl.DataFrame([_row(name, seed) for name in PHANTOMS], infer_schema_length=None)


def _row(name: str, seed: int) -> dict[str, object]:
    stages = planted(name, SCENES, RATE, seed)
    outcomes = {key: measure(key, stages, FINER) for key in HEADLINES}
    marks = {key: found(key, outcome, LEVEL) for key, outcome in outcomes.items()}
    own = PHANTOMS[name].technique
    if not own:
        return {"phantom": name, "planted": None, "value": None, "low": None, "high": None, **marks}
    row = truth_row(own, outcomes[own])
    told = {end: float(row[end]) for end in ("value", "low", "high")}
    return {"phantom": name, "planted": planted_truth(own).value, **told, **marks}
