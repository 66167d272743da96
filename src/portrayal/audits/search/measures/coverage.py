"""Coverage of a collection by measuring vectors, which must know most words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from portrayal.audits.search.measures.genderedness import usable
from portrayal.audits.search.measures.scored_runs import INSTRUMENT, PartialResult, Ruler, ScoredQueries
from portrayal.stats.intervals.intervals import wilson
from portrayal.text.formatting import listed, percent
from portrayal.text.languages import are_read, names_of, other_languages, share_in

PAIRS, ASKED, WRITTEN = "defining pairs", "words of the queries", "words of the documents"
# The share of each that a ruler must know. English text has 95% or more of its words in common vectors, German text 60%.
LEAST = {PAIRS: 0.5, ASKED: 0.8, WRITTEN: 0.8}
SURE, LOOKED_AT = 0.95, 60  # below, the commonest words are looked at for their language
NOTED = 0.9  # below, a warning says so though the ruler is used


def coverage(scored: ScoredQueries) -> PartialResult:
    """Return the shares of pairs and words that every ruler knows."""
    result = PartialResult()
    for ruler in scored.rulers.values():
        for part, (some, whole) in known_words(ruler, scored).items():
            about = {"system": INSTRUMENT, "ruler": ruler.name, "group": part, "counted": part, "unit": "share"}
            result.rows.append(wilson(some, whole).row("ruler_coverage", **about))
            missing = ruler.direction.missing if part == PAIRS else []
            line = ""
            if missing:
                lost = listed(["-".join(pair) for pair in missing])
                line = f"The word vectors {ruler.name} lack {len(missing)} of {whole} defining pairs: {lost}."
            elif part != PAIRS and some < NOTED * whole:
                share = percent(some / whole)
                line = f"The word vectors {ruler.name} know {share} of the {part}; the others have no score."
            if line:
                (result.warnings if some < LEAST[part] * whole else result.remarks).append(line)
    return result


def known_words(ruler: Ruler, scored: ScoredQueries) -> dict[str, tuple[int, int]]:
    """Return the numbers of pairs and words that a ruler knows, and of all."""
    direction = ruler.direction
    written = dict(zip(scored.bags.words, scored.bags.totals.tolist(), strict=True))
    pairs = len(direction.used), len(direction.used) + len(direction.missing)
    return {PAIRS: pairs, ASKED: _known(scored.queries.words, ruler), WRITTEN: _known(written, ruler)}


def faults(scored: ScoredQueries) -> dict[str, str]:
    """Return the rulers that know too little of this collection, each with the reason."""
    shares = [some / whole for some, whole in known_words(scored.first, scored).values() if whole]
    common = [scored.bags.words[place] for place in np.argsort(-scored.bags.totals)[:LOOKED_AT]]
    texts = [" ".join(list(scored.queries.words)[:LOOKED_AT])], [" ".join(common)]
    if min(shares) < SURE and (reason := other_language(*texts, scored.settings.languages)):
        return dict.fromkeys(scored.rulers, reason)
    return {
        ruler.name: f"the word vectors {ruler.name} know {percent(some / whole)} of the {part}, "
        f"and {percent(LEAST[part])} is the least that is measured with"
        for ruler in scored.rulers.values()
        for part, (some, whole) in reversed(known_words(ruler, scored).items())  # of several parts the first counts
        if some < LEAST[part] * whole
    }


def other_language(queries: Sequence[str], documents: Sequence[str], languages: Sequence[str]) -> str:
    """Say that queries or documents are in other languages than the vectors, if so."""
    for part, texts in (("documents", documents), ("queries", queries)):
        if not are_read(others := other_languages(texts, languages)):
            return f"{share_in(others, f'the {part}')}; the word vectors are of {names_of(languages)}"
    return ""


def _known(counts: Mapping[str, int], ruler: Ruler) -> tuple[int, int]:
    """Return the occurrences of words with a score, and of all usable words."""
    wanted = {word: count for word, count in counts.items() if usable(word)}
    return sum(count for word, count in wanted.items() if word in ruler.scores), sum(wanted.values())
