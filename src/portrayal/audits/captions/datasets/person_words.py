"""Word lists that users obtain: person synsets, Visual VerbNet, people descriptors."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.datasets.data_files import need
from portrayal.errors import PortrayalError
from portrayal.tables import read_json
from portrayal.text.words.harm_lists import as_synset

# The categories of people descriptors the paper took as non-imageable (section 4.1.1).
SEVEN = ("attractiveness", "ethnicity", "judgment", "mood", "occupation-or-social-group", "relation", "state")
_FAMILY = {"familyrelation": "relation"}


def read_person_synsets(path: Path, kind: str) -> pl.DataFrame:
    """Read person synsets of Yang et al. (2020): one identifier a line, more columns ignored."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PortrayalError(f"{path} cannot be read as a list of synsets: {error}.") from None
    first = [line.replace("\t", ",").split(",")[0].strip() for line in lines if line.strip()]
    synsets = [term for term in first if term[:1] == "n" and term[1:].isdigit()]
    if not synsets:
        raise PortrayalError(f"{path.name} has no identifier such as n10129825 in its first column.")
    for term in synsets:
        as_synset(term)
    rows = {"term": synsets, "part": "n", "kind": kind, "source": "Yang et al. 2020"}
    return pl.DataFrame(rows)


def read_visual_verbnet(path: Path) -> pl.DataFrame:
    """Read Visual VerbNet's JSON (Ronchi, Perona 2015); the paper's `have` and `in` are added."""
    actions = need(read_json(path, "Visual VerbNet"), "visual_actions", path, "Visual VerbNet's visual_actions")
    verbs = [str(action["name"]).replace("_", " ").split()[0].lower() for action in actions]
    rows = {"term": sorted({*verbs, "have", "in"}), "part": "v", "kind": "visual verb"}
    return pl.DataFrame(rows).with_columns(pl.lit("Ronchi, Perona 2015").alias("source"))


def read_descriptors(folder: Path) -> pl.DataFrame:
    """Read the seven people-descriptor categories of the paper (van Miltenburg et al. 2018)."""
    rows = []
    for path in sorted(folder.glob("*.txt")):
        category = _FAMILY.get(path.stem, path.stem)
        terms = path.read_text(encoding="utf-8").splitlines() if category in SEVEN else []
        rows += [(term.strip().lower(), "a", category, "van Miltenburg et al. 2018") for term in terms if term.strip()]
    if not rows:
        raise PortrayalError(f"{folder} has none of the files {', '.join(f'{name}.txt' for name in SEVEN)}.")
    schema = dict.fromkeys(["term", "part", "kind", "source"], pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row").unique("term", maintain_order=True)
