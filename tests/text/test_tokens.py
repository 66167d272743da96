"""Words, stop lists and the batch tokeniser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.errors import PortrayalError
from portrayal.text.words.tokens import Tokeniser, Vocabulary, stop_words, word_hashes, words


def spelled(tokeniser: Tokeniser, texts: list[str]) -> list[list[str]]:
    ids, borders = tokeniser.encode(texts)
    names = tokeniser.vocabulary.words
    return [[names[place] for place in ids[start:end]] for start, end in pairwise(borders)]


def test_words_are_runs_of_letters_and_digits() -> None:
    assert words("The U.S. nurse's 2 cafés_x “quoted”—done") == [
        "the", "u", "s", "nurse", "s", "2", "cafés", "x", "quoted", "done",
    ]  # fmt: skip


def test_stop_lists_are_named_and_counted() -> None:
    assert len(stop_words()) == 33  # EnglishAnalyzer of Lucene
    assert len(stop_words("snowball")) == 148
    assert stop_words("lucene") < stop_words("snowball")
    assert stop_words("none") == frozenset()
    with pytest.raises(PortrayalError, match="no stop list 'lucen'. Did you mean 'lucene'"):
        stop_words("lucen")


def test_a_stop_list_may_be_the_user_s_own_file(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("The\nabout\n\ncan't\n")
    assert stop_words("plain.txt", tmp_path) == {"the", "about"}  # "can't" is two words here, and matches nothing
    indri = "<parameters><stopper><word>a</word>\n<word> whoever </word></stopper></parameters>"
    (tmp_path / "indri.xml").write_text(indri)
    assert stop_words(str(tmp_path / "indri.xml")) == {"a", "whoever"}
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(PortrayalError, match="empty.txt has no stop words. Expected one word a line"):
        stop_words("empty.txt", tmp_path)
    with pytest.raises(PortrayalError, match="or the path of a file with one word a line"):
        stop_words("missing.txt", tmp_path)


def test_a_batch_gives_each_texts_words_and_leaves_stop_words_out() -> None:
    texts = ["The nurse and the doctor", "", "a THE", "doctor café", "x\ny"]
    assert spelled(Tokeniser(stop_words()), texts) == [["nurse", "doctor"], [], [], ["doctor", "café"], ["x", "y"]]


def test_ids_are_kept_from_batch_to_batch() -> None:
    tokeniser = Tokeniser()
    first, _ = tokeniser.encode(["b a b"])
    second, _ = tokeniser.encode(["c b"])
    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [2, 0]


@settings(max_examples=200)
@given(st.lists(st.text(max_size=40), max_size=6))
def test_the_batch_tokeniser_agrees_with_the_pattern(texts: list[str]) -> None:
    assert spelled(Tokeniser(), texts) == [words(text) for text in texts]


def test_a_words_hash_does_not_depend_on_its_place() -> None:
    data = np.frombuffer(b"nurse in nurse", np.uint8)
    hashes = word_hashes(data, np.array([0, 6, 9]), np.array([5, 8, 14]))
    assert hashes[0] == hashes[2] != hashes[1]


def test_the_vocabulary_grows_and_finds_every_word() -> None:
    generator = np.random.default_rng(0)
    hashes = np.unique(generator.integers(0, 1 << 64, 300_000, dtype=np.uint64))
    vocabulary = Vocabulary()
    for part in np.array_split(hashes, 7):
        assert (vocabulary.find(part) == -1).all()
        vocabulary.add(part, ["w"] * len(part))
    assert vocabulary.find(hashes).tolist() == list(range(len(hashes)))


def test_words_are_found_while_others_are_added() -> None:
    # A thread that looks up meanwhile finds a word's own id or takes it for a new one, whatever is added.
    hashes = np.random.default_rng(1).permutation(np.arange(1, 200_001, dtype=np.uint64)) * np.uint64(
        0x9E3779B97F4A7C2B
    )
    vocabulary, done = Vocabulary(), Event()

    def look() -> int:
        looks = 0
        while not done.is_set() or not looks:
            ids = vocabulary.find(hashes)
            assert ((ids == -1) | (ids == np.arange(len(hashes)))).all()
            looks += 1
        return looks

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        for part in np.array_split(hashes, 400):
            vocabulary.add(part, ["w"] * len(part))
        done.set()
        assert all(one.result() for one in looking)
    assert vocabulary.find(hashes).tolist() == list(range(len(hashes)))


def test_batches_looked_up_ahead_get_the_numbers_of_the_order_of_the_texts() -> None:
    first, second = Tokeniser(["the"]), Tokeniser(["the"])
    batches = [["the nurse", "a Café"], ["café the doctor", ""], ["doctor nurse b"]]
    ahead = [first.look_up(batch) for batch in batches]  # all before a word is known
    assert [first.number(found)[0].tolist() for found in ahead] == [
        second.encode(batch)[0].tolist() for batch in batches
    ]
    assert first.vocabulary.words == second.vocabulary.words == ["the", "nurse", "a", "café", "doctor", "b"]
