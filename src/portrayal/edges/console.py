"""Printed text and progress: without secrets, and without anything that a terminal obeys."""

import io
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, TextIO, TypeVar

from portrayal.edges.inert import inert_line
from portrayal.edges.secrets import hidden
from portrayal.edges.writing import refuse_foreign_file, write_text


def printable(text: Any) -> str:
    """Return a command's answer, line breaks kept."""
    return inert_line(hidden(str(text)))


def printable_line(message: Any) -> str:
    """Return a message as one line."""
    return printable(" ".join(str(message).split()))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, with its cells under one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


class Hiding(io.TextIOBase):
    """A stream that hands text on without secrets, such as what a user's function prints."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Write text without the secrets this process knows."""
        self.inner.write(hidden(text))
        return len(text)

    def flush(self) -> None:
        """Flush the other stream."""
        self.inner.flush()


def json_text(value: Any, path: Path | None) -> str:
    """Return figures as text, written to a file too where one is named."""
    text = json.dumps(value, indent=1)
    if path:
        refuse_foreign_file(path, (text[:10].encode(),), "a file of such figures")
        write_text(path, text + "\n")
    return text


Item = TypeVar("Item")
EVERY = 10.0  # seconds; what is done sooner needs no word


def track(
    items: Iterable[Item],
    description: str,
    quiet: bool = False,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield `items`, and say how many are done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    if quiet:
        yield from items
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track as rich_track

        yield from rich_track(items, description, total=total, console=Console(file=sys.stderr))
    else:
        last, whole = clock(), "" if total is None else f" of {total}"
        for done, item in enumerate(items):
            if clock() - last >= EVERY:
                last = clock()
                sys.stderr.write(f"{printable_line(f'{description}: {done}{whole} done')}\n")
            yield item
