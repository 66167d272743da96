"""Vector files: what is kept of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.vectors.files import _mapped, read_vectors


def test_one_array_a_word_may_stand_on_its_side_and_is_a_vector(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", king=[1.0, 2.0], queen=[[3.0, 4.0]], car=[[5], [6]])
    found = read_vectors(tmp_path / "a.npz")
    assert {word: vector.tolist() for word, vector in found.items()} == {"king": [1, 2], "queen": [3, 4], "car": [5, 6]}


@pytest.mark.parametrize("array", [np.array(1.0), np.ones((2, 2)), np.array(["a", "b"])])
def test_a_number_a_table_or_text_is_no_vector(tmp_path: Path, array: np.ndarray) -> None:
    np.savez(tmp_path / "a.npz", king=array)
    with pytest.raises(PortrayalError, match="'king' is an array of shape .* not a vector"):
        read_vectors(tmp_path / "a.npz")


def test_the_first_vector_of_a_word_wins_and_only_the_wanted_are_kept(tmp_path: Path) -> None:
    words, vectors = ["a", "b", "a"], np.array([[1.0, 1], [2, 2], [3, 3]])
    np.savez(tmp_path / "a.npz", words=words, vectors=vectors)
    assert read_vectors(tmp_path / "a.npz")["a"].tolist() == [1, 1]
    assert set(read_vectors(tmp_path / "a.npz", ["b", "c"])) == {"b"}
    (tmp_path / "a.txt").write_text("3 2\na 1 1\nb 2 2\na 3 3\n")
    assert {word: vector.tolist() for word, vector in read_vectors(tmp_path / "a.txt").items()} == {
        "a": [1, 1],
        "b": [2, 2],
    }


@pytest.mark.parametrize("header", [b"2\n", b"2 two\n", b"2 0\n", b"1 2 3\n"])
def test_a_binary_file_begins_with_count_and_width(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(header + b"king " + np.ones(2, "<f4").tobytes())
    with pytest.raises(PortrayalError, match="its first line is not the number of words and the width"):
        read_vectors(tmp_path / "a.bin")


def test_a_binary_file_is_read_to_its_last_word_and_no_further(tmp_path: Path) -> None:
    first, second = np.array([1, 2], "<f4"), np.array([3, 4], "<f4")
    raw = b"2 2\nking " + first.tobytes() + b"\nqueen " + second.tobytes()
    (tmp_path / "a.bin").write_bytes(raw)
    assert {word: vector.tolist() for word, vector in read_vectors(tmp_path / "a.bin").items()} == {
        "king": [1, 2],
        "queen": [3, 4],
    }
    (tmp_path / "b.bin").write_bytes(raw[:-1])
    with pytest.raises(PortrayalError, match="it ends early, in the vector of 'queen'"):
        read_vectors(tmp_path / "b.bin")


def test_a_binary_file_is_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portrayal.text.vectors.files.CHUNK", 7)
    rows = np.arange(12, dtype="<f4").reshape(4, 3)
    words = ["a", "longer than a chunk".replace(" ", "_"), "c", "d"]
    raw = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True))
    (tmp_path / "a.bin").write_bytes(b"4 3\n" + raw)
    found = read_vectors(tmp_path / "a.bin", ["c", words[1]])
    assert {word: vector.tolist() for word, vector in found.items()} == {words[1]: [3, 4, 5], "c": [6, 7, 8]}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_unpacked_npz_file_is_mapped_and_a_packed_one_read(tmp_path: Path, save: object, order: str) -> None:
    vectors = np.asarray(np.arange(6.0).reshape(3, 2), order=order)
    save(tmp_path / "a.npz", words=["a", "b", "c"], vectors=vectors)
    assert isinstance(_mapped(tmp_path / "a.npz", "vectors.npy"), np.memmap) == (save is np.savez)
    assert read_vectors(tmp_path / "a.npz", ["c"])["c"].tolist() == [4, 5]
