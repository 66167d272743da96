"""The rankers by name, each with its settings; `make_ranker` is how the command line and the studies get one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from portrayal.errors import PortrayalError, nearest
from portrayal.settings import Settings, validate
from portrayal.systems.rankers.base import Ranker
from portrayal.systems.rankers.bm25 import bm25
from portrayal.systems.rankers.qlm import qlm
from portrayal.systems.rankers.references import Perfect, Random, Stereotyped
from portrayal.systems.rankers.tfidf import tfidf
from portrayal.systems.rankers.words import add, si
from portrayal.text.collections import Collection, read_collection
from portrayal.text.collections.synthetic import REFERENCES
from portrayal.text.index import Index, build_index
from portrayal.text.index_store import load_index, save_index
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


class Lexicality(Settings):
    """What every ranker over the index has: the stop list."""

    stop: Literal["lucene", "snowball", "none"] = "lucene"


class Bm25Settings(Lexicality):
    """Settings of BM25."""

    k1: float = Field(1.2, ge=0)
    b: float = Field(0.75, ge=0, le=1)
    variant: Literal["lucene", "robertson", "atire"] = "lucene"


class QlmSettings(Lexicality):
    """Settings of query likelihood."""

    mu: float = Field(2000.0, gt=0)


class VectorSettings(Lexicality):
    """Settings of the word-vector rankers; the vectors GSR is measured with are set elsewhere."""

    vectors: str = "glove"
    debias: Literal["none", "regular", "strong"] = "none"


class SentenceSettings(Settings):
    """Settings of the sentence-encoder ranker."""

    encoder: str = "minilm"


class NeuralSettings(VectorSettings):
    """Settings of the neural re-rankers."""

    candidates: int = Field(100, ge=2)  # how many of the first stage's results are ordered anew
    folds: int = Field(5, ge=2)
    epochs: int = Field(10, ge=1)
    seed: int = 0


class RandomSettings(Settings):
    """Settings of the random ranker."""

    seed: int = 0


class Entry(NamedTuple):
    """How a ranker is made, and from which settings."""

    make: Callable[[Searchable, Any], Ranker]
    settings: type[Settings]
    about: str


def _words(make: Callable[..., Ranker]) -> Callable[[Searchable, VectorSettings], Ranker]:
    def maker(searchable: Searchable, settings: VectorSettings) -> Ranker:
        from portrayal.systems.rankers.spaces import ranking_space

        space = ranking_space(settings.vectors, settings.debias, searchable.folder)
        return make(searchable.index(settings.stop), space)

    return maker


def _sentence(searchable: Searchable, settings: SentenceSettings) -> Ranker:
    from portrayal.systems.rankers.sentence import sentence

    return sentence(searchable.collection, settings.encoder, searchable.track)


def _neural(architecture: str) -> Callable[[Searchable, NeuralSettings], Ranker]:
    def maker(searchable: Searchable, settings: NeuralSettings) -> Ranker:
        from portrayal.systems.rankers.neural import neural
        from portrayal.systems.rankers.spaces import ranking_space

        space = ranking_space(settings.vectors, settings.debias, searchable.folder)
        return neural(architecture, searchable.collection, searchable.index(settings.stop), space, settings)

    return maker


def _stereotyped(name: str) -> Callable[[Searchable, Settings], Ranker]:
    return lambda searchable, settings: Stereotyped(searchable.collection, name)


RANKERS: dict[str, Entry] = {
    "bm25": Entry(
        lambda s, o: bm25(s.index(o.stop), o.k1, o.b, o.variant), Bm25Settings, "BM25, Lucene's variant"
    ),
    "qlm": Entry(
        lambda s, o: qlm(s.index(o.stop), o.mu), QlmSettings, "query likelihood, Dirichlet smoothing"
    ),
    "tfidf": Entry(lambda s, o: tfidf(s.index(o.stop)), Lexicality, "tf-idf and the cosine"),
    "add": Entry(_words(add), VectorSettings, "mean of word vectors"),
    "si": Entry(_words(si), VectorSettings, "mean of word vectors weighted by self-information"),
    "sentence": Entry(_sentence, SentenceSettings, "sentence encoder on ONNX Runtime"),
    "drmm": Entry(_neural("drmm"), NeuralSettings, "DRMM over BM25, cross-validated by query"),
    "matchpyramid": Entry(
        _neural("matchpyramid"), NeuralSettings, "MatchPyramid over BM25, cross-validated by query"
    ),
    "perfect": Entry(
        lambda s, o: Perfect(s.collection), Settings, "all and only the relevant documents, best first"
    ),
    "random": Entry(
        lambda s, o: Random(s.index().documents, o.seed), RandomSettings, "documents in random order"
    ),
    **{
        name: Entry(_stereotyped(name), Settings, f"{name} answers to the toy collections")
        for name in REFERENCES
    },
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
    if name not in RANKERS:
        raise PortrayalError(f"no ranker {name!r}.{nearest(name, RANKERS)} Known: {', '.join(RANKERS)}.")
    return validate(RANKERS[name].settings, settings or {}, f"ranker {name!r}")
