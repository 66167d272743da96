"""Captions ranked by an encoder: by hand on recorded embeddings, in batches, with faults."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

# Directions in a plane, by their angle: a picture at 10 degrees is nearest to 0, then 30, then 60, then 90.
SENTENCES = {"a wall": 0, "an angry woman": 30, "a smiling man": 60, "a tree": 90}
PICTURES = {"first": 10, "second": 80, "between": 45}


def direction(angle: float, length: float = 1.0) -> list[float]:
    return [length * np.cos(np.radians(angle)), length * np.sin(np.radians(angle))]


def write(folder: Path, **further) -> None:
    # Lengths differ on purpose: the cosine knows none.
    vectors = {text: direction(angle, 1 + angle) for text, angle in SENTENCES.items()}
    vectors |= {name: direction(angle, 7.0) for name, angle in PICTURES.items()} | further
    names = np.array(list(vectors))
    np.savez(folder / "v.npz", names=names, embeddings=np.array(list(vectors.values())))
    (folder / "sentences.txt").write_text("\n".join([*SENTENCES, "", "a wall"]))


def opened(folder: Path, **parameters):
    given = {"encoder": "embeddings", "settings": {"path": "v.npz"}, "candidates": "sentences.txt", "captions": 2}
    settings = SystemSettings(name="c", use="ranked_captions", parameters={**given, **parameters})
    return open_system(settings, folder, "captioner")


def asked(system, names):
    async def run():
        try:
            return await system.ask([Question(name, "image", f"{name}.jpg", name) for name in names])
        finally:
            await system.close()

    return asyncio.run(run())


def captions(system, answer) -> list[str]:
    return [row["caption"] for row in read_answer(system, answer)]


def test_the_nearest_sentences_by_hand(tmp_path) -> None:
    write(tmp_path)
    system = opened(tmp_path, captions=3)
    first, second, between = asked(system, ["first", "second", "between"])
    assert captions(system, first) == ["a wall", "an angry woman", "a smiling man"]
    assert captions(system, second) == ["a tree", "a smiling man", "an angry woman"]
    # 45 degrees lies 15 from 30 and from 60, 45 from both others; rounding aside the one listed first goes first.
    assert set(captions(system, between)[:2]) == {"an angry woman", "a smiling man"}


def test_candidates_are_encoded_once_for_all_batches(tmp_path) -> None:
    write(tmp_path)
    system = opened(tmp_path)
    seen = []
    plain = system.encoder.ask

    async def counting(questions):
        seen.append([question.kind for question in questions])
        return await plain(questions)

    system.encoder.ask = counting

    async def run():
        batches = [[Question(name, "image", f"{name}.jpg", name)] for name in PICTURES]
        return await asyncio.gather(*(system.ask(batch) for batch in batches))

    assert len(asyncio.run(run())) == 3
    assert seen.count(["text"] * 4) == 1
    assert seen.count(["image"]) == 3


def test_a_picture_without_embedding_fails_alone(tmp_path) -> None:
    write(tmp_path, dark=[0.0, 0.0])
    first, gone, dark = asked(opened(tmp_path), ["first", "gone", "dark"])
    assert not isinstance(first, Exception)
    assert isinstance(gone, CallFailed)
    assert isinstance(dark, CallFailed)


def test_faults_are_one_line(tmp_path) -> None:
    write(tmp_path)
    with pytest.raises(PortrayalError, match="takes 4 captions of 4 candidates"):
        opened(tmp_path, captions=4)
    with pytest.raises(PortrayalError, match="no candidates at"):
        opened(tmp_path, candidates="gone.txt")
    with pytest.raises(PortrayalError, match="is a captioner. This audit asks an encoder"):
        opened(tmp_path, encoder="transformers", settings={"model": "m"})
    (tmp_path / "sentences.txt").write_text("a wall\na tree\nunheard of")
    with pytest.raises(PortrayalError, match="the candidate 'unheard of' has no embedding"):
        asked(opened(tmp_path), ["first"])


def test_other_sentences_are_another_system(tmp_path) -> None:
    write(tmp_path)
    one = opened(tmp_path).identity
    (tmp_path / "sentences.txt").write_text("a wall\na tree\nan angry woman")
    assert opened(tmp_path).identity != one


def test_emotion_words_of_ranked_captions_without_pictures(tmp_path) -> None:
    """A whole study from recorded embeddings: clothed pictures lie near the sentences of anger."""
    names = [f"{person}_AN2_{condition}_1" for person in range(1, 7) for condition in ("NO", "O")]
    write(tmp_path, **{name: direction(30 if "_NO_" in name else 85) for name in names})
    (tmp_path / "names.txt").write_text("\n".join(names))
    lines = ['name = "s"', 'audit = "associations/emotion_words"', "[[systems]]", 'name = "ranked"']
    lines += ['use = "ranked_captions"', "[systems.parameters]"]
    lines += ['encoder = "embeddings"', 'settings = { path = "v.npz" }', 'candidates = "sentences.txt"']
    lines += ["captions = 2", "[associations]", 'photographs = "names.txt"', "minimum = 1"]
    (tmp_path / "study.toml").write_text("\n".join(lines))
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    rates = table.filter(pl.col("measure") == "emotion_words", pl.col("intensity").is_null())
    by_group = dict(rates.select("group", "value").iter_rows())
    # At 30 degrees the two nearest are those at 30 and 0 (or 60): one of two names anger; at 85 they are 90 and 60.
    assert by_group == {"nonobjectified": 500.0, "objectified": 0.0}
    difference = table.filter(pl.col("measure") == "emotion_word_difference", pl.col("intensity").is_null())
    assert difference["p"].to_list() == [pytest.approx(2 / 64)]  # six people, all one way: 2 of 2^6 patterns
