"""Shares of harms in any number of parsed captions, from Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from portrayal.audits.captions.measures import erasing, erasing_people, stereotyping_words
from portrayal.audits.captions.measures.audit import TECHNIQUES, as_results, as_table
from portrayal.audits.captions.measures.technique import ROWS, Row, Sums
from portrayal.audits.captions.reading.stages import CAPTIONS, MENTIONS, PEOPLE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.errors import PortrayalError
from portrayal.tables import Contract
from portrayal.tables.batches import parts, scan
from portrayal.tables.folds import Fold, Known, Mapper, add_counts, run_folds

# The techniques that can be measured part by part.
SUMS = {key: technique for key, technique in TECHNIQUES.items() if technique.in_parts}
_TABLES: dict[str, Contract] = {"captions": CAPTIONS, "mentions": MENTIONS, "people": PEOPLE}


def mention_shares(
    folder: Path | str, system: str = "system", techniques: Sequence[str] = (), tolerance: float | None = None
) -> pl.DataFrame:
    """Measure more captions than memory holds: shares of harms by group, as sums over images.

    Parameters
    ----------
    folder
        Holds `mentions/`, `captions/` and `people/` of Parquet files, as `portrayal.audits.captions.reading.mentions.read_captions`
        makes them; people have image, axis, group and assigned_by. Files of one name are a part: the same images, in memory.
    system
        Whose captions they are.
    techniques
        Some of those that are sums (docs/captions_large.md lists them), all by default.
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


def measure_parts(
    parts: Callable[[], Iterable[Stages]], options: Options, names: Sequence[str] = (), mapper: Mapper = map
) -> pl.DataFrame:
    """Return the rows of techniques that are sums over parts; permutation tests are left out."""
    for key in names:
        if key not in SUMS:
            raise PortrayalError(f"{key!r} is no sum over images. Known: {', '.join(SUMS)}.")
    keys = list(names or SUMS)
    facts = Fold("facts", partial(_facts, options), _as_it_is, add=_joined)
    sums = Fold("sums", partial(_sums, keys, options), partial(_rows, options), after=("facts",), add=_added)
    rows = run_folds([facts, sums], parts, mapper)["sums"]
    return as_table(sorted(rows, key=lambda row: row.get("versus") is not None), ROWS)


Facts = Mapping[str, frozenset[str]]


def _facts(options: Options, stages: Stages, known: Known) -> Facts:
    """Return the facts of a part: words of people and things, annotated axes."""
    facts = (module.facts(stages, options) for module in (stereotyping_words, erasing, erasing_people))
    return {name: words for each in facts for name, words in each.items()}


def _joined(one: Facts, other: Facts) -> Facts:
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in one.keys() | other.keys()}


def _as_it_is(facts: Facts, known: Known) -> Facts:
    return facts


def _sums(keys: Sequence[str], options: Options, stages: Stages, known: Known) -> dict[str, Sums]:
    part = replace(stages, facts=known["facts"])
    return {key: SUMS[key].sums(options, part) for key in keys}


def _added(one: dict[str, Sums], other: dict[str, Sums]) -> dict[str, Sums]:
    return {key: add_counts(sums, other[key]) for key, sums in one.items()}


def _rows(options: Options, total: dict[str, Sums], known: Known) -> list[Row]:
    return [row for key, sums in total.items() for row in SUMS[key].rows_of_sums(sums, options)]


def _stages(root: Path) -> frozenset[str]:
    """Return the stages that any part has."""
    tables = (scan(root / name, ["stage"], name).unique() for name in ("mentions", "captions"))
    return frozenset(stage for table in tables for stage in table.collect(engine="streaming")["stage"])


def _parts(root: Path, present: frozenset[str]) -> Iterator[Stages]:
    some = False
    for tables in parts(root, _TABLES, "image"):
        images = pl.concat([table.select("image") for table in tables.values()]).unique().sort("image")
        if images.height:
            own = tables["mentions"], tables["captions"]
            yield Stages(images["image"].to_list(), *own, people=tables["people"], present=present)
            some = True
    if not some:
        yield Stages([], present=present)
