"""The collections made from word lists, and the reference systems that answer them."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.collections import read_collection
from portrayal.text.collections.synthetic import (
    REFERENCES,
    authors_words,
    balanced_collection,
    generated_collection,
    paper_words,
    reference_run,
    synthetic_collection,
    toy_collection,
)
from portrayal.text.lexicons import FOLDER, lexicon_names, read_lexicon
from portrayal_rankers.base import rank
from portrayal_rankers.registry import Searchable, make_ranker


def test_sizes_follow_the_tables():
    # Table A.7: 10 + 10 occupations; Table A.4: 15 + 12 adjectives
    assert len(list(toy_collection().documents())) == 20 * 2
    assert len(list(synthetic_collection().documents())) == 20 * 27
    # build_toy_dataset2.py of the authors: 14 + 10 adjectives, hairdresser
    words = authors_words()
    assert sorted(words.adjectives.values()).count("male") == 14
    assert sorted(words.adjectives.values()).count("female") == 10
    assert "hairdresser" in words.jobs
    assert "hairstylist" not in words.jobs


def test_the_sentences_are_those_of_the_paper():
    assert dict(toy_collection().documents())["nurse_female"] == "The woman is a nurse"
    assert dict(synthetic_collection().documents())["plumber_hardworking"] == "The plumber is hardworking"


@pytest.mark.parametrize("make", [toy_collection, synthetic_collection])
def test_reference_systems_answer_with_the_right_documents(make):
    collection = make()
    jobs, adjectives = paper_words().jobs, paper_words().adjectives
    runs = {name: reference_run(collection, name) for name in REFERENCES}
    for name, sign in (("stereotypical", True), ("counter-stereotypical", False)):
        for query, doc in runs[name].select("query", "doc").iter_rows():
            ending = doc.removeprefix(f"{query}_")
            assert (adjectives.get(ending, ending) == jobs[query]) == sign
    assert runs["neutral"].height == runs["stereotypical"].height + runs["counter-stereotypical"].height
    endings = [
        [doc.removeprefix(f"{query}_") for doc in part["doc"]]
        for (query,), part in runs["neutral"].group_by("query", maintain_order=True)
    ]
    assert all(order == endings[0] for order in endings)


def test_the_balanced_collection_is_seeded_and_deals_words_independently():
    first, second = balanced_collection(), balanced_collection()
    assert list(first.documents()) == list(second.documents())
    texts = dict(first.documents())
    women = {name for name, text in texts.items() if " she " in text}
    assert 0.45 < len(women) / len(texts) < 0.55
    jobs = paper_words().jobs
    shares = {
        pole: np.mean([doc in women for job in jobs if jobs[job] == pole for doc in first.relevant(job)])
        for pole in ("female", "male")
    }
    # about 500 documents a side: a difference of means has a standard error of about 3 points
    assert abs(shares["female"] - shares["male"]) < 0.10
    for query in list(first.queries)[:5]:
        assert all(query in texts[doc].lower() for doc in first.relevant(query))


def test_generated_collections_are_opened_by_name():
    assert read_collection("toy").name == "toy"
    with pytest.raises(PortrayalError, match="Did you mean 'balanced'"):
        generated_collection("balance")


def test_reference_systems_refuse_what_they_cannot_answer():
    with pytest.raises(PortrayalError, match="no reference system 'fair'"):
        reference_run(toy_collection(), "fair")
    with pytest.raises(PortrayalError, match="answers occupations only"):
        reference_run(balanced_collection(), "neutral")


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_systems_are_rankers(name):
    collection = toy_collection()
    run = rank(collection, make_ranker(name, Searchable(collection)), 10)
    expected = reference_run(collection, name)
    assert (
        run.select("query", "doc", "rank")
        .sort("query", "rank")
        .equals(expected.select("query", "doc", "rank").sort("query", "rank"))
    )


def test_an_unknown_list_is_told():
    assert "gender_pairs" in lexicon_names()
    with pytest.raises(PortrayalError, match="Did you mean 'gender_pairs'"):
        read_lexicon("gender_pair")


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("gender_pairs", 10),
        ("gender_equalize_pairs", 52),
        ("gender_specific", 1441),
        ("agency_communion", 27),
        ("science_arts", 16),
        ("career_family", 16),
        ("gendered_jobs", 20),
        ("gendered_entities", 89 + 81),  # 82 female entries are printed, one of them twice
        ("arab_terms", 64),
        ("census_names", 4275 + 1219),
    ],
)
def test_the_lists_have_their_published_sizes_and_name_their_source(name, rows):
    assert read_lexicon(name).height == rows
    assert (FOLDER / f"{name}.source.md").exists()
