"""Files packed by Unix `compress` (`.Z`), as the TREC disks come, and by gzip under the same names.

The form is LZW [1]_ with codes of 9 bits that grow to 16: bytes 1f 9d, a byte of flags, then codes in groups of eight. Where
the width changes, or the dictionary is cleared, what is left of a group is padding.

References
----------
.. [1] Welch (1984), A technique for high-performance data compression, IEEE Computer 17.
"""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from portrayal.edges.sizes import LARGEST_TABLE, check_size, unpacked_gzip
from portrayal.errors import PortrayalError

PACKED = re.compile(r"\.[0-9]?z$", re.IGNORECASE)  # .z, and .0z to .2z of the Federal Register
COMPRESS, GZIP = b"\x1f\x9d", b"\x1f\x8b"
CLEAR, FIRST_BITS = 256, 9
AT_ONCE = 1 << 15  # codes of the widest kind read together; whole groups of eight
LITERALS = [bytes([value]) for value in range(256)]


def open_packed(path: Path) -> IO[bytes]:
    """Open a file of such a name for reading; its first bytes say how it is packed."""
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
        cleared = clears and codes[used - 1] == CLEAR
        if cleared:
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
    found: list[int] = np.packbits(wide, axis=1, bitorder="little").view("<u2").ravel().tolist()
    return found


def _read(
    codes: list[int], table: list[bytes], last: bytes, out: list[bytes], size: int, clears: bool
) -> tuple[int, bytes]:
    """Write out what the codes stand for and grow the dictionary; return how many were read, and the last piece."""
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
