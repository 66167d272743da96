"""The WordNet table by hand, and against NLTK reading the same data."""

import inspect
from pathlib import Path

import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words.wordnet import load

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def wordnet():
    return load()


def test_sizes_are_those_of_wordnet_3_0(wordnet):
    # Princeton's own statistics page for 3.0: 82,115 nouns, 13,767 verbs, 18,156 adjectives, 3,621 adverbs.
    parts = [name.rsplit(".", 2)[1].replace("s", "a") for name in wordnet.names]
    assert {part: parts.count(part) for part in "nvar"} == {"n": 82115, "v": 13767, "a": 18156, "r": 3621}
    assert len(set(wordnet.names)) == 117659


def test_most_common_synset_prefers_the_part_of_speech_then_takes_any(wordnet):
    assert wordnet.most_common("women") == "woman.n.01"
    assert wordnet.most_common("riding", "v") == "ride.v.01"
    assert wordnet.most_common("happy", "n") == "happy.a.01"  # no noun: relaxed
    assert wordnet.most_common("geese") == "goose.n.01"
    assert wordnet.most_common("mobile phone") == "cellular_telephone.n.01"
    assert wordnet.most_common("") is None


@pytest.mark.parametrize(
    "word, synset, why",
    [
        ("pop", "dad.n.01", "section 4.2.2: a pop of colour read as a father"),
        ("controller", "accountant.n.01", "section 3.4: a game controller read as an accountant"),
    ],
)
def test_assumptions_that_fail_most_common_sense(wordnet, word, synset, why):
    assert wordnet.most_common(word) == synset, why
    assert wordnet.is_person(word)


@pytest.mark.parametrize("word, above", [("couple", "group"), ("street", "road")])
def test_assumptions_that_fail_hyponyms(wordnet, word, above):
    # Section 4.1.1: these are not used in captions as WordNet's hierarchy has them.
    assert any(wordnet.is_a(low, high) for low in wordnet.synsets(word, "n") for high in wordnet.synsets(above, "n"))


def test_person_is_found_through_the_hierarchy(wordnet):
    people = ["man", "girls", "surfer", "skier", "crowd", "couple", "people", "children", "bride"]
    things = ["surfboard", "horse", "tie", "street", "group", "bear", "statue"]
    assert [wordnet.is_person(word) for word in people] == [True] * len(people)
    assert [wordnet.is_person(word) for word in things] == [False] * len(things)


def test_asking_for_a_person_is_a_look_up_and_no_call_of_python(wordnet):
    assert inspect.isbuiltin(wordnet.is_person)
    assert list(map(wordnet.is_person, ("woman", "qwxz", "woman"))) == [True, False, True]


def test_identifiers_of_imagenet(wordnet):
    assert wordnet.wnid("person.n.01") == "n00007846"
    assert wordnet.from_wnid("n02084071") == "dog.n.01"
    with pytest.raises(PortrayalError, match="no synset at 'n1'"):
        wordnet.from_wnid("n1")


def test_person_subtree_is_the_one_imagenet_lists(wordnet, shared):
    listed = pl.read_csv(shared("data/lexicons/imagenet_person_synsets.csv.gz"))["wnid"]
    names = {wordnet.from_wnid(wnid) for wnid in listed}
    assert len(names) == 6979
    assert all(wordnet.is_a(name, "person.n.01") for name in names)


def test_unknown_names_say_what_was_meant(wordnet):
    with pytest.raises(PortrayalError, match=r"no synset 'dog.n.99'"):
        wordnet.number("dog.n.99")
    with pytest.raises(PortrayalError, match="no part of speech 'noun'"):
        wordnet.most_common("dog", "noun")


def test_similarity_by_hand(wordnet):
    import math

    # dog - canine - carnivore - feline - cat: 4 steps; the deepest noun lies 19 steps down.
    assert wordnet.similarity("dog.n.01", "cat.n.01") == -math.log(5 / 38)
    assert wordnet.similarity("dog.n.01", "run.v.01") is None
    assert wordnet.similarity("red.s.01", "red.s.01") is None


def test_similarity_equals_nltk_on_a_sample(wordnet):
    # tests/golden/wordnet_similarity_nltk.csv: NLTK 3.10 on WordNet 3.0, 300 random pairs a part of
    # speech, seed 0.
    pairs = pl.read_csv(GOLDEN / "wordnet_similarity_nltk.csv")
    for first, second, theirs in pairs.iter_rows():
        assert wordnet.similarity(first, second) == pytest.approx(theirs, abs=1e-12)
    assert len(pairs) > 600


def test_synsets_equal_nltk_on_a_sample(wordnet):
    # 400 random lemmas and irregular forms; synsets as part of speech and offset, because NLTK numbers
    # satellite
    # adjectives apart from the others and Visual Genome does not.
    for word, part, theirs in pl.read_csv(GOLDEN / "wordnet_synsets_nltk.csv").iter_rows():
        assert [wordnet.wnid(synset) for synset in wordnet.synsets(word, part)] == theirs.split(), (word, part)


@pytest.mark.parametrize(
    ("word", "has", "lacks"),
    [
        ("nurse", {"nurses", "nursing", "nursed"}, {"nursery"}),
        ("policies", {"policy"}, {"police"}),
        ("wives", {"wife"}, {"wire"}),
        ("firemen", {"fireman"}, {"fire"}),
        ("children", {"child"}, {"childish"}),
        ("stopped", {"stop", "stopping", "stops"}, {"stove"}),
        ("boxes", {"box"}, {"boxer"}),
        ("news", set(), {"new"}),
        ("king", {"kings"}, {"k"}),
        ("crisis", {"crises"}, {"crisi"}),
        ("taught", {"teach", "teaching"}, {"tea"}),
        ("dying", {"die", "died"}, {"dy"}),
        ("united", {"unite", "uniting"}, {"unit", "units"}),
        ("matrices", {"matrix"}, {"mattress"}),
        ("seeking", {"seek", "sought"}, {"see"}),
        ("qwxz", {"qwxz"}, {"qwxzs"}),
    ],
)
def test_inflected_forms(wordnet, word, has, lacks):
    assert has <= wordnet.inflected(word)
    assert not lacks & wordnet.inflected(word)


def test_inflected_forms_are_the_words_that_share_a_base_form(wordnet):
    # The other way round, without endings or exceptions: two words belong together when their base forms meet.
    words = read_lexicon("gender_specific")["word"].str.to_lowercase().unique().sort().to_list()
    bases = {word: {(part, base) for part in "nv" for base in wordnet.lemmas_of(word, part)} for word in words}
    for word in words:
        together = {other for other in words if bases[word] & bases[other]} | {word}
        assert wordnet.inflected(word) & set(words) == together
