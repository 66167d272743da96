"""All techniques, in the order they are reported."""

from __future__ import annotations

from portrayal.audits.captions.measures import (
    context_rules,
    demeaning_words,
    distributions,
    erasing,
    group_words,
    identity_nouns,
    leakage,
    objects_mentioned,
    people_mentioned,
    reifying,
    self_identification,
    words_included,
)
from portrayal.audits.captions.measures.outcome import Technique

TECHNIQUES: dict[str, Technique] = {
    technique.key: technique
    for technique in (
        words_included.TECHNIQUE,
        objects_mentioned.TECHNIQUE,
        distributions.TECHNIQUE,
        distributions.ACROSS,
        leakage.TECHNIQUE,
        demeaning_words.TECHNIQUE,
        people_mentioned.TECHNIQUE,
        context_rules.TECHNIQUE,
        identity_nouns.TECHNIQUE,
        erasing.TECHNIQUE,
        self_identification.TECHNIQUE,
        reifying.PREDICTED,
        reifying.MARKED,
        group_words.TECHNIQUE,
    )
}
