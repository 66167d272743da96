"""The values of nested settings, each with the name it stands under."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of nested settings with the name it stands under.

    Examples
    --------
    >>> list(leaves({"a": {"b": [1, 2]}}))
    [('b', 1), ('b', 2)]
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, str(key))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield name, value
