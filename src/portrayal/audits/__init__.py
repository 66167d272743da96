"""The audits, by stem. Each module holds one `AUDIT`; it is imported when first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from portrayal.errors import PortrayalError, nearest

if TYPE_CHECKING:
    from portrayal.audits.base import Audit

AUDITS = {
    "associations": "portrayal.audits.associations",
    "contexts": "portrayal.audits.contexts",
    "counterfactuals": "portrayal.audits.counterfactuals",
}


def get_audit(stem: str) -> Audit:
    """Return the audit of this stem."""
    if stem not in AUDITS:
        raise PortrayalError(f"no audit {stem!r}.{nearest(stem, AUDITS)} Known: {', '.join(AUDITS)}.")
    return import_module(AUDITS[stem]).AUDIT
