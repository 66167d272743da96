"""Registry of audits by stem; each module's `AUDIT` is imported when asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from portrayal.errors import PortrayalError, nearest

if TYPE_CHECKING:
    from portrayal.study.audit import Audit

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


# The question of each, as its AUDIT has it, so that listing them imports none.
QUESTIONS = {
    "associations": "Does an encoder tie emotions, professions or sex to some people and not to others?",
    "search": "Do result lists repeat the gender stereotype in the query?",
    "contexts": "Does a tagger see a person differently in a stereotyped place?",
    "counterfactuals": "Does a label become more likely as only the face's gender or race cue changes?",
    "captions": "Which of five representational harms do captions do, and at which stage do they arise?",
    "associations/emotion_words": "Do captions name the emotions of some people less often than those of others?",
    "associations/labels": "Are images generated for some people labelled as sexualised more often than for others?",
    "associations/depictions": "Who is depicted when a generator is asked for a person at work, and whose images are blocked?",
    "associations/saliency": "Does an encoder look at the face, or elsewhere, for the emotions of some people?",
}


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
