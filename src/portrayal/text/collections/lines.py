"""Reader of text files by lines, plain or packed by gzip or Unix `compress`.

`compress` is LZW (Welch, 1984, IEEE Computer 17) with codes of 9 bits that grow to 16: bytes 1f 9d, a byte of flags, then codes in
groups of eight. Where the width changes, or the dictionary is cleared, what is left of a group is padding.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from portrayal.edges.sizes import LARGEST_TABLE, check_size, open_unpacked, parse_json, unpacked_gzip
from portrayal.errors import PortrayalError

PACKED = re.compile(r"\.[0-9]?z$", re.IGNORECASE)  # .z, and .0z to .2z of the Federal Register
COMPRESS, GZIP = b"\x1f\x9d", b"\x1f\x8b"
CLEAR, FIRST_BITS = 256, 9
AT_ONCE = 1 << 15  # codes of the widest kind read together; whole groups of eight
LITERALS = [bytes([value]) for value in range(256)]


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
    """Return what `compress` packed into these bytes."""
    if len(raw) < 3 or raw[:2] != COMPRESS:
        raise ValueError("its first bytes are others")
    widest, clears = raw[2] & 0x1F, bool(raw[2] & 0x80)
    if not FIRST_BITS <= widest <= 16:
        raise ValueError(f"its codes are {widest} bits wide")
    data, position = np.frombuffer(raw, np.uint8), 3
    out: list[bytes] = []
    table, last, bits = _fresh(clears), b"", FIRST_BITS
    while position < len(raw):
        # Codes of this width are good until the dictionary outgrows it; the first code after a start adds no entry.
        room = (1 << bits) - len(table) + (not last) if bits < widest else AT_ONCE
        codes = _codes(data, position, bits, room)
        used, last = _read(codes, table, last, out, 1 << widest, clears)
        if not used:
            break  # fewer bits than a code: the padding at the end
        position += bits * -(-used // 8)
        if clears and codes[used - 1] == CLEAR:
            table, last, bits = _fresh(clears), b"", FIRST_BITS
        else:
            bits = min(bits + 1, widest)
    return b"".join(out)


def _fresh(clears: bool) -> list[bytes]:
    """Return the dictionary at the start; where it may be cleared, one code says so."""
    return [*LITERALS, b""] if clears else list(LITERALS)


def _codes(data: np.ndarray, position: int, bits: int, most: int) -> list[int]:
    """Return at most so many codes of this width, lowest bits first."""
    count = min(most, 8 * (len(data) - position) // bits)
    piece = np.unpackbits(data[position : position + -(-count * bits // 8)], bitorder="little")
    wide = np.zeros((count, 16), np.uint8)
    wide[:, :bits] = piece[: count * bits].reshape(count, bits)
    codes: list[int] = np.packbits(wide, axis=1, bitorder="little").view("<u2").ravel().tolist()
    return codes


def _read(
    codes: list[int], table: list[bytes], last: bytes, out: list[bytes], size: int, clears: bool
) -> tuple[int, bytes]:
    """Write out codes and grow the dictionary; return their number and the last piece."""
    for place, code in enumerate(codes):
        if code == CLEAR and clears:
            return place + 1, last
        if code < len(table):
            piece = table[code]
        elif code == len(table) and last:  # the piece that is just being entered
            piece = last + last[:1]
        else:
            raise ValueError(f"code {code} is not known yet")
        out.append(piece)
        if last and len(table) < size:
            table.append(last + piece[:1])
        last = piece
    return len(codes), last
