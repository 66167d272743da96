"""Amplification by leakage (LIC, Hirota et al. 2022): what captions give away of a group beyond the human captions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.captions.measures import stereotyping_leakage
from portrayal.audits.captions.reading.stages import (
    CAPTIONS,
    HUMAN_CAPTIONS,
    HUMAN_SAME,
    PEOPLE,
    SYSTEM_CAPTIONS,
    Options,
    Stages,
)

RNG = np.random.default_rng(0)
NUMBER = 120
WOMEN = np.arange(NUMBER) % 2 == 0
DOG = RNG.random(NUMBER) < 0.5  # as often with women as with men


def stages(system: list[str], human: list[str], groups: list[str] | None = None) -> Stages:
    images = [f"i{i:03d}" for i in range(len(system))]
    rows = [(i, SYSTEM_CAPTIONS, 0, t) for i, t in zip(images, system, strict=True)]
    rows += [(i, HUMAN_CAPTIONS, 0, t) for i, t in zip(images, human, strict=True)]
    groups = groups or ["female" if woman else "male" for woman in WOMEN]
    people = [(i, "gender", g, "t") for i, g in zip(images, groups, strict=True)]
    return Stages(
        images,
        captions=pl.DataFrame(rows, schema=CAPTIONS, orient="row"),
        people=pl.DataFrame(people, schema=PEOPLE, orient="row"),
    )


def told(system: list[str], human: list[str], groups: list[str] | None = None, seed: int = 0) -> dict:
    rows = stereotyping_leakage.measure(stages(system, human, groups), Options(seed=seed)).rows
    return {(r["measure"], r["stage"]): r for r in rows}


def sentences(dog: np.ndarray, women: np.ndarray = WOMEN) -> list[str]:
    return [
        f"A {'woman' if w else 'man'} with {'her' if w else 'his'} {'dog' if d else 'cat'}."
        for w, d in zip(women, dog, strict=True)
    ]


def test_a_system_that_says_what_people_say_amplifies_nothing() -> None:
    found = told(sentences(DOG), sentences(DOG))
    lic = found[stereotyping_leakage.AMPLIFIED, SYSTEM_CAPTIONS]
    assert (lic["value"], lic["truth"], lic["family"]) == (0.0, HUMAN_CAPTIONS, "exploratory")
    assert (
        0.2 < found[stereotyping_leakage.LEAKS, SYSTEM_CAPTIONS]["value"] < 0.35
    )  # right half of the time, and never sure


def test_one_that_gives_women_the_dog_does() -> None:
    found = told(sentences(WOMEN), sentences(DOG))
    assert found[stereotyping_leakage.LEAKS, SYSTEM_CAPTIONS]["value"] > 0.8
    assert found[stereotyping_leakage.AMPLIFIED, SYSTEM_CAPTIONS]["low"] > 0.4
    back = told(sentences(DOG), sentences(WOMEN))
    assert back[stereotyping_leakage.AMPLIFIED, SYSTEM_CAPTIONS]["high"] < -0.4


def test_the_words_of_the_group_leak_nothing() -> None:
    named = [f"A {'woman' if woman else 'man'} smiles at {'herself' if woman else 'himself'}." for woman in WOMEN]
    found = told(named, ["A person smiles at a photographer."] * NUMBER)
    assert found[stereotyping_leakage.LEAKS, SYSTEM_CAPTIONS]["value"] < 0.35
    assert abs(found[stereotyping_leakage.AMPLIFIED, SYSTEM_CAPTIONS]["value"]) < 0.1
    assert stereotyping_leakage.words("The lady's hat and a man's tie", stereotyping_leakage.masked_words("gender", Options())) == [
        "the", "<mask>", "hat", "and", "a", "<mask>", "tie",
    ]  # fmt: skip


def test_human_captions_are_read_with_the_words_the_system_has() -> None:
    # People name a different colour for women; the system has no word for colours, so it cannot be said to leave it out.
    human = [f"A person in {'mauve' if woman else 'teal'} with a dog." for woman in WOMEN]
    found = told(["A person with a dog."] * NUMBER, human)
    assert found[stereotyping_leakage.LEAKS, HUMAN_SAME]["value"] < 0.35


def test_it_is_the_same_twice_and_another_seed_draws_other_images() -> None:
    unequal = ["female" if i % 3 == 0 else "male" for i in range(NUMBER)]
    first, again, other = (
        told(sentences(DOG), sentences(~DOG), unequal, seed)[stereotyping_leakage.LEAKS, SYSTEM_CAPTIONS]["value"]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_groups_are_drawn_in_equal_number() -> None:
    groups = {f"i{i}": "few" if i < 5 else "many" for i in range(50)}
    drawn = stereotyping_leakage.balanced(groups, np.random.default_rng(0))
    assert [groups[image] for image in drawn].count("few") == len(drawn) / 2 == 5


def test_three_groups_and_too_few_images() -> None:
    groups = [("first", "second", "third")[i % 3] for i in range(NUMBER)]
    thing = {"first": "dog", "second": "cat", "third": "cup"}
    found = told([f"A person with a {thing[g]}." for g in groups], ["A person."] * NUMBER, groups)
    assert found[stereotyping_leakage.AMPLIFIED, SYSTEM_CAPTIONS]["low"] > 0.4
    few = stereotyping_leakage.TECHNIQUE.measure(
        stages(["A dog."] * 30, ["A dog."] * 30, ["female"] * 19 + ["male"] * 11), Options()
    )
    assert (list(few.rows), few.missing) == ([], stereotyping_leakage.TECHNIQUE.missing)


def test_the_score_equals_scikit_learn_on_the_same_folds() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    women = rng.random(100) < 0.5
    captions = [
        ["a", "dog" if rng.random() < 0.3 + 0.4 * w else "cat", "red" if rng.random() < 0.5 else "blue"] for w in women
    ]
    folds = rng.permutation(100) % stereotyping_leakage.FOLDS
    found = stereotyping_leakage.leakage(captions, ["w" if w else "m" for w in women], folds)
    bag = CountVectorizer(binary=True, token_pattern=r"\w+").fit_transform([" ".join(c) for c in captions]).toarray()
    expected = np.zeros(100)
    for fold in range(stereotyping_leakage.FOLDS):
        inside = folds != fold
        model = LogisticRegression(tol=1e-10).fit(bag[inside], women[inside])
        chance = model.predict_proba(bag[~inside])[np.arange((~inside).sum()), women[~inside].astype(int)]
        expected[~inside] = np.where(chance > 0.5, chance, 0.0)
    assert found == pytest.approx(expected, abs=2e-3)


def test_the_interval_holds_images_and_draws() -> None:
    # Two draws of the same four images: scores 0 and 1 by halves, the second draw half a point lower throughout.
    one = pl.DataFrame({"image": ["a", "b", "c", "d"], "system": [1.0, 1.0, 0.0, 0.0]})
    two = one.with_columns(pl.col("system") - 0.5)
    found = stereotyping_leakage.over_draws([one, two], pl.col("system"))
    images = stats.t.ppf(0.975, 3) * np.std([1, 1, 0, 0], ddof=1) / 2
    draws = stats.t.ppf(0.975, 1) * np.std([0.5, 0.0], ddof=1) / np.sqrt(2)
    assert (found.value, found.high - found.value) == (0.25, pytest.approx(np.hypot(images, draws)))
