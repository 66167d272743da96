"""A shard: a piece of work that is done whole, by one worker, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import PurePath
from typing import Any


@dataclass(frozen=True, eq=False)
class Shard:
    """A piece of work."""

    name: str
    content: Any
    place: int = 0

    def key(self, job: str) -> str:
        """Return what its result is kept under: the hash of the job and of the content, wherever the shard comes from."""
        text = json.dumps([job, self.content], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()


def cut(items: Sequence[Any], size: int, what: str) -> list[Shard]:
    """Cut a sequence into shards of `size` items, named after what the items are.

    Examples
    --------
    >>> [(shard.name, shard.content) for shard in cut(["a", "b", "c"], 2, "captions")]
    [('captions 1 to 2 of 3', ['a', 'b']), ('captions 3 to 3 of 3', ['c'])]
    """
    total = len(items)
    return [
        Shard(f"{what} {start + 1:,} to {min(start + size, total):,} of {total:,}", items[start : start + size], place)
        for place, start in enumerate(range(0, total, size))
    ]


def _plain(content: Any) -> Any:
    """Write out what JSON does not know."""
    if is_dataclass(content) and not isinstance(content, type):
        return [type(content).__name__, asdict(content)]
    if isinstance(content, bytes):
        return ["bytes", hashlib.sha256(content).hexdigest()]
    if isinstance(content, range):
        return ["range", content.start, content.stop, content.step]
    if isinstance(content, PurePath):
        return str(content)
    if hasattr(content, "tolist"):  # numpy
        return [str(content.dtype), content.tolist()]
    raise TypeError(f"a shard may hold plain data, bytes, paths, arrays and dataclasses, not {type(content)}")
