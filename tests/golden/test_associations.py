"""Published effect sizes of the Word Embedding Association Test on the published vectors."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from portrayal.audits.associations.measures import eat
from portrayal.text.lexicons import association_test, load, word_list
from portrayal.text.vectors.files import read_vectors

# Caliskan, Bryson, Narayanan (2017), Science 356, 183-186, supplement: word2vec on GoogleNews.
PUBLISHED = {"weat1": 1.54, "weat2": 1.63, "weat6": 1.89, "weat7": 0.97, "weat8": 1.24, "weat9": 1.30}


@pytest.mark.parametrize("test", PUBLISHED)
def test_word2vec_effect_sizes_are_the_published_ones(test: str, shared: Callable[[str], Path]) -> None:
    vectors = read_vectors(shared("data/weat/vectors.txt.gz"))
    sets = [[vectors[word] for word in word_list(association_test(test)[name]) if word in vectors] for name in "xyab"]
    row = eat(*sets).row(0, named=True)
    assert row["value"] == pytest.approx(PUBLISHED[test], abs=0.01)
    assert row["low"] < row["value"] < row["high"]


def test_every_recomputed_value_to_six_digits(shared: Callable[[str], Path]) -> None:
    # data/weat/expected.csv: recomputed beforehand with another implementation, for both ddof.
    vectors = read_vectors(shared("data/weat/vectors.txt.gz"))
    lists = json.loads(shared("data/weat/WEAT.json").read_text())
    for row in csv.DictReader(shared("data/weat/expected.csv").read_text().splitlines()):
        sets = [[vectors[word] for word in lists[row[name]] if word in vectors] for name in "XYAB"]
        assert [len(part) for part in sets] == [int(row[f"found_{name}"]) for name in "XYAB"]
        for ddof in (0, 1):
            found = eat(*sets, ddof=ddof)["value"].item()
            assert found == pytest.approx(float(row[f"computed_d_ddof{ddof}"]), abs=5e-7)


def test_a_perfect_separation_has_the_smallest_exact_p(shared: Callable[[str], Path]) -> None:
    # WEAT 6: every male name lies above every female name, so one of C(16, 8) = 12,870 divisions is as extreme.
    vectors = read_vectors(shared("data/weat/vectors.txt.gz"))
    sets = [[vectors[word] for word in word_list(association_test("weat6")[name])] for name in "xyab"]
    assert eat(*sets)["p"].item() == 1 / 12_870


def test_the_lists_that_ship_are_the_published_ones(shared: Callable[[str], Path]) -> None:
    assert load("weat")["lists"] == json.loads(shared("data/weat/WEAT.json").read_text())
    published = json.loads(shared("published/associations/text_stimuli.json").read_text())
    lists = load("associations_text")["lists"]
    assert lists["prompts"] == published["prompt_templates"]
    assert lists["sex"] == published["profession"]["A_sex"]
    assert lists["no_emotion"] == published["emotion"]["B_no_emotion"]
    for emotion, stimuli in published["emotion"]["A_emotion"].items():
        assert lists[emotion] == stimuli
    for profession in ("science", "medicine", "business"):
        assert lists[profession] == published["profession"][f"B_{profession}"]


def test_sizes_of_the_paper() -> None:
    # Section 4.1: six stimuli in five prompts give 30 for each attribute set.
    prompts = len(word_list("associations_text:prompts"))
    for name in ("emotion_angry", "emotion_sad", "emotion_happy", "profession_science"):
        test = association_test(name)
        assert [prompts * len(word_list(test[side])) for side in "ab"] == [30, 30]
    assert np.array([len(word_list(f"weat:{name}")) for name in ("flowers", "insects")]).tolist() == [25, 25]
