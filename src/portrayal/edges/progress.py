"""A bar on standard error while something takes its time, so that standard output carries only answers."""

from __future__ import annotations

import sys
from typing import Any


def track(items: Any, description: str, total: int | None = None, quiet: bool = False) -> Any:
    """Yield `items` behind a bar on standard error."""
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description, total=total, console=Console(file=sys.stderr), disable=quiet)
