"""People who do not exist: the ten generated adults of the package `openpeople`, with their labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from portrayal.errors import MissingPart


def generated_people() -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Yield id, folder of pictures and demographic labels (age_range, sex, ethnicity, skin_tone) of each person."""
    spec = find_spec("openpeople")
    if spec is None or not spec.submodule_search_locations:
        raise MissingPart("generated people", "openpeople")
    curated = Path(spec.submodule_search_locations[0]) / "data" / "curated"
    for folder in sorted(curated.iterdir()):
        if (folder / "metadata.json").exists():
            words = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
            yield folder.name, folder / "assets", words["character_details"]["demographics"]
