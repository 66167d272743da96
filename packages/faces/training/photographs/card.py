"""Card of what changes photographs, with the rows of the table.

`python -m training.photographs.card LOCAL/table-374.json FOLDER` puts the rows in.

What only people can say (what it is, who it was trained on, what was seen, what it is not for) is written into FOLDER/card.json by hand.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from portrayal_faces.photographs.model import CHOSEN
from training.photographs.table import NEEDS, table

HEADS = {
    "what": "What it is.", "trained": "Trained on.", "licenses": "Licenses.", "chosen": "Why this one.",
    "seen": "What was seen.", "not for": "Not for",
}  # fmt: skip


def write_card(results: Path, folder: Path) -> None:
    """Put rows and hashes of files into card.json, and write CARD.md from it."""
    page = folder / "card.json"
    data: dict[str, Any] = json.loads(page.read_text(encoding="utf-8"))
    rows = {
        name.rpartition(" ")[0] or name: row for name, row in json.loads(results.read_text(encoding="utf-8")).items()
    }
    data |= {"makers": CHOSEN, "files": _hashes(folder), "people": _people(results), "needs": NEEDS, "checks": rows}
    page.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "CARD.md").write_text(card(data), encoding="utf-8")


def card(data: dict[str, Any]) -> str:
    """Return the page."""
    parts = [f"**{head}** {data[name]}" for name, head in HEADS.items()]
    checked = (
        f"**Checks.** Held-out adults of FairFace ({data['people']} asked for; who looks away is passed over), changed in memory and never "
        "kept, judged by readers that had no part in training the network or finding the differences "
        "(`python -m training.photographs.table`); the differences' strengths were chosen by them on other adults. A figure in bold "
        f"misses what is needed.\n\n{table(data['checks'])}"
    )
    return "\n\n".join(["# Card: what changes photographs", *parts[:3], checked, *parts[3:]]) + "\n"


def _hashes(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(set(CHOSEN.values()))}


def _people(results: Path) -> int:
    return int(results.stem.rpartition("-")[2])


if __name__ == "__main__":
    write_card(Path(sys.argv[1]), Path(sys.argv[2]))
