"""Readers of vector files. Each gives a dict from word to vector, of the words wanted or of all.

| format | a file holds |
|---|---|
| word2vec-binary | a line `count width`, then word, space and `width` float32 numbers each |
| text | word2vec (first line `count width`), fastText or GloVe (no such line): a word and its numbers a line |
| npz | arrays `words` (or `names`, `keys`) and `vectors` (or `embeddings`), or one array per word |
| safetensors | such a tensor, with the words as a JSON list under such a name in its metadata, or one tensor per word |
| parquet | columns `word` (or `name`, `stimulus`) and `embedding` |

Text and binary files are read as a stream and only the words wanted are kept. A word listed twice keeps its first
vector. An unreadable file, vectors of different widths and NaN among the vectors kept are errors of one line.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from portrayal.errors import PortrayalError, nearest
from portrayal.tables import reads

Words = Collection[str] | None
Vectors = dict[str, np.ndarray]
WORDS, VECTORS = ("words", "names", "keys"), ("vectors", "embeddings")  # what a file may call them


@reads("word vectors")
def read_vectors(path: Path | str, words: Words = None, format: str | None = None) -> Vectors:
    """Read a vector file.

    Parameters
    ----------
    path
        The file.
    words
        Words to keep; None keeps all.
    format
        A key of `FORMATS`; None goes by the file's name.

    Returns
    -------
    dict
        Word to vector, all of one width; words the file does not have are not in it.

    Raises
    ------
    PortrayalError
        When the file is missing or unreadable, or its vectors differ in width or hold NaN.
    """
    path = Path(path)
    if not path.is_file():
        raise PortrayalError(f"no vector file at {path}. Check the path.")
    name = format or _format(path)
    wanted = None if words is None else frozenset(words)
    try:
        vectors = FORMATS[name](path, wanted)
    except (OSError, EOFError, ValueError, KeyError, UnicodeDecodeError, BadZipFile, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PortrayalError(f"{path} cannot be read as {name} vectors: {reason}.") from None
    return _checked(path, vectors)


def _format(path: Path) -> str:
    suffix = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower()
    if suffix not in SUFFIXES:
        raise PortrayalError(
            f"{path.name} ends in {suffix!r}.{nearest(suffix, SUFFIXES)} Expected {', '.join(SUFFIXES)}, or `format` set "
            f"to one of {', '.join(FORMATS)}."
        )
    return SUFFIXES[suffix]


def _checked(path: Path, vectors: Vectors) -> Vectors:
    widths = {vector.shape for vector in vectors.values()}
    if len(widths) > 1:
        raise PortrayalError(f"{path} holds vectors of different widths: {sorted(s[0] for s in widths)}.")
    for word, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise PortrayalError(f"{path} has NaN or infinity in the vector of {word!r}. Mend the file.")
    return vectors


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _binary(path: Path, wanted: frozenset[str] | None) -> Vectors:
    """Read word2vec's binary form: the numbers' place follows from the width, so unwanted ones are skipped."""
    vectors: Vectors = {}
    with _open(path) as file:
        count, width = _header(file.readline())
        for _ in range(count):
            word = _word(file)
            raw = file.read(4 * width)
            if len(raw) < 4 * width:
                raise ValueError(f"it ends early, in the vector of {word!r}")
            if (wanted is None or word in wanted) and word not in vectors:
                vectors[word] = np.frombuffer(raw, dtype="<f4")
    return vectors


def _header(line: bytes) -> tuple[int, int]:
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts) or int(parts[1]) == 0:
        raise ValueError("its first line is not the number of words and the width")
    return int(parts[0]), int(parts[1])


def _word(file: IO[bytes]) -> str:
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) > 10_000:
            raise ValueError("it ends early, or a word has no end")
        letters += letter
    return letters.lstrip(b"\n").decode("utf-8", errors="replace")


def _text(path: Path, wanted: frozenset[str] | None) -> Vectors:
    vectors: Vectors = {}
    width = 0
    with _open(path) as file:
        for number, line in _rows(file):
            width = width or line.count(b" ")
            word, numbers = _split(line, width, number)
            if (wanted is None or word in wanted) and word not in vectors:
                vectors[word] = np.array(numbers.split(b" "), dtype=np.float64)
    if not width:
        raise ValueError("it holds no vectors")
    return vectors


def _rows(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without the header that word2vec and fastText write."""
    for number, line in enumerate(file, start=1):
        line = line.rstrip()
        if number == 1 and len(line.split()) == 2 and all(part.isdigit() for part in line.split()):
            continue
        if line:
            yield number, line.replace(b"\t", b" ")


