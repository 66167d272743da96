"""Generated people of the package `openpeople`: pictures of ten adults with labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from portrayal.parts.table import part_folder


def generated_people() -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Yield id, folder of pictures and labels of ten generated adults."""
    curated = part_folder("openpeople", "generated people") / "data" / "curated"
    for folder in sorted(curated.iterdir()):
        if (folder / "metadata.json").exists():
            words = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
            yield folder.name, folder / "assets", words["character_details"]["demographics"]
