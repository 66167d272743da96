"""The audits, by stem. Each module holds one `AUDIT`; it is imported when first asked for."""

from __future__ import annotations

from importlib import import_module

from portrayal.errors import PortrayalError, nearest
from portrayal.runs.audit import Audit

AUDITS = {
    "associations": "portrayal.audits.associations",
    "search": "portrayal.audits.search",
    "contexts": "portrayal.audits.contexts",
    "counterfactuals": "portrayal.audits.counterfactuals",
    "captions": "portrayal.audits.captions",
}


# Further experiments of an audit: `audit = "associations/emotion_words"`. They ask another kind of system, but share
# the stem: its settings table, its page, its section of the report.
EXPERIMENTS = {
    "associations/emotion_words": "portrayal.audits.associations.experiments.emotion_words",
    "associations/labels": "portrayal.audits.associations.experiments.labels",
    "associations/depictions": "portrayal.audits.associations.experiments.depictions",
    "associations/saliency": "portrayal.audits.associations.experiments.saliency",
}


def get_audit(stem: str) -> Audit:
    """Return the audit of this stem, or the experiment of this name."""
    known = {**AUDITS, **EXPERIMENTS}
    if stem not in known:
        raise PortrayalError(f"no audit {stem!r}.{nearest(stem, known)} Known: {', '.join(known)}.")
    return import_module(known[stem]).AUDIT
