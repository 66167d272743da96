"""The rankers by name, each with its settings; `make_ranker` is how the command line and the studies get one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from portrayal.errors import check_name
from portrayal.settings import Settings, validate
from portrayal.systems.rankers.base import Ranker
from portrayal.systems.rankers.lexical import bm25, qlm, tfidf
from portrayal.systems.rankers.neural import neural
from portrayal.systems.rankers.references import Perfect, Random, Stereotyped
from portrayal.systems.rankers.sentence import sentence
from portrayal.systems.rankers.settings import (
    Bm25Settings,
    IndexSettings,
    NeuralSettings,
    QlmSettings,
    RandomSettings,
    SentenceSettings,
    VectorSettings,
)
from portrayal.systems.rankers.words import add, ranking_space, si
from portrayal.text.collections import Collection, read_collection
from portrayal.text.collections.synthetic import REFERENCES
from portrayal.text.index import Index, build_index, load_index, save_index
from portrayal.text.space import WordSpace
from portrayal.text.tokens import stop_words


@dataclass(frozen=True)
class Searchable:
    """A collection and the indexes made of it, one per stop list, shared by all rankers."""

    collection: Collection
    folder: Path = Path()  # relative paths in settings start here
    track: Callable[[Any], Any] = iter  # shows progress over the documents
    kept: Path | None = None  # where indexes are kept on disk, if at all
    mark: str = ""  # tells the collection from others, for kept indexes
    _indexes: dict[str, Index] = field(default_factory=dict)

    def index(self, stop: str = "lucene") -> Index:
        """Return the index without the words of this stop list, made when first asked for."""
        if stop not in self._indexes:
            self._indexes[stop] = self._opened(stop)
        return self._indexes[stop]

    def _opened(self, stop: str) -> Index:
        """Open the kept index, or make it and, where asked, keep it."""
        folder = self.kept / f"index-{stop}" if self.kept else None
        if folder and folder.is_dir():
            return load_index(folder, self.mark)
        index = build_index(self.track(self.collection.documents()), stop_words(stop))
        if folder:
            save_index(index, folder, self.mark)
        return index


@cache
def open_searchable(path: Path, mark: str) -> Searchable:
    """Open a collection once, however many systems of a study search it; `mark` is its fingerprint."""
    return Searchable(read_collection(path), mark=mark)


def fingerprint(path: Path) -> str:
    """Return a hash of a collection's file names and sizes: another collection has another."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    listed = "\n".join(f"{file.name} {file.stat().st_size}" for file in files) or path.name
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


class Entry(NamedTuple):
    """How a ranker is made from a collection and settings, and the settings it takes."""

    make: Callable[[Searchable, Any], Ranker]
    settings: type[Settings]


def _space(searchable: Searchable, settings: VectorSettings) -> WordSpace:
    return ranking_space(settings.vectors, settings.debias, searchable.folder)


def _neural(architecture: str) -> Entry:
    return Entry(
        lambda s, o: neural(architecture, s.collection, s.index(o.stop), _space(s, o), o), NeuralSettings
    )


def _stereotyped(name: str) -> Entry:
    return Entry(lambda s, o: Stereotyped(s.collection, name), Settings)


RANKERS: dict[str, Entry] = {
    "bm25": Entry(lambda s, o: bm25(s.index(o.stop), o.k1, o.b, o.variant), Bm25Settings),
    "qlm": Entry(lambda s, o: qlm(s.index(o.stop), o.mu), QlmSettings),
    "tfidf": Entry(lambda s, o: tfidf(s.index(o.stop)), IndexSettings),
    "add": Entry(lambda s, o: add(s.index(o.stop), _space(s, o)), VectorSettings),
    "si": Entry(lambda s, o: si(s.index(o.stop), _space(s, o)), VectorSettings),
    "sentence": Entry(lambda s, o: sentence(s.collection, o.encoder, s.track), SentenceSettings),
    "drmm": _neural("drmm"),
    "matchpyramid": _neural("matchpyramid"),
    "perfect": Entry(lambda s, o: Perfect(s.collection), Settings),
    "random": Entry(lambda s, o: Random(s.index().documents, o.seed), RandomSettings),
    **{name: _stereotyped(name) for name in REFERENCES},
}


def make_ranker(name: str, searchable: Searchable, settings: Mapping[str, Any] | None = None) -> Ranker:
    """Make the ranker of this name with these settings.

    Raises
    ------
    PortrayalError
        When there is no such ranker or setting.
    """
    checked = check_settings(name, settings)
    return RANKERS[name].make(searchable, checked)


def check_settings(name: str, settings: Mapping[str, Any] | None = None) -> Settings:
    """Return the typed settings of the ranker of this name; nothing is made."""
    check_name(name, RANKERS, "ranker")
    return validate(RANKERS[name].settings, settings or {}, f"ranker {name!r}")
