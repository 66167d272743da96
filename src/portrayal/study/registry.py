"""Registry of audits by stem; each module's `AUDIT` is imported when asked for."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from portrayal.errors import PortrayalError, nearest

if TYPE_CHECKING:
    from portrayal.study.audit import Audit

_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "registry.toml").read_text(encoding="utf-8")
)
AUDITS, EXPERIMENTS, QUESTIONS = (_TABLES[name] for name in ("audits", "experiments", "questions"))
CALIBRATIONS, SIMULATIONS = (_TABLES[name] for name in ("calibrations", "simulations"))


def plugged_in() -> dict[str, EntryPoint]:
    """Return the audits that other packages add, by name: entry points of the group `portrayal.audits`."""
    return {entry.name: entry for entry in entry_points(group="portrayal.audits")}


def get_audit(stem: str) -> Audit:
    """Return the audit of this stem, or the experiment of this name.

    Parameters
    ----------
    stem
        A name that `names("audits")` lists.

    Returns
    -------
    Audit
        Its `question`, the `kind` of system it asks, its `settings`, what its numbers do not say (`validity`), the studies
        that ship (`demo`).

    Examples
    --------
    >>> from portrayal import get_audit
    >>> get_audit("search").question
    'Do result lists repeat the gender stereotype in the query?'
    """
    ours = {**AUDITS, **EXPERIMENTS}
    if stem in ours:
        return import_module(ours[stem]).AUDIT
    others = plugged_in()
    if stem in others:
        return others[stem].load()
    known = [*ours, *others]
    raise PortrayalError(f"no audit {stem!r}.{nearest(stem, known)} Known: {', '.join(known)}.")
