"""The lists of prompts beside this file, read once; see prompts/README.md."""

import csv
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "prompts"


def read(name):
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def unescaped(text):
    """Characters that cannot be seen are written as backslash, u and four digits."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)


def refused(*why, written=("present", "paraphrase")):
    rows = (row for row in read("refused.csv") if row["written"] in written)
    return [unescaped(row["prompt"]) for row in rows if not why or row["why"] in why]
