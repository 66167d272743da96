"""Wang et al. 2022, section 4.2.1: words known to be demeaning.

For each word three readings: every synset it belongs to is listed (lower bound), its most common synset is listed
(estimate), any synset is listed (upper bound). These are bounds from word senses, not confidence limits; each share
has its own interval too.
"""

from __future__ import annotations

from functools import lru_cache, partial

import polars as pl

from portrayal.audits.captions.measures.outcome import ESTIMATE, LOWER, UPPER, Outcome
from portrayal.audits.captions.measures.reading.diversity import sentence
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import is_person, shares
from portrayal.audits.captions.measures.reading.senses import synset_of
from portrayal.audits.captions.measures.reading.stages import CAPTIONED, Stages
from portrayal.audits.captions.measures.shares import Count, Shares, ShareTechnique, Steps, read
from portrayal.folds import Known
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import mask, synsets_of

QUANTITY = "demeaning word"
TEST = "demeaning_word"
_UPPER = f"{QUANTITY}, {UPPER}"
ADVISED_AGAINST = "advised against"  # the kind of words that count as they are spelled only


def steps(stages: Stages, options: Options, known: Known) -> Steps:
    """Yield the three readings by stage, and the cases of the upper bound, the surest first."""
    listed = options.word_list("demeaning")
    # Style guides advise against a word and not against its synonyms: `crippled` and `disabled` share a synset.
    judging = listed.filter(pl.col("kind") != ADVISED_AGAINST)
    nouns, adjectives = synsets_of(judging, "n"), synsets_of(judging, "a")
    spelled = frozenset(listed.filter(pl.col("part") == "a")["term"])
    estimates: dict[str, Shares] = {}
    for stage in filter(stages.has, CAPTIONED):
        said = _read(stages, stage, nouns, adjectives, spelled)
        for bound in (LOWER, ESTIMATE, UPPER):
            quantity = QUANTITY if bound == ESTIMATE else f"{QUANTITY}, {bound}"
            values, note = shares(stages, stage, said.filter(pl.col(bound))), partial(_note, stages)
            of_bound = Shares(
                quantity, stage, None, values, bound=bound, note=note, compares=ESTIMATE if bound == ESTIMATE else ""
            )
            estimates |= {stage: of_bound} if bound == ESTIMATE else {}
            yield of_bound
        yield partial(_cases, said, stage, options.show_demeaning)
    yield Count(TEST, estimates, stages.images, partial(sentence, stages))


def _note(stages: Stages, stage: str) -> str:
    return f"by synset; {sentence(stages, stage)}"


def _read(
    stages: Stages, stage: str, nouns: frozenset[str], adjectives: frozenset[str], spelled: frozenset[str]
) -> pl.DataFrame:
    """Return objects and attributes of people with a column for each reading."""
    said = stages.at(stage).filter(pl.col("kind") != "relation")
    distinct = said.select("kind", "word", "subject", "subject_synset").unique()
    read = [
        readings(word, "n", nouns)
        if kind == "object"
        else _of_person(subject, subject_synset, readings(word, "a", adjectives, spelled))
        for kind, word, subject, subject_synset in distinct.iter_rows()
    ]
    flags = pl.DataFrame(read, schema=dict.fromkeys((LOWER, ESTIMATE, UPPER), pl.Boolean), orient="row")
    return said.join(
        pl.concat([distinct, flags], how="horizontal"),
        on=["kind", "word", "subject", "subject_synset"],
        nulls_equal=True,
    )


def _of_person(subject: str, synset: str | None, flags: tuple[bool, bool, bool]) -> tuple[bool, bool, bool]:
    return flags if is_person(subject, synset) else (False, False, False)


@lru_cache(maxsize=100_000)
def readings(
    word: str, part: str, listed: frozenset[str], spelled: frozenset[str] = frozenset()
) -> tuple[bool, bool, bool]:
    """Return whether a word is demeaning in every sense, in its most common sense, in any sense.

    A compound is read by its head noun, so that `circus clown` is a clown. A word listed as it is spelled (the
    judgments) counts as listed in its most common sense even where WordNet does not know it.
    """
    table = wordnet.load()
    head = word.split()[-1] if part == "n" and not table.synsets(word, "n") else word
    senses = table.synsets(head, part) or table.synsets(head)
    if not senses:
        return (word in spelled,) * 3
    inside = [sense in listed for sense in senses]
    common = synset_of(head, part) in listed or word in spelled  # a taco is food, whatever WordNet has first
    return all(inside), common, any(inside) or word in spelled


def _cases(said: pl.DataFrame, stage: str, show: bool) -> Outcome:
    certainty = pl.col(LOWER).cast(pl.Float64) + pl.col(ESTIMATE) + pl.col(UPPER)
    listed = said.filter(pl.col(UPPER)).with_columns((certainty / 3).alias("score"))
    reasons = ("listed in some sense", "listed in its most common sense", "listed in every sense")
    cases = []
    for r in listed.iter_rows(named=True):
        words = " | ".join(part for part in (r["subject"], mask(r["word"], show)) if part)
        reason = reasons[r[ESTIMATE] + r[LOWER]]
        cases.append(TECHNIQUE.case(_UPPER, stage, r["image"], r["caption"], reason, words, score=r["score"]))
    return read(cases)


TECHNIQUE = ShareTechnique(
    "demeaning",
    "demeaning words",
    "human or system captions",
    "without captions there are no words to read",
    steps=steps,
    paper="Wang et al. 2022, section 4.2.1",
)
