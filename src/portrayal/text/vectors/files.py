"""Readers of files of word vectors.

| format | a file holds |
|---|---|
| word2vec-binary | a line `count width`, then word, space and `width` float32 numbers each |
| text | word2vec (first line `count width`), fastText or GloVe (no such line): a word and its numbers a line |
| npz | arrays `words` (or `names`, `keys`) and `vectors` (or `embeddings`), or one array per word |
| safetensors | such a tensor, with the words as a JSON list under such a name in its metadata, or one tensor per word |
| parquet | columns `word` (or `name`, `stimulus`) and `embedding` |

Only the words wanted are held. A word listed twice keeps its first vector.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from portrayal.edges.sizes import LARGEST_ARRAY, check_archive, check_parquet, check_size, open_unpacked, parse_json
from portrayal.errors import PortrayalError, nearest
from portrayal.tables import reads

Words = Collection[str] | None
Vectors = dict[str, np.ndarray]
Pairs = Iterator[tuple[str, np.ndarray]]
READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
FIRST_ROOM = 10_000  # rows, where nobody says which words are wanted
CHUNK = 4 * 1024 * 1024  # bytes of a binary file held at a time
LONGEST_WORD = 10_000
FASTTEXT = (793712314).to_bytes(4, "little")  # with which its models begin
WORDS, VECTORS = ("words", "names", "keys"), ("vectors", "embeddings")  # what a file may call them
LARGEST_HEADER = 100 * 1024 * 1024  # bytes of a safetensors header, as its makers have it


@reads("word vectors")
def read_vectors(path: Path | str, words: Words = None, format: str | None = None) -> Vectors:
    """Return word to vector, all of one width, of a vector file."""
    vectors: Vectors = {}
    for word, vector in _stream(Path(path), words, format):
        vectors.setdefault(word, vector)
    return vectors


@reads("word vectors")
def read_matrix(path: Path | str, words: Words = None) -> tuple[list[str], np.ndarray]:
    """Read a vector file as words and a matrix of single precision."""
    rows: dict[str, int] = {}
    matrix = np.empty((0, 0), np.float32)
    for word, vector in _stream(Path(path), words, None):
        if word not in rows:
            if len(rows) == len(matrix):  # room beyond what is needed takes no memory until it is written to
                first = FIRST_ROOM if words is None else len(words)
                wider = np.empty((max(2 * len(matrix), first), len(vector)), np.float32)
                wider[: len(matrix)] = matrix.reshape(len(matrix), len(vector))
                matrix = wider
            matrix[len(rows)] = vector
            rows[word] = len(rows)
    return list(rows), matrix[: len(rows)]


def _stream(path: Path, words: Words, format: str | None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the words of a file with their vectors, checked; a word may come twice."""
    if not path.is_file():
        raise PortrayalError(f"no vector file at {path}. Check the path.")
    suffix, width = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower(), 0
    name = format or SUFFIXES.get(suffix)
    if name is None:
        raise PortrayalError(
            f"{path.name} ends in {suffix!r}.{nearest(suffix, SUFFIXES)} Expected {', '.join(SUFFIXES)}, or `format` set "
            f"to one of {', '.join(FORMATS)}."
        )
    check_size(path, LARGEST_ARRAY)
    try:
        for word, vector in FORMATS[name](path, None if words is None else frozenset(words)):
            width = width or len(vector)
            if len(vector) != width:
                raise PortrayalError(f"{path} holds vectors of different widths: {sorted({width, len(vector)})}.")
            if not np.isfinite(vector).all():
                raise PortrayalError(f"{path} has NaN or infinity in the vector of {word!r}. Mend the file.")
            yield word, vector
    except (OSError, EOFError, ValueError, KeyError, UnicodeDecodeError, BadZipFile, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PortrayalError(f"{path} cannot be read as {name} vectors: {reason}.") from None


def _binary(path: Path, wanted: frozenset[str] | None) -> Pairs:
    """Read word2vec's binary form, of which a few megabytes are held at a time."""
    with open_unpacked(path) as file:
        first = file.readline()
        if first.startswith(FASTTEXT):
            raise ValueError(
                "it is a model of fastText. Give its text vectors (.vec), or write them with `fasttext print-word-vectors`"
            )
        parts = first.split()
        if len(parts) != 2 or not all(part.isdigit() for part in parts) or int(parts[1]) == 0:
            raise ValueError("its first line is not the number of words and the width")
        for word, raw in _records(file, int(parts[0]), 4 * int(parts[1])):
            if wanted is None or word in wanted:
                yield word, np.frombuffer(raw, dtype="<f4")


def _records(file: IO[bytes], count: int, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield each word and the bytes of its vector."""
    buffer, place = b"", 0
    for _ in range(count):
        end = buffer.find(b" ", place)
        if end < 0 or len(buffer) < end + 1 + size:
            buffer, place = buffer[place:] + file.read(max(CHUNK, 2 * size)), 0
            end = buffer.find(b" ")
        if end < 0 or end - place > LONGEST_WORD:
            raise ValueError("it ends early, or a word has no end")
        word, place = buffer[place:end].lstrip(b"\n").decode("utf-8", errors="replace"), end + 1 + size
        if len(buffer) < place:
            raise ValueError(f"it ends early, in the vector of {word!r}")
        yield word, buffer[end + 1 : place]


def _text(path: Path, wanted: frozenset[str] | None) -> Pairs:
    width = 0
    with open_unpacked(path) as file:
        for number, line in _rows(file):
            width = width or line.count(b" ")
            word, numbers = _split(line, width, number)
            if wanted is None or word in wanted:
                yield word, np.array(numbers.split(b" "), dtype=np.float64)
    if not width:
        raise ValueError("it holds no vectors")


def _rows(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without the header that word2vec and fastText write."""
    for number, line in enumerate(file, start=1):
        line = line.rstrip()
        if number == 1 and len(line.split()) == 2 and all(part.isdigit() for part in line.split()):
            continue
        if line:
            yield number, line.replace(b"\t", b" ")


def _split(line: bytes, width: int, number: int) -> tuple[str, bytes]:
    """Part a line into word and numbers, the last `width` fields."""
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


def _npz(path: Path, wanted: frozenset[str] | None) -> Pairs:
    check_archive(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # numpy leaves a damaged file open
        words, vectors = _named(arrays.files, WORDS), _named(arrays.files, VECTORS)
        if words and vectors:
            mapped = _mapped(path, f"{vectors}.npy")
            whole = arrays[vectors] if mapped is None else mapped
            yield from _paired(arrays[words].tolist(), whole, wanted)
            return
        for name in arrays.files:
            if wanted is None or name in wanted:
                yield name, _flat(name, arrays[name])


def _mapped(path: Path, member: str) -> np.ndarray | None:
    """Map an array of an npz file into memory; None where that cannot be."""
    with ZipFile(path) as files, path.open("rb") as file:
        about = files.getinfo(member)
        file.seek(about.header_offset + 26)  # the lengths of the name and of what follows it, before the array
        name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
        file.seek(about.header_offset + 30 + name + extra)
        if about.compress_type != ZIP_STORED:
            return None
        try:
            read = READ_HEADER[np.lib.format.read_magic(file)]
            shape, fortran, dtype = read(file)
            return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran else "C")
        except (ValueError, KeyError, TokenError):  # said by whoever reads it whole
            return None


def _safetensors(path: Path, wanted: frozenset[str] | None) -> Pairs:
    """Read only the tensors wanted, out of a map of the file."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 0 < size < min(path.stat().st_size, LARGEST_HEADER):
            raise ValueError("its header is not that of a safetensors file")
        header = parse_json(file.read(size))
    about, body = header.pop("__metadata__", {}), np.memmap(path, np.uint8, "r")[8 + size :]
    words, vectors = _named(about, WORDS), _named(header, VECTORS)
    if words and vectors:
        return _paired(parse_json(about[words]), _tensor(body, header[vectors]), wanted)
    names = [name for name in header if wanted is None or name in wanted]
    return ((name, _flat(name, _tensor(body, header[name]))) for name in names)


def _tensor(body: np.ndarray, about: dict[str, Any]) -> np.ndarray:
    first, last = about["data_offsets"]
    if not 0 <= first <= last <= len(body):
        raise ValueError("it ends early")
    if about["dtype"] == "BF16":  # the upper half of a float32
        numbers = (body[first:last].view("<u2").astype("<u4") << 16).view("<f4")
    else:
        numbers = body[first:last].view({"F16": "<f2", "F32": "<f4", "F64": "<f8"}[about["dtype"]])
    return numbers.reshape(about["shape"])


def _parquet(path: Path, wanted: frozenset[str] | None) -> Pairs:
    import polars as pl

    try:
        check_parquet(path)
        table = pl.scan_parquet(path, glob=False)
        columns = table.collect_schema().names()
        name = _named(columns, ("word", "name", "stimulus"))
        if name is None or "embedding" not in columns:
            raise ValueError(f"it lacks the columns word and embedding (found: {', '.join(columns)})")
        pairs = table.select(word=pl.col(name).cast(pl.String), embedding="embedding").drop_nulls()
        if wanted is not None:
            pairs = pairs.filter(pl.col("word").is_in(list(wanted)))
        rows = pairs.collect().iter_rows()
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    return ((word, np.array(vector, float)) for word, vector in rows)


def _named(there: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the first of these names that a file has."""
    return next((name for name in names if name in there), None)


def _paired(words: list[str], vectors: np.ndarray, wanted: frozenset[str] | None) -> Pairs:
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise ValueError(f"{len(words)} words do not fit vectors of shape {vectors.shape}")
    named = enumerate(map(str, words))
    return ((word, np.asarray(vectors[row])) for row, word in named if wanted is None or word in wanted)


def _flat(name: str, vector: np.ndarray) -> np.ndarray:
    if vector.size != max(vector.shape, default=0) or vector.dtype.kind not in "fiu":
        raise ValueError(f"{name!r} is an array of shape {vector.shape} and type {vector.dtype}, not a vector")
    return vector.reshape(-1)


FORMATS: dict[str, Callable[[Path, frozenset[str] | None], Pairs]] = {
    "word2vec-binary": _binary,
    "text": _text,
    "npz": _npz,
    "safetensors": _safetensors,
    "parquet": _parquet,
}

SUFFIXES = {
    ".bin": "word2vec-binary", ".txt": "text", ".vec": "text", ".npz": "npz", ".safetensors": "safetensors",
    ".parquet": "parquet",
}  # fmt: skip
