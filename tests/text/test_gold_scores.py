"""The gold texts keep their counts, and their scorer counts as its README says."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from text.gold_scores import AXES, FOLDER, WORDS, english, read_gold, score

NAMES = {"objects": "objects", "people": "people", "negated words": "negated", "hedged words": "hedged"}
FAMILIES = ("short", "long", "lists", "chatty", "hedging", "mixed")
ROW = {
    "id": "short-00",
    "text": "Two men, one of them possibly a doctor, without a helmet.",
    "objects": ["man", "doctor/physician"],
    "negated": ["helmet"],
    "hedged": ["doctor"],
    "open": ["day"],
    "layout": ["image"],
    "people": [{"number": 2, "groups": {"gender": "male", "age": "*"}}],
}


def graph(**parts: Any) -> SimpleNamespace:
    """Return what a reader says: nothing, but for the parts given."""
    return SimpleNamespace(**{"objects": (), "negated": (), "hedged": (), "people": (), **parts})


def person(number: int | None, **groups: str) -> SimpleNamespace:
    return SimpleNamespace(number=number, groups=groups, mentions=())


def test_there_are_50_texts_of_each_family_and_halves_by_the_seed() -> None:
    rng = random.Random(35)
    names = {"report": [f"{family}-{n:02}" for family in FAMILIES for n in sorted(rng.sample(range(1, 51), 25))]}
    every = [f"{family}-{n:02}" for family in FAMILIES for n in range(1, 51)]
    names["tune"] = [name for name in every if name not in names["report"]]
    for half, wanted in names.items():
        assert [row["id"] for row in read_gold(half)] == wanted


def test_rows_are_annotated_in_one_form() -> None:
    for row in read_gold("tune") + read_gold("report"):
        assert set(row) == {"id", "family", "language", "text", *WORDS, "open", "layout", "people"}
        assert all(words == sorted(words) for words in [row["open"]]), row["id"]
        assert all(len(set(row[kind])) == len(row[kind]) for kind in WORDS), row["id"]
        assert all(set(person["groups"]) <= set(AXES) for person in row["people"]), row["id"]
        assert row["language"] == "en" or not row["objects"] + row["people"], row["id"]


def test_what_is_read_rightly_scores_one() -> None:
    right = graph(
        objects=("man", "physician", "day"), negated=("helmet",), hedged=("doctor",), people=(person(2, gender="male"),)
    )
    scores = score([ROW], [right])
    assert all(scores[kind].f1 == 1 for kind in (*WORDS, "people"))
    assert not scores["layout"].false


def test_misses_and_false_readings_count() -> None:
    scores = score([ROW], [graph(objects=("man", "helmet", "image", "**"), people=(person(2, gender="female"),))])
    assert (scores["objects"].hits, len(scores["objects"].missed), len(scores["objects"].false)) == (1, 1, 3)
    assert (scores["objects"].precision, scores["objects"].recall) == (0.25, 0.5)
    assert scores["objects"].f1 == 1 / 3  # 2 of 6
    assert [word for _, word in scores["layout"].false] == ["image", "**"]
    assert scores["negated"].f1 == scores["hedged"].f1 == scores["people"].f1 == 0


def test_a_person_matches_by_number_and_every_closed_group() -> None:
    for other, hits in (
        (person(2, gender="male", age="child"), 1),
        (person(2, gender="male", race="black"), 0),
        (person(None, gender="male"), 0),
    ):
        assert score([ROW], [graph(people=(other,))])["people"].hits == hits


def test_whom_a_pronoun_means_may_be_called_a_person() -> None:
    assert not score([ROW], [graph(objects=("man", "doctor", "person"))])["objects"].false


def test_the_readme_has_the_counts() -> None:
    halves = [english(half) for half in ("tune", "report")]
    counts = [
        f"{name} {', '.join(str(sum(len(row[kind]) for row in half)) for half in halves)}"
        for name, kind in NAMES.items()
    ]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"in English and scored {len(halves[0])}, {len(halves[1])}; {'; '.join(counts)}." in readme
