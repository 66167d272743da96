"""Scene graphs of SPICE (Anderson et al. 2016, ECCV), read as labels."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.errors import PortrayalError
from portrayal.tables import read_json, reads

KINDS = {1: "object", 2: "attribute", 3: "relation"}


@reads("SPICE's scene graphs")
def read_spice(path: Path, stage: str, which: Literal["test", "ref"] = "test") -> pl.DataFrame:
    """Return the tuples of tested captions, or of their references, as mentions."""
    rows = []
    for entry in read_json(path, "SPICE output"):
        if f"{which}_tuples" not in entry:
            raise PortrayalError(f"{path.name} lacks {which}_tuples. Run SPICE with -detailed.")
        for item in entry[f"{which}_tuples"]:
            words = [word.lower() for word in item["tuple"]]
            subject, word, target = {1: (None, *words, None), 2: (*words, None), 3: words}[len(words)]
            rows.append((str(entry["image_id"]), 0, KINDS[len(words)], subject, word, target))
    return with_synsets(dict.fromkeys(rows), stage)
