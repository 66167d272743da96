"""Text files read line by line: UTF-8 checked, `.gz` opened, faults named with file and line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from portrayal.edges.json_text import parse_json
from portrayal.edges.sizes import open_unpacked
from portrayal.errors import PortrayalError
from portrayal.text.collections.compressed import PACKED, open_packed


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield line number and line, without line ends; blank lines are left out."""
    number = 0
    try:
        with _open(path) as file:
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
            said = getattr(error, "msg", error)
            raise PortrayalError(f"{path} line {number} is not JSON: {said}.") from None
        if not isinstance(value, dict):
            raise PortrayalError(
                f"{path} line {number} is a JSON {type(value).__name__}. Expected an object with id and text."
            )
        yield number, value


def read_fields(path: Path, least: int, form: str, separator: str | None = None) -> Iterator[list[str]]:
    """Yield each line's fields; a line with fewer than `least` is an error that shows the expected form."""
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


def _open(path: Path) -> IO[bytes]:
    """Open for reading bytes, unpacked where the name ends in .gz, .z or .0z."""
    return open_packed(path) if PACKED.search(path.name) else open_unpacked(path)
