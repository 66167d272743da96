"""Parsed captions of any number of images, from folders of Parquet files: the shares that are sums over images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from portrayal.audits.captions.measures.audit import as_results, measure_parts
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import CAPTIONS, MENTIONS, PEOPLE, SYSTEM_CAPTIONS, Stages
from portrayal.batches import parts, scan
from portrayal.tables import Contract

_TABLES: dict[str, Contract] = {"captions": CAPTIONS, "mentions": MENTIONS, "people": PEOPLE}


def mention_shares(
    folder: Path | str, system: str = "system", techniques: Sequence[str] = (), tolerance: float | None = None
) -> pl.DataFrame:
    """Measure more captions than memory holds: shares of harms that are sums over images, by group.

    Parameters
    ----------
    folder
        Holds `mentions/`, `captions/` and `people/` of Parquet files. Files of one name are a part: they hold the same images, and
        a part fits in memory. Mentions and captions are those of
        `portrayal.audits.captions.measures.reading.mentions.read_captions`, people have image, axis, group and assigned_by.
    system
        Whose captions they are.
    techniques
        Some of those that are sums (docs/captions.md lists them), all by default.
    tolerance
        The share of images in which a harm that is a plain count would be let pass, as in a study.

    Returns
    -------
    polars.DataFrame
        A Results table; the same rows as in memory, counts equal and floats within 1e-12.

    Raises
    ------
    PortrayalError
        When an image is in two parts, or a part lacks a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from portrayal import mention_shares
    >>> said = {"image": ["a", "b"], "stage": "system captions", "caption": 0}
    >>> noun = {"kind": "object", "subject": None, "word": ["female", "tree"], "object": None, "synset": None}
    >>> tables = {"mentions": {**said, **noun, "subject_synset": None, "object_synset": None},
    ...     "captions": {**said, "text": ["A female.", "A tree."]},
    ...     "people": {"image": ["a", "b"], "axis": "gender", "group": ["female", "male"], "assigned_by": "the author"}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, columns in tables.items():
    ...         (Path(folder) / name).mkdir()
    ...         pl.DataFrame(columns).write_parquet(Path(folder) / name / "0.parquet")
    ...     found = mention_shares(folder, techniques=["demeaning: identity adjectives used as nouns"])
    >>> found.filter(measure="any identity adjective used as a noun", group="all").select("value", "n").row(0)
    (0.5, 2)
    """
    root = Path(folder)
    options = Options() if tolerance is None else Options(tolerance=tolerance)
    present = _stages(root)
    rows = measure_parts(lambda: _parts(root, present), options, techniques)
    own = pl.when(pl.col("stage") == SYSTEM_CAPTIONS).then(pl.lit(system)).otherwise(pl.col("stage"))
    return as_results(rows.with_columns(own.alias("system")))


def _stages(root: Path) -> frozenset[str]:
    """Return the stages that any part has."""
    tables = (scan(root / name, ["stage"], name).unique() for name in ("mentions", "captions"))
    return frozenset(stage for table in tables for stage in table.collect(engine="streaming")["stage"])


def _parts(root: Path, present: frozenset[str]) -> Iterator[Stages]:
    some = False
    for tables in parts(root, _TABLES, "image"):
        images = pl.concat([table.select("image") for table in tables.values()]).unique().sort("image")
        if images.height:
            yield Stages(images["image"].to_list(), **tables, present=present)
            some = True
    if not some:
        yield Stages([], present=present)
