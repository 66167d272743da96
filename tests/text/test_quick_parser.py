"""Captions parsed together: every tag, head and dependency as spaCy's own, and spaCy asked where two moves are close."""

import json
from pathlib import Path

import numpy as np
import pytest

from portrayal.text.captions import phrase_vectors, quick_parser
from portrayal.text.captions import trees as caption_trees
from portrayal.text.captions.parsing import parse, pipeline, plain_words
from portrayal.text.captions.quick_parser import QuickParser, can_read
from portrayal.text.captions.trees import spacy_parses, trees

GOLD = Path(__file__).parents[1] / "golden" / "scene_graphs.jsonl"


@pytest.fixture(scope="module")
def texts():
    """The gold captions as the parser is shown them; words in any order, so that stacks grow and sentences break; one word."""
    said = [json.loads(line)["caption"] for line in GOLD.read_text().splitlines()]
    shown = [[word.shown for word in plain_words(caption)] for caption in said]
    words = [word for text in shown for word in text]
    generator = np.random.default_rng(5)
    mixed = [generator.choice(words, size).tolist() for size in generator.integers(2, 60, 400)]
    return [*shown, *mixed, ["."], ["dog"], []]


def differing(parses, texts):
    by_spacy = spacy_parses(pipeline(), texts)
    pairs = [(tuple(map(list, parse)), tuple(by)) for parse, (by, _) in zip(parses, by_spacy, strict=True) if parse]
    return [pair for pair in pairs if pair[0] != pair[1]]


def test_every_word_is_tagged_and_joined_as_by_spacy(texts):
    parses = QuickParser(pipeline())(texts)
    assert not differing(parses, texts)
    assert sum(parse is None for parse in parses) < len(texts) / 20


def test_batches_and_what_was_seen_before_change_nothing(texts, monkeypatch):
    whole = QuickParser(pipeline())(texts)
    monkeypatch.setattr(quick_parser, "TOGETHER", 7)
    monkeypatch.setattr(phrase_vectors, "KEPT", 300)
    monkeypatch.setattr(phrase_vectors, "ROWS", 5)
    parser = QuickParser(pipeline())
    in_parts = [parse for start in range(0, len(texts), 50) for parse in parser(texts[start : start + 50])]
    pairs = [(one, other) for one, other in zip(whole, in_parts, strict=True) if one and other]
    assert all(one == other for one, other in pairs) and len(pairs) > 0.9 * len(texts)


def test_without_words_there_is_nothing_to_say():
    (nothing,) = QuickParser(pipeline())([[]])
    assert list(map(list, nothing)) == [[], [], []]
    assert parse(["", "a dog"])[0].objects == ()


def test_close_decisions_are_left_to_spacy(texts, monkeypatch):
    clear = [tree.parse for tree in trees(pipeline(), [plain_words("A man in a hat is riding a horse.")])]
    monkeypatch.setattr(quick_parser, "CLOSE", np.float32(1e6))
    assert QuickParser(pipeline())(texts[:3]) == [None] * 3
    left = [tree.parse for tree in trees(pipeline(), [plain_words("A man in a hat is riding a horse.")])]
    assert left == clear


def test_another_pipeline_is_left_to_spacy(monkeypatch):
    import spacy

    assert can_read(pipeline())
    assert not can_read(spacy.blank("en"))
    before = parse(["A woman rides a brown horse."])
    monkeypatch.setattr(caption_trees, "can_read", lambda pipeline: False)
    caption_trees.quick_parser.cache_clear()
    try:
        assert parse(["A woman rides a brown horse."]) == before
    finally:
        caption_trees.quick_parser.cache_clear()


@pytest.mark.parametrize(
    "change",
    [
        lambda parser: parser.cfg.update(beam_width=4),
        lambda parser: parser.model.attrs.update(unseen_classes={3}),
        lambda parser: parser.model.attrs.update(has_upper=False),
    ],
)
def test_a_parser_built_otherwise_is_not_read(change):
    parser = pipeline().get_pipe("parser")
    cfg, attributes = dict(parser.cfg), dict(parser.model.attrs)
    try:
        change(parser)
        assert not can_read(pipeline())
    finally:
        parser.cfg.update(cfg)
        parser.model.attrs.update(attributes)
    assert can_read(pipeline())


def test_the_words_below_and_sentences_are_those_of_spacy(texts):
    from spacy.tokens import Doc

    captions = [plain_words("A man rides. There is a dog, which he sees in a park on a hill."), plain_words("A dog.")]
    docs = pipeline().pipe(Doc(pipeline().vocab, words=[word.shown for word in words]) for words in captions)
    for tree, doc in zip(trees(pipeline(), captions), docs, strict=True):
        assert [token.left_edge for token in tree.tokens] == [token.left_edge.i for token in doc]
        assert [[t.i for t in token.sentence] for token in tree.tokens] == [[t.i for t in w.sent] for w in doc]
