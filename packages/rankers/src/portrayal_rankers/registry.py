"""Rankers by name with their settings; commands and studies get one from `make_ranker`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from portrayal.errors import check_name
from portrayal.settings import Settings, validate
from portrayal.text.collections import Collection, is_path, read_collection
from portrayal.text.collections.synthetic import REFERENCES
from portrayal.text.vectors.sets import open_vectors
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import STOP_LISTS, stop_words
from portrayal_rankers import settings as own
from portrayal_rankers.base import Ranker
from portrayal_rankers.index import Index, build_index, load_index, save_index, stemmed
from portrayal_rankers.lexical import bm25, qlm, tfidf
from portrayal_rankers.neural import neural
from portrayal_rankers.references import Perfect, Random, Stereotyped
from portrayal_rankers.semantic import add, needed_words, sentence, si, without_direction


@dataclass(frozen=True)
class Searchable:
    """A collection and its indexes, one per stop list, shared by all rankers."""

    collection: Collection
    folder: Path = Path()  # relative paths in settings start here
    track: Callable[[Any], Any] = iter  # shows progress over the documents
    index_folder: Path | None = None  # where indexes are kept on disk, if at all
    mark: str = ""  # tells the collection from others, for kept indexes
    _indexes: dict[tuple[str, str, Path, Path | None], Index] = field(default_factory=dict)
    _spaces: dict[tuple[str, Path, str], WordSpace] = field(default_factory=dict)
    # Systems are asked in threads: what one makes the others wait for, and it is there once.
    _making: AbstractContextManager[Any] = field(default_factory=RLock)

    def index(self, stop: str = "lucene", stem: str = "none") -> Index:
        """Return the index without the words of this stop list, made when first asked for."""
        wanted = (stop, stem, self.folder, self.index_folder)
        with self._making:
            if wanted not in self._indexes:
                self._indexes[wanted] = self._index(stop, stem)
            return self._indexes[wanted]

    def space(self, vectors: str, debias: str = "none", stop: str = "lucene") -> WordSpace:
        """Return the vectors of the words of the collection and its queries, opened once."""
        wanted = (vectors, self.folder, debias)
        with self._making:
            if wanted not in self._spaces:
                self._spaces[wanted] = self._space(vectors, debias, stop)
            return self._spaces[wanted]

    def _space(self, vectors: str, debias: str, stop: str) -> WordSpace:
        if debias != "none":
            return without_direction(self.space(vectors, "none", stop), debias)
        needed = needed_words(self.index(stop), self.collection.queries.values())
        return open_vectors(vectors, self.folder, needed)

    def _index(self, stop: str, stem: str) -> Index:
        """Open the kept index, or make it and, where asked, keep it."""
        left_out = stop_words(stop, self.folder)
        label = stop if stop in STOP_LISTS else hashlib.sha256(" ".join(sorted(left_out)).encode()).hexdigest()[:8]
        folder = (
            self.index_folder / f"index-{label}{'' if stem == 'none' else '-' + stem}" if self.index_folder else None
        )
        if folder and folder.is_dir():
            return load_index(folder, self.mark)
        read = self.collection.documents
        index = build_index(self.track(read()), left_out) if stem == "none" else stemmed(self.index(stop), stem)
        if folder:
            save_index(index, folder, self.mark)
        return index


@cache
def open_searchable(path: Path, mark: str) -> Searchable:
    """Open a collection once for all systems of a study; `mark` is its fingerprint."""
    return Searchable(read_collection(path), mark=mark)


def fingerprint(path: Path) -> str:
    """Return a hash of a collection's file names and sizes: another collection has another."""
    if not is_path(str(path)):
        return hashlib.sha256(str(path).encode()).hexdigest()[:16]
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    listed = "\n".join(f"{file.name} {file.stat().st_size}" for file in files) or path.name
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


class Entry(NamedTuple):
    """Maker and settings of a ranker."""

    make: Callable[[Searchable, Any], Ranker]
    settings: type[Settings]


def _space(searchable: Searchable, settings: own.VectorSettings) -> WordSpace:
    return searchable.space(settings.vectors, settings.debias, settings.stop)


def _neural(name: str, s: Searchable, o: own.NeuralSettings) -> Ranker:
    return neural(name, s.collection, s.index(o.stop), _space(s, o), o)


def _stereotyped(name: str, s: Searchable, _: Settings) -> Ranker:
    return Stereotyped(s.collection, name)


RANKERS: dict[str, Entry] = {
    "bm25": Entry(lambda s, o: bm25(s.index(o.stop, o.stem), o.k1, o.b, o.variant), own.Bm25Settings),
    "qlm": Entry(lambda s, o: qlm(s.index(o.stop, o.stem), o.mu), own.QlmSettings),
    "tfidf": Entry(lambda s, o: tfidf(s.index(o.stop, o.stem)), own.LexicalSettings),
    "add": Entry(lambda s, o: add(s.index(o.stop), _space(s, o)), own.VectorSettings),
    "si": Entry(lambda s, o: si(s.index(o.stop), _space(s, o)), own.VectorSettings),
    "sentence": Entry(lambda s, o: sentence(s.collection, o.encoder, s.track), own.SentenceSettings),
    **{name: Entry(partial(_neural, name), own.NeuralSettings) for name in ("drmm", "matchpyramid")},
    "perfect": Entry(lambda s, o: Perfect(s.collection), Settings),
    "random": Entry(lambda s, o: Random(s.index().documents, o.seed), own.RandomSettings),
    **{name: Entry(partial(_stereotyped, name), Settings) for name in REFERENCES},
}


def make_ranker(name: str, searchable: Searchable, settings: Mapping[str, Any] | None = None) -> Ranker:
    """Make the ranker of this name with these settings."""
    checked = check_settings(name, settings)
    return RANKERS[name].make(searchable, checked)


def check_settings(name: str, settings: Mapping[str, Any] | None = None) -> Settings:
    """Return the typed settings of the ranker of this name; nothing is made."""
    check_name(name, RANKERS, "ranker")
    return validate(RANKERS[name].settings, settings or {}, f"ranker {name!r}")
