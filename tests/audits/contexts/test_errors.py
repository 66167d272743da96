"""Errors by gender, race and their crossing: levels, tables and the test of the worst group."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from audits.contexts.made_up_taggers import evidence_of, study_for
from portrayal.flow import audit_evidence
from portrayal.stats.intervals.shares import share_over
from portrayal.stats.tests.max_t import worst_group


def audited(tagger, each: int = 12, **settings) -> tuple[pl.DataFrame, list[str]]:
    answers = {"t": tagger}
    results, findings = audit_evidence(study_for(answers, **settings), evidence_of(answers, each=each))
    return results, [one.sentence for one in findings]


def names(gender: str) -> list[str]:
    return ["woman" if gender == "female" else "man", "wall", "chair"]


def test_a_tagger_that_calls_every_black_woman_a_man_is_found_and_named() -> None:
    def tagger(person, gender, place, random):
        black_woman = gender == "female" and int(person[6:]) % 2 == 1  # race B
        return names("male" if black_woman else gender)

    results, sentences = audited(tagger)
    rows = results.filter(measure="misgendered_of_group", factor="gender and race")
    shares = dict(rows.select("group", "value").iter_rows())
    assert shares == {"A female": 0.0, "B female": 1.0, "A male": 0.0, "B male": 0.0}
    assert rows["low"].null_count() == 0 and (rows["low"] <= rows["value"]).all()
    scores = dict(results.filter(measure="gender_f1_of_group").select("group", "value").iter_rows())
    assert scores["A female"] == 1 and scores["B female"] == 0
    (worst,) = [one for one in sentences if "for B female people than for the others" in one and "names another" in one]
    assert "By group: B female 100%, A female 0%" in worst
    (level,) = [
        one
        for one in sentences
        if one.startswith("t names another gender than people's own in more than 5% of pictures")
    ]
    assert "25%" in level


def test_a_tagger_that_misgenders_two_of_five_alike_is_a_level_and_no_difference() -> None:
    def tagger(person, gender, place, random):
        other = {"female": "male", "male": "female"}
        return names(other[gender] if random.random() < 0.4 else gender)

    results, sentences = audited(tagger, each=20)
    assert any(one.startswith("t names another gender than people's own in more than 5%") for one in sentences)
    assert set(results.filter(measure="misgendered_worst_group")["decision"]) == {"not found"}


def test_a_tagger_that_names_no_gender_or_the_right_one_misgenders_nobody() -> None:
    for tagger in (lambda *asked: ["wall"], lambda person, gender, place, random: names(gender)):
        results, sentences = audited(tagger)
        assert not any(one.startswith("t names another gender") for one in sentences)
        assert set(results.filter(measure="misgendered_worst_group")["reason"]) == {"it does the same with everybody"}


@pytest.mark.parametrize("groups", [2, 6])
def test_the_worst_of_groups_that_are_alike_is_found_as_rarely_as_promised(groups: int) -> None:
    rng, found = np.random.default_rng(groups), 0
    codes = np.arange(36) % groups
    for _ in range(30):
        worst = worst_group(rng.binomial(4, 0.3, 36) / 4, codes)
        found += worst is not None and worst.p < 0.05
    assert found <= 5  # of 30 at 5%, passed by chance once in 200


def test_a_share_over_a_tolerance_is_the_exact_one_of_people_asked_once() -> None:
    # 3 of 20: P(3 or more of 20 at .05) = .0755; people asked once count as one each, less for their t.
    once = share_over(np.array([1.0] * 3 + [0] * 17), np.ones(20), 0.05)
    assert 0.0755 <= once.p < 0.11
    # Whoever is asked four times and misgendered always or never is one person still.
    again = share_over(np.array([4.0] * 3 + [0] * 17), np.full(20, 4.0), 0.05)
    assert (again.value, again.p) == (once.value, pytest.approx(once.p))


def test_both_sides_of_one_change_are_one_finding() -> None:
    # In one place everybody is called a woman: women are named there more, men less, which is one fact.
    def tagger(person, gender, place, random):
        return names("female" if place == "F1" else gender)

    results, sentences = audited(tagger)
    rows = results.filter(measure="inferred_change", place="Wedding Dress Shop", decision="found")
    assert sorted(rows["inferred"]) == ["feminine", "masculine"]
    told = [
        one
        for one in sentences
        if "Wedding Dress Shop than in pictures of the same people alone" in one and "not" not in one
    ]
    assert len(told) == 1 and told[0].startswith("t sees a feminine person more often in the Wedding Dress Shop")
