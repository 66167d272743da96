"""Limits of what is read: sizes of files, depths of JSON and TOML."""

import gzip
import io
import json
import tomllib
import zipfile
from pathlib import Path
from typing import IO, Any

from portrayal.errors import PortrayalError

LARGEST_TOML = 1024 * 1024
DEEPEST = 60  # tables and lists in one another
LARGEST_PICTURE = 64 * 1024 * 1024
MOST_PIXELS = 100_000_000
LARGEST_ARRAY = 8 * 1024**3  # the largest published word vectors have 5.6 GB
LARGEST_TABLE = 4 * 1024**3
MOST_CELLS = 500_000_000  # of a Parquet table
ALWAYS_FINE = 64 * 1024 * 1024
MOST_UNPACKED = 100  # times the packed size: text and vectors reach 20


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of a size a person could have written."""
    if path.stat().st_size > LARGEST_TOML:
        raise PortrayalError(
            f"{path} is larger than {LARGEST_TOML:,} bytes. A study names large tables, it does not hold them."
        )
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        data = None
    if data is None or _is_deep(data):
        raise PortrayalError(f"{path} is nested too deep. Expected a study file.")
    return data


def _is_deep(data: Any) -> bool:
    """Return True where tables and lists lie in one another too deep; without recursion."""
    layer = [data]
    for _ in range(DEEPEST):
        layer = [inner for one in layer for inner in (one.values() if isinstance(one, dict) else one)]
        layer = [inner for inner in layer if isinstance(inner, (dict, list))]
        if not layer:
            return False
    return True


def check_size(path: Path, most: int) -> None:
    """Refuse a file larger than `most` bytes; one that is not there passes."""
    if path.is_file() and path.stat().st_size > most:
        raise PortrayalError(f"{path} has {path.stat().st_size:,} bytes. At most {most:,} are read.")


def read_unpacked(path: Path, most: int = LARGEST_TABLE) -> bytes:
    """Read a file, through gzip where its name ends in .gz, within a size."""
    check_size(path, most)
    with open_unpacked(path, most) as file:
        return file.read()


def open_unpacked(path: Path, most: int = LARGEST_ARRAY) -> IO[bytes]:
    """Open a file for reading bytes, through gzip if named so; too much raises ValueError."""
    if path.suffix != ".gz":
        return path.open("rb")
    allowed = min(most, max(ALWAYS_FINE, MOST_UNPACKED * path.stat().st_size))
    return io.BufferedReader(_Counted(gzip.open(path, "rb"), allowed))


def unpacked_gzip(raw: bytes, most: int = LARGEST_TABLE) -> bytes:
    """Unpack gzip bytes within a size."""
    allowed = min(most, max(ALWAYS_FINE, MOST_UNPACKED * len(raw)))
    with io.BufferedReader(_Counted(gzip.GzipFile(fileobj=io.BytesIO(raw)), allowed)) as file:
        return file.read()


class TooLarge(PortrayalError, ValueError):
    """A file that unpacks to more than is read."""


class _Counted(io.RawIOBase):
    """Unpacked bytes, counted as they come."""

    def __init__(self, inner: gzip.GzipFile, most: int) -> None:
        self.inner, self.left, self.most = inner, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.inner.read(len(buffer))
        self.left -= len(chunk)
        if self.left < 0:
            raise TooLarge(f"it unpacks to more than {self.most:,} bytes, which is no data but a trap")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self.inner.close()
        super().close()


def check_pixels(picture: Any) -> None:
    """Refuse an opened picture, before its pixels are decoded, that has too many of them."""
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise TooLarge(f"it has {width} x {height} pixels, and at most {MOST_PIXELS:,} are read")


def is_picture(data: bytes) -> bool:
    """Return True where bytes begin as a picture of a size that can be decoded."""
    import warnings

    from PIL import Image

    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data)) as picture:
            warnings.simplefilter("ignore")
            check_pixels(picture)
            return True
    except Exception:  # what Pillow raises depends on the format and on where the file breaks off
        return False


def check_archive(path: Path, most: int = LARGEST_ARRAY) -> None:
    """Refuse a zip archive (an .npz) that unpacks to more than fits or seems honest."""
    with zipfile.ZipFile(path) as archive:
        whole = sum(member.file_size for member in archive.infolist())
        allowed = min(most, max(ALWAYS_FINE, MOST_UNPACKED * path.stat().st_size))
        if whole > allowed:
            raise TooLarge(f"it says it unpacks to {whole:,} bytes, and at most {allowed:,} are read")
        for member in archive.infolist():
            if member.filename.endswith(".npy"):
                with archive.open(member) as file:
                    _check_array(file, member.file_size)


def _check_array(file: IO[bytes], size: int) -> None:
    """Refuse an .npy array whose header promises more than its bytes hold."""
    import math

    import numpy as np

    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        shape, _, kind = read[np.lib.format.read_magic(file)](file)
    except Exception:  # numpy parses the header as Python and raises anything; reading it will say why
        return
    if math.prod(shape) * kind.itemsize > size:
        raise TooLarge(f"an array of shape {shape} does not fit into its {size:,} bytes")


def check_parquet(path: Path) -> None:
    """Refuse a Parquet file whose footer promises more cells than fit into memory."""
    import polars as pl

    check_size(path, LARGEST_TABLE)
    columns = len(pl.read_parquet_schema(path))
    rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    if rows * max(1, columns) > MOST_CELLS:
        raise PortrayalError(f"{path} has {rows:,} rows of {columns} columns. At most {MOST_CELLS:,} cells are read.")


def parse_json(text: str | bytes) -> Any:
    """Read JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
