"""Diversity of captions, beside every demeaning count: a captioner that says little demeans little."""

from __future__ import annotations

import re
from collections import Counter

from portrayal.audits.captions.measures.reading.stages import Stages, once
from portrayal.text.formatting import percent

_WORD = re.compile(r"[a-z']+")


def diversity(stages: Stages, stage: str) -> dict[str, float]:
    """Return captions, the share that are distinct, the number of different words, and words per caption.

    The number of words grows with the number of captions, so stages of different sizes are compared at the
    share of distinct captions and the words that occur once in 1,000 tokens.
    """
    texts = stages.captions_at(stage)["text"]
    words = Counter(_WORD.findall("\n".join(texts).lower()))
    tokens = sum(words.values())
    return {
        "captions": len(texts),
        "distinct": texts.n_unique() / len(texts) if len(texts) else 0.0,
        "words": len(words),
        "length": tokens / len(texts) if len(texts) else 0.0,
    }


@once
def sentence(stages: Stages, stage: str) -> str:
    """Return the diversity in words, for a note."""
    found = diversity(stages, stage)
    return (
        f"diversity: {percent(found['distinct'], 1)} of {found['captions']} captions are distinct, "
        f"{found['words']} different words"
    )
