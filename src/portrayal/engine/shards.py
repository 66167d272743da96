"""Shards: pieces of work that are done whole by one worker, and their outcomes."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import PurePath
from typing import Any

from portrayal.errors import PortrayalError


@dataclass(frozen=True, eq=False)
class Shard:
    """A piece of work."""

    name: str
    content: Any
    place: int = 0

    def key(self, job: str) -> str:
        """Return the name of the stored result: a hash of the job and the content."""
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


MEND, MEMORY, LOST, FAULT = "mend", "memory", "lost", "fault"
LONGEST_TRACE = 20_000  # characters


class ShardFailed(PortrayalError):
    """A shard could not be done, for a reason that its user can mend."""


class ShardFault(Exception):
    """A fault of the code met in a shard, with the worker's traceback."""


class Lost(Exception):
    """A worker ended without an answer."""


@dataclass(frozen=True)
class Done:
    """The result of a shard."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """Why there is none; plain words, so that any process can read them."""

    kind: str
    reason: str
    trace: str = ""


def attempt(work: Callable[..., Any], *content: Any) -> Done | Failed:
    """Call a function and return what came of it; never raises but for Ctrl-C."""
    try:
        return Done(work(*content))
    except Lost as lost:
        return Failed(LOST, str(lost))
    except MemoryError as error:
        return Failed(MEMORY, str(error))
    except PortrayalError as error:
        return Failed(MEND, str(error))
    except Exception as error:
        trace = traceback.format_exc()[-LONGEST_TRACE:]
        return Failed(FAULT, f"{type(error).__name__}: {error}", trace)


def result_of(shard: Shard, outcome: Done | Failed) -> Any:
    """Return the result, or raise an error that names the shard."""
    if isinstance(outcome, Done):
        return outcome.result
    if outcome.kind == FAULT:
        raise ShardFault(f"{shard.name}: {outcome.reason}\n{outcome.trace}")
    if outcome.kind == MEMORY:
        why = f" ({outcome.reason})" if outcome.reason else ""
        raise ShardFailed(
            f"{shard.name}: the worker ran out of memory{why}. Use fewer workers (--workers) or a machine with more; what is"
            " finished is kept, and the same command goes on."
        )
    raise ShardFailed(f"{shard.name}: {outcome.reason}")
