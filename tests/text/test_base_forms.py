"""Parts of speech and base forms asked once a word: the same as spaCy's whole pipeline gives, token by token."""

import json
from pathlib import Path

import pytest

from portrayal.text.captions.parsing import pipeline, plain_words
from portrayal.text.captions.trees import trees

GOLD = Path(__file__).parents[1] / "golden" / "scene_graphs.jsonl"
# Patterns of two tokens: an expletive before 'is', and contractions.
PAIRS = [
    "There is a dog on a bed.",
    "there's two women",
    "Let's eat, he's gonna go.",
    "It ain't a cat.",
    "y'all got ta see this man",
]


@pytest.fixture(scope="module")
def captions():
    return [json.loads(line)["caption"] for line in GOLD.read_text().splitlines()][:120] + PAIRS


def docs(words):
    from spacy.tokens import Doc

    said = (Doc(pipeline().vocab, words=[word.substitute for word in one]) for sentences in words for one in sentences)
    return pipeline().pipe(said)


def each_tree(words):
    return (tree for sentences in trees(pipeline(), words) for tree in sentences)


def test_every_token_is_as_in_the_whole_pipeline(captions):
    words = [plain_words(caption) for caption in captions]
    for tree, expected in zip(each_tree(words), docs(words), strict=True):
        assert [(t.pos_, t.lemma_) for t in tree.tokens] == [(t.pos_, t.lemma_) for t in expected]


def test_a_tree_is_that_of_spacy(captions):
    words = [plain_words(caption) for caption in captions]
    for tree, doc in zip(each_tree(words), docs(words), strict=True):
        for ours, theirs in zip(tree.tokens, doc, strict=True):
            assert (ours.text, ours.lower_, ours.tag_, ours.dep_) == (
                theirs.text,
                theirs.lower_,
                theirs.tag_,
                theirs.dep_,
            )
            assert [t.i for t in (ours.head, *ours.children)] == [t.i for t in (theirs.head, *theirs.children)]
            assert [t.i for t in ours.lefts] == [t.i for t in theirs.lefts]
            assert [t.i for t in ours.ancestors] == [t.i for t in theirs.ancestors]
            assert [t.i for t in ours.sentence] == [t.i for t in theirs.sent]
            assert ours.left_edge == theirs.left_edge.i