def _split(line: bytes, width: int, number: int) -> tuple[str, bytes]:
    """Part a line into word and numbers; the last `width` fields are numbers, since a word may hold spaces."""
    extra = line.count(b" ") - width
    if width == 0 or extra < 0:
        raise ValueError(f"line {number} has {line.count(b' ')} numbers where others have {width}")
    word, _, numbers = line.partition(b" ")
    if extra:
        word = line.rsplit(b" ", width)[0]
        numbers = line[len(word) + 1 :]
        if _is_number(word.rpartition(b" ")[2]):
            raise ValueError(f"line {number} has {extra} numbers more than others")
    return word.decode("utf-8", errors="replace"), numbers


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _npz(path: Path, wanted: frozenset[str] | None) -> Vectors:
    with (
        path.open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):  # numpy leaves a damaged file open
        words, vectors = _named(arrays.files, WORDS), _named(arrays.files, VECTORS)
        if words and vectors:
            return _paired(arrays[words].tolist(), arrays[vectors], wanted)
        return {name: _flat(name, arrays[name]) for name in arrays.files if wanted is None or name in wanted}


def _safetensors(path: Path, wanted: frozenset[str] | None) -> Vectors:
    """Read the tensors' places from the header, then only the tensors wanted."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 0 < size < path.stat().st_size:
            raise ValueError("its header is not that of a safetensors file")
        header = json.loads(file.read(size))
        about = header.pop("__metadata__", {})
        words, vectors = _named(about, WORDS), _named(header, VECTORS)
        if words and vectors:
            return _paired(json.loads(about[words]), _tensor(file, header[vectors], 8 + size), wanted)
        names = [name for name in header if wanted is None or name in wanted]
        return {name: _flat(name, _tensor(file, header[name], 8 + size)) for name in names}


def _tensor(file: IO[bytes], about: dict[str, Any], start: int) -> np.ndarray:
    first, last = about["data_offsets"]
    file.seek(start + first)
    raw = file.read(last - first)
    if len(raw) < last - first:
        raise ValueError("it ends early")
    if about["dtype"] == "BF16":  # the upper half of a float32
        numbers = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    else:
        numbers = np.frombuffer(raw, {"F16": "<f2", "F32": "<f4", "F64": "<f8"}[about["dtype"]])
    return numbers.reshape(about["shape"])


def _parquet(path: Path, wanted: frozenset[str] | None) -> Vectors:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    name = _named(frame.columns, ("word", "name", "stimulus"))
    if name is None or "embedding" not in frame.columns:
        raise ValueError(f"it lacks the columns word and embedding (found: {', '.join(frame.columns)})")
    rows = frame.select(pl.col(name).cast(pl.String), "embedding").drop_nulls().iter_rows()
    return {word: np.array(vector, float) for word, vector in rows if wanted is None or word in wanted}


def _named(found: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the first of these names that a file has."""
    return next((name for name in names if name in found), None)


def _paired(words: list[str], vectors: np.ndarray, wanted: frozenset[str] | None) -> Vectors:
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise ValueError(f"{len(words)} words do not fit vectors of shape {vectors.shape}")
    paired = reversed(list(zip(words, vectors, strict=True)))  # the first vector of a word wins
    return {str(word): vector for word, vector in paired if wanted is None or word in wanted}


def _flat(name: str, vector: np.ndarray) -> np.ndarray:
    if vector.size != max(vector.shape, default=0) or vector.dtype.kind not in "fiu":
        raise ValueError(
            f"{name!r} is an array of shape {vector.shape} and type {vector.dtype}, not a vector"
        )
    return vector.reshape(-1)


FORMATS: dict[str, Callable[[Path, frozenset[str] | None], Vectors]] = {
    "word2vec-binary": _binary,
    "text": _text,
    "npz": _npz,
    "safetensors": _safetensors,
    "parquet": _parquet,
}

SUFFIXES = {
    ".bin": "word2vec-binary",
    ".txt": "text",
    ".vec": "text",
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".parquet": "parquet",
}
