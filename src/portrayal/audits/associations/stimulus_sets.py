"""Sets of stimuli: a list, a word list that ships ('weat:flowers'), or a file.

A file is a table (.csv, .parquet) with a column `content` and any further columns (person, consent, license ...), or
plain text with one stimulus a line. An empty set and a stimulus listed twice in one set are errors.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.formatting import listed
from portrayal.text.lexicons import word_list

# Systems that look pictures up by name, or answer without them.
BLIND = ("embeddings", "vectors", "replay:", "phantom:")


@dataclass(frozen=True)
class Item:
    """One member of a set."""

    content: str  # the text, or the path of an image as the study wrote it
    kind: str = "text"
    cluster: str | None = None  # who it shows, where people repeat
    prompt: str = ""  # the template it was put into
    stem: str = ""  # the stimulus before it was put into a template
    # 'same' in every spelling, or those it belongs to: 'right', 'literal', 'authors', joined by +
    article: str = "right"
    source: str = ""
    license: str = ""
    consent: str = ""

    def is_spelt(self, article: str) -> bool:
        """Tell whether this is how a text is spelt with such articles."""
        return self.article == "same" or article in self.article.split("+")


def read_set(
    named: str | Sequence[str], where: str, folder: Path, kind: str = "text", cluster: str | Sequence[str] | None = None
) -> list[Item]:
    """Return the members of a set."""
    if isinstance(named, str) and Path(named).suffix in (".csv", ".parquet", ".txt"):
        rows = _rows(folder / named, where)
        if isinstance(cluster, str):
            if rows and cluster not in rows[0]:
                raise PortrayalError(f"{where} lacks column {cluster!r} (found: {', '.join(rows[0])}).")
            cluster = [row[cluster] for row in rows]
    else:
        rows = [{"content": content} for content in (word_list(named) if isinstance(named, str) else named)]
    if isinstance(cluster, str):
        raise PortrayalError(f"{where} is no table, so it has no column {cluster!r}. Give one id per stimulus.")
    if cluster is not None and len(cluster) != len(rows):
        raise PortrayalError(f"{where} has {len(rows)} stimuli and {len(cluster)} cluster ids. Give one each.")
    for number, (row, person) in enumerate(zip(rows, cluster or (), strict=False), start=1):
        check_person(person, f"row {number} ({row['content']!r}) of {where}")
    source = named if isinstance(named, str) else "the study file"
    people = [None] * len(rows) if cluster is None else map(str, cluster)
    items = [
        Item(row["content"], kind, person, **{"source": source, **origin(row)})
        for row, person in zip(rows, people, strict=True)
    ]
    if not items:
        raise PortrayalError(f"{where} is empty. List at least two stimuli.")
    for content, count in Counter(item.content for item in items).items():
        if count > 1:
            raise PortrayalError(f"{where} lists {content!r} twice. A stimulus counts once in a set.")
        if not content.strip():
            raise PortrayalError(f"{where} holds an empty stimulus. Remove it.")
    return items


def first_of(words: Sequence[str], most: int) -> str:
    """Return the first words, and the number of those left out."""
    return listed([*words[:most], *([f"{len(words) - most} more"] if len(words) > most else [])])


def origin(row: Mapping[str, object]) -> dict[str, str]:
    """Return source, license and consent, where a row has them."""
    return {name: str(row[name]) for name in ("source", "license", "consent") if row.get(name)}


def content_hash(item: Item, folder: Path, seen: bool = True) -> str:
    """Return the SHA-256 of what the system is shown: the text, or the image's bytes."""
    if item.kind == "text":
        return hashlib.sha256(item.content.encode()).hexdigest()
    return picture_hash(folder / item.content, seen)


def picture_hash(path: Path, seen: bool = True) -> str:
    """Return the SHA-256 of a picture, or of its name if unseen."""
    if not seen and not path.exists():
        return hashlib.sha256(f"name:{path.name}".encode()).hexdigest()
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise PortrayalError(
            f"no picture at {path}. Check the path; only recorded answers do without pictures."
        ) from None


def sees_pictures(systems: Sequence[SystemSettings]) -> bool:
    """Return whether a system, or the encoder it stands on, looks at pictures."""
    return not all(str(system.parameters.get("encoder") or system.use).startswith(BLIND) for system in systems)


def _rows(path: Path, where: str) -> list[dict[str, str]]:
    if not path.is_file():
        raise PortrayalError(f"no file at {path} for {where}. Check the path.")
    try:
        if path.suffix == ".txt":
            lines = path.read_text(encoding="utf-8").splitlines()
            return [{"content": line.strip()} for line in lines if line.strip()]
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        raise PortrayalError(f"{path} for {where} cannot be read: {str(error).splitlines()[0]}.") from None
    if "content" not in frame.columns:
        raise PortrayalError(f"{path} lacks column 'content' (found: {', '.join(frame.columns)}).")
    return frame.cast(pl.String).fill_null("").to_dicts()


def check_person(person: object, where: str) -> None:
    """Refuse a row that does not say who it shows."""
    if person is None or not str(person).strip():
        raise PortrayalError(f"{where} does not say who is shown. Name the person in every row, or leave cluster out.")
