"""What comes of a shard: a result, or an error that names the shard."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from portrayal.engine.shards import Shard
from portrayal.errors import PortrayalError

MEND, MEMORY, LOST, FAULT = "mend", "memory", "lost", "fault"
LONGEST_TRACE = 20_000  # characters


class ShardFailed(PortrayalError):
    """A shard could not be done, for a reason that its user can mend."""


class ShardFault(Exception):
    """A shard met a fault of the code; the worker's traceback is part of the message."""


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
    refuse(shard.name, outcome)


def refuse(name: str, failed: Failed) -> NoReturn:
    """Raise what became of a shard, or of a worker that could not start."""
    if failed.kind == FAULT:
        raise ShardFault(f"{name}: {failed.reason}\n{failed.trace}")
    if failed.kind == MEMORY:
        said = f" ({failed.reason})" if failed.reason else ""
        raise ShardFailed(
            f"{name}: the worker ran out of memory{said}. Use fewer workers (--workers) or a machine with more; what is"
            " finished is kept, and the same command goes on."
        )
    raise ShardFailed(f"{name}: {failed.reason}")
