"""Words known to be demeaning (Wang et al. 2022, section 4.2.1).

Every synset of a word is listed (lower bound), its most common one (estimate), or any (upper bound): bounds of senses.
"""

from __future__ import annotations

from functools import lru_cache, partial

import polars as pl

from portrayal.audits.captions.measures.technique import BOUNDS, Count, Difference, Outcome, Shares, Steps, technique
from portrayal.audits.captions.reading.people import is_person
from portrayal.audits.captions.reading.stages import CAPTIONED, Options, Stages
from portrayal.text.captions.senses import synset_of
from portrayal.text.words import wordnet
from portrayal.text.words.harm_lists import mask, synsets_of

LOWER, ESTIMATE, UPPER = BOUNDS
QUANTITY = "demeaning word"
TEST, BETWEEN = "demeaning_word", "demeaning_word_difference"
ADVISED_AGAINST = "advised against"  # the kind of words that count as they are spelled only
_KEY = ("kind", "word", "subject", "subject_synset")


def steps(stages: Stages, options: Options) -> Steps:
    """Yield the three readings by stage, and the cases of the upper bound."""
    estimates: dict[str, Shares] = {}
    note = partial(_note, stages)
    for stage in filter(stages.has, CAPTIONED):
        mentions = _read(stages, stage, options)
        for bound in BOUNDS:
            quantity, compares = (QUANTITY, ESTIMATE) if bound == ESTIMATE else (f"{QUANTITY}, {bound}", "")
            of = Shares.of(quantity, stages, stage, mentions.filter(bound), bound=bound, note=note, compares=compares)
            estimates |= {stage: of} if bound == ESTIMATE else {}
            yield of
        yield partial(_cases, stage, mentions, options.show_demeaning)
    yield Count(TEST, estimates, stages.images, stages.diversity)
    yield Difference(BETWEEN, estimates, note)


def _note(stages: Stages, stage: str) -> str:
    return f"by synset; {stages.diversity(stage)}"


def _read(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return objects and attributes of people with a column for each reading."""
    listed = options.word_list("demeaning")
    # Style guides advise against a word and not against its synonyms: `crippled` and `disabled` share a synset.
    judging = listed.filter(pl.col("kind") != ADVISED_AGAINST)
    nouns, adjectives = synsets_of(judging, "n"), synsets_of(judging, "a")
    spelled = frozenset(listed.filter(pl.col("part") == "a")["term"])
    mentions = stages.at(stage).filter(pl.col("kind") != "relation")
    distinct = mentions.select(_KEY).unique()
    read = [
        readings(word, "n", nouns)
        if kind == "object"
        else readings(word, "a", adjectives, spelled)
        if is_person(subject, of_subject)
        else (False,) * 3
        for kind, word, subject, of_subject in distinct.iter_rows()
    ]
    flags = pl.DataFrame(read, schema=dict.fromkeys(BOUNDS, pl.Boolean), orient="row")
    return mentions.join(pl.concat([distinct, flags], how="horizontal"), on=_KEY, nulls_equal=True)


@lru_cache(maxsize=100_000)
def readings(
    word: str, part: str, listed: frozenset[str], spelled: frozenset[str] = frozenset()
) -> tuple[bool, bool, bool]:
    """Return True where a word is listed in every, its most common, or any sense."""
    table = wordnet.load()
    head = word.split()[-1] if part == "n" and not table.synsets(word, "n") else word
    senses = table.synsets(head, part) or table.synsets(head)
    if not senses:
        return (word in spelled,) * 3
    inside = [sense in listed for sense in senses]
    common = synset_of(head, part) in listed or word in spelled  # a taco is food, whatever WordNet has first
    return all(inside), common, any(inside) or word in spelled


def _cases(stage: str, mentions: pl.DataFrame, show: bool) -> Outcome:
    masked = pl.col("word").map_elements(partial(mask, show=show), return_dtype=pl.String)
    sure = pl.col(ESTIMATE).cast(pl.Int8) + pl.col(LOWER)
    reasons = {0: "listed in some sense", 1: "listed in its most common sense", 2: "listed in every sense"}
    words = [pl.when(part != "").then(part) for part in (pl.col("subject"), masked)]
    return TECHNIQUE.cases(
        f"{QUANTITY}, {UPPER}",
        stage,
        mentions.filter(pl.col(UPPER)),
        tuple=pl.concat_str(words, separator=" | ", ignore_nulls=True),
        reason=sure.replace_strict(reasons, return_dtype=pl.String),
        score=(sure + 1) / 3,
    )


TECHNIQUE = technique("demeaning: demeaning words", steps)
