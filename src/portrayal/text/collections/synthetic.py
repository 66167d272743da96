"""Generated collections: the paper's toy and synthetic ones, and a balanced one.

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
`toy` (section 3.4) pairs every occupation of Table A.7 with "man" and "woman"; `synthetic` (section 4.1) pairs it with every
adjective of Table A.4. In `balanced` relevance has nothing to do with gender: what a ranker adds shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError, check_name
from portrayal.text.collections.collection import Collection, collection_of
from portrayal.text.collections.runs import run_table
from portrayal.text.lexicons import READ_AS, read_lexicon

REFERENCES = ("stereotypical", "neutral", "counter-stereotypical")
PERSONS = {"female": "woman", "male": "man"}
BALANCED_DOCUMENTS = 800

# Adults only; each pair with its pronoun.
_PEOPLE = (
    ("woman", "man"), ("lady", "gentleman"), ("mother", "father"), ("sister", "brother"), ("aunt", "uncle"), ("wife", "husband"),
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """The occupations (word to pole) and adjectives (word to pole) a collection is made of."""

    jobs: Mapping[str, str]
    adjectives: Mapping[str, str]


def paper_words(literal: bool = False) -> Words:
    """Return Tables A.7 and A.4; "corageous" is read as courageous unless taken literally."""
    read_as = {} if literal else READ_AS
    adjectives = {read_as.get(word, word): pole for word, pole in _poles("agency_communion").items()}
    return Words(_poles("gendered_jobs"), adjectives)


def authors_words() -> Words:
    """Return the authors' code's setting: hairdresser for hairstylist, 14 agency and 10 communion adjectives."""
    jobs = {"hairdresser" if word == "hairstylist" else word: pole for word, pole in _poles("gendered_jobs").items()}
    table = read_lexicon("agency_communion").filter(pl.col("in_authors_code") == "true")
    return Words(jobs, dict(table.select("word", "pole").iter_rows()))


def toy_collection(words: Words | None = None) -> Collection:
    """Return "The <person> is a <job>" for every occupation, both relevant."""
    jobs = (words or paper_words()).jobs
    documents = {f"{job}_{pole}": f"The {person} is a {job}" for job in jobs for pole, person in PERSONS.items()}
    return _judged_by_prefix("toy", documents, jobs)


def synthetic_collection(words: Words | None = None) -> Collection:
    """Return "The <job> is <adjective>" for every pair; all documents of an occupation are relevant."""
    words = words or paper_words()
    documents = {f"{job}_{word}": f"The {job} is {word}" for job in words.jobs for word in words.adjectives}
    return _judged_by_prefix("synthetic", documents, words.jobs)


def balanced_collection(seed: int = 0) -> Collection:
    """Return portraits: an adult and five words of Tables A.4 to A.7 each, drawn independently."""
    lists = ("gendered_jobs", "agency_communion", "science_arts", "career_family")
    pool = [READ_AS.get(word, word).lower() for name in lists for word in _poles(name)]
    rng = np.random.default_rng(seed)
    documents: dict[str, str] = {}
    relevant: dict[str, dict[str, int]] = {word: {} for word in pool}
    for number in range(BALANCED_DOCUMENTS):
        name, chosen = f"b{number:03d}", [pool[place] for place in rng.permutation(len(pool))[:5]]
        people = _PEOPLE[rng.integers(len(_PEOPLE))]
        person, pronoun, own = (people[0], "she", "her") if rng.integers(2) else (people[1], "he", "his")
        first, second, third, fourth, fifth = chosen
        documents[name] = (
            f"The words this {person} was asked about: {first}, {second} and {third}. Then {pronoun} was asked "
            f"about {fourth}, and {own} last word was {fifth}."
        )
        for word in chosen:
            relevant[word][name] = 1
    return collection_of(documents, {word: word for word in pool}, relevant, "balanced")


GENERATED: dict[str, Callable[[], Collection]] = {
    "toy": toy_collection,
    "synthetic": synthetic_collection,
    "balanced": balanced_collection,
}


def generated_collection(name: str) -> Collection:
    """Return the generated collection of this name."""
    check_name(name, GENERATED, "generated collection")
    return GENERATED[name]()


def reference_run(collection: Collection, system: str, words: Words | None = None) -> pl.DataFrame:
    """Return a reference system's run on the toy or synthetic collection."""
    check_name(system, REFERENCES, "reference system")
    words = words or paper_words()
    if any(query not in words.jobs for query in collection.queries):
        raise PortrayalError(
            f"the {system} reference system answers occupations only, and collection {collection.name!r} asks for other words. "
            "Use the toy or the synthetic collection."
        )
    rows = []
    for query in collection.queries:
        endings = {name: name.removeprefix(f"{query}_") for name in collection.relevant(query)}
        same = {name: words.adjectives.get(word, word) == words.jobs[query] for name, word in endings.items()}
        listed = [name for name in same if system == "neutral" or same[name] == (system == "stereotypical")]
        rows += [(query, name, rank, 1.0) for rank, name in enumerate(listed, 1)]
    return run_table(rows)


def _poles(lexicon: str) -> dict[str, str]:
    return dict(read_lexicon(lexicon).select("word", "pole").iter_rows())


def _judged_by_prefix(name: str, documents: Mapping[str, str], jobs: Mapping[str, str]) -> Collection:
    qrels = {job: {key: 1 for key in documents if key.startswith(f"{job}_")} for job in jobs}
    return collection_of(documents, {job: job for job in jobs}, qrels, name)
