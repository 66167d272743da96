"""Reader of text files by lines, plain or packed by gzip or Unix `compress`."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from portrayal.edges.sizes import LARGEST_TABLE, check_size, open_unpacked, parse_json, unpacked_gzip
from portrayal.errors import PortrayalError

PACKED = re.compile(r"\.[0-9]?z$", re.IGNORECASE)  # .z, and .0z to .2z of the Federal Register
COMPRESS, GZIP = b"\x1f\x9d", b"\x1f\x8b"


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield line number and line, without line ends; blank lines are left out."""
    number = 0
    try:
        with open_packed(path) if PACKED.search(path.name) else open_unpacked(path) as file:
            for number, line in enumerate(file, 1):
                text = line.decode(encoding).rstrip("\r\n")
                if text.strip():
                    yield number, text.removeprefix("\ufeff")
    except FileNotFoundError:
        raise PortrayalError(f"no file at {path}. Check the path; see docs/rankers.md.") from None
    except UnicodeDecodeError:
        raise PortrayalError(
            f"{path} line {number} is not UTF-8. Convert the file (iconv -f latin1 -t utf-8) and try again."
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise PortrayalError(f"{path} is not a whole gzip file ({error}). Fetch or compress it again.") from None


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and JSON object of each line."""
    for number, line in read_lines(path):
        try:
            value = parse_json(line)
        except ValueError as error:
            raise PortrayalError(f"{path} line {number} is not JSON: {getattr(error, 'msg', error)}.") from None
        if not isinstance(value, dict):
            raise PortrayalError(
                f"{path} line {number} is a JSON {type(value).__name__}. Expected an object with id and text."
            )
        yield number, value


def read_fields(path: Path, least: int, form: str, separator: str | None = None) -> Iterator[list[str]]:
    """Yield each line's fields; fewer than `least` are an error."""
    for number, line in read_lines(path):
        fields = line.split(separator)
        if len(fields) < least:
            raise PortrayalError(f"{path} line {number} has {len(fields)} fields. Expected: {form}.")
        yield fields


def whole(text: str, path: Path, what: str) -> int:
    """Return the whole number a field holds."""
    try:
        return int(text)
    except ValueError:
        raise PortrayalError(f"{path}: {what} is {text!r}. Expected a whole number.") from None


def plain_or_gz(path: Path) -> Path | None:
    """Return `path` or `path.gz`, whichever is there."""
    packed = path.with_name(path.name + ".gz")
    return path if path.is_file() else packed if packed.is_file() else None


def open_packed(path: Path) -> IO[bytes]:
    """Open a packed file for reading, by its first bytes."""
    check_size(path, LARGEST_TABLE)
    raw = path.read_bytes()
    if raw[:2] not in (GZIP, COMPRESS):
        raise PortrayalError(
            f"{path} is not packed by compress or gzip as its name says. Fetch it again, or rename it."
        )
    try:
        return io.BytesIO(unpacked_gzip(raw) if raw[:2] == GZIP else unpack(raw))
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise PortrayalError(f"{path} is not a whole packed file ({error}). Fetch it again.") from None


def unpack(raw: bytes) -> bytes:
    """Return what `compress` packed into these bytes; gzip reads its form too."""
    try:
        done = subprocess.run(["gzip", "-dc"], input=raw, capture_output=True, check=False)
    except FileNotFoundError:
        raise PortrayalError("a file packed by compress needs the program gzip, which is not installed.") from None
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip().removeprefix("gzip: stdin: "))
    return done.stdout
