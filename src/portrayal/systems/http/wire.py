"""Body of an HTTP answer, taken and unpacked up to a size.

The client's own unpacking takes a cut stream for a whole one, and knows no limit.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # how zlib names the formats
UNDERSTOOD = "gzip, deflate"  # what we tell a server it may send


@dataclass(frozen=True)
class Body:
    """Bytes of an answer; `broken` says why they are incomplete."""

    content: bytes
    broken: str = ""


async def gather(chunks: AsyncIterator[bytes], most: int, into: bytearray) -> bool:
    """Gather chunks, and return False when there are more than `most` bytes."""
    async for chunk in chunks:
        into += chunk
        if len(into) > most:
            return False
    return True


def unpacked(content: bytes, encoding: str, most: int) -> Body:
    """Return a body without its packing, or the reason why it cannot be unpacked."""
    packing = encoding.strip().lower()
    if packing in ("", "identity") or not content:
        return Body(content)
    if packing not in _WINDOWS:
        return Body(content, f"it is packed as {packing[:40]!r}, and only {UNDERSTOOD} was offered")
    try:
        return _members(content, packing, most)
    except zlib.error as error:
        if packing == "deflate":  # some servers leave out the two bytes of its header
            return _bare(content, most)
        return Body(content, f"its {packing} packing is damaged: {error}")


def _members(content: bytes, packing: str, most: int) -> Body:
    """Unpack one stream after the other, as gzip allows."""
    whole, rest = bytearray(), content
    while rest:
        stream = zlib.decompressobj(_WINDOWS[packing])
        whole += stream.decompress(rest, most + 1 - len(whole))
        if len(whole) > most:
            return Body(content, f"it is larger than {most:,} bytes when unpacked")
        if not stream.eof:
            return Body(content, f"its {packing} packing is cut off")
        rest = stream.unused_data
    return Body(bytes(whole))


def _bare(content: bytes, most: int) -> Body:
    try:
        stream = zlib.decompressobj(-15)
        whole = stream.decompress(content, most + 1)
    except zlib.error as error:
        return Body(content, f"its deflate packing is damaged: {error}")
    if len(whole) > most:
        return Body(content, f"it is larger than {most:,} bytes when unpacked")
    return Body(whole) if stream.eof else Body(content, "its deflate packing is cut off")
