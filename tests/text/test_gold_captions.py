"""The parser against captions in three versions: what it reads, and whether it reads a woman as it reads a man."""

from __future__ import annotations

from functools import cache

import pytest

from portrayal.text.captions import parsing
from portrayal.text.captions.scene_graph import SceneGraph
from text.gold_captions import KINDS, VERSIONS, read_gold, scores, unnamed

LEAST = {"objects": 0.97, "attributes": 0.92, "relations": 0.92}  # F1 asked for on the held-out half
MOST_DIFFERENT = 0.02  # of sentences whose graph may hang on the person's word
# What else may be said of a person before their noun; the graph gains that attribute and nothing else.
ADJECTIVES = ("black", "white", "asian", "Asian", "African-American", "latino", "muslim", "jewish", "arab", "elderly")
ADJECTIVES += ("young", "blind", "deaf", "disabled", "transgender", "homeless")


@cache
def read(half: str) -> dict[str, list[SceneGraph]]:
    """Return the parser's graphs of every version."""
    return {name: parsing.parse([gold.caption(name) for gold in read_gold(half)]) for name in VERSIONS}


def test_there_are_400_captions_and_no_sentence_is_in_both_halves() -> None:
    halves = [{gold.sentence for gold in read_gold(half)} for half in ("tuning", "held_out")]
    assert [len(half) for half in halves] == [205, 205]
    assert not halves[0] & halves[1]
    assert all("{person}" in s or "{child}" in s or "eople}" in s for half in halves for s in half)


@pytest.mark.parametrize("half", ["tuning", "held_out"])
def test_tuples_of_the_gold_captions(half: str, capsys) -> None:
    gold = read_gold(half)
    true = [row.graph(name) for name in VERSIONS for row in gold]
    found = scores(true, [graph for name in VERSIONS for graph in read(half)[name]])
    with capsys.disabled():
        for kind, (precision, recall, f1) in found.items():
            print(f"\n{half}, {kind}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}", end="")
    for kind, (_, _, f1) in found.items():
        assert f1 >= LEAST[kind], kind


@pytest.mark.parametrize("half", ["tuning", "held_out"])
def test_a_woman_is_read_as_a_man_and_a_person_are(half: str, capsys) -> None:
    versions = zip(*read(half).values(), strict=True)
    different = [len({unnamed(graph) for graph in graphs}) > 1 for graphs in versions]
    with capsys.disabled():
        print(
            f"\n{half}: the graph hangs on the person's word in {sum(different)} of {len(different)} sentences", end=""
        )
    assert sum(different) <= MOST_DIFFERENT * len(different)


def test_no_kind_of_tuple_is_read_better_for_one_version() -> None:
    gold = read_gold("held_out")
    for kind in KINDS:
        each = [scores([g.graph(name) for g in gold], read("held_out")[name])[kind][2] for name in VERSIONS]
        assert max(each) - min(each) <= 0.01, kind


@pytest.mark.parametrize("adjective", ADJECTIVES)
def test_an_adjective_of_the_person_adds_itself_and_changes_nothing_else(adjective: str) -> None:
    rows = [gold for gold in read_gold("tuning") if gold.sentence.startswith("A {person} ")][:60]
    article = "An" if adjective[0] in "aeiouA" else "A"
    plain = parsing.scene_graphs([row.caption("woman") for row in rows])
    told = parsing.scene_graphs([row.caption("woman").replace("A", f"{article} {adjective}", 1) for row in rows])
    more = [SceneGraph(g.objects, (*g.attributes, ("woman", adjective.lower())), g.relations) for g in plain]
    different = [row.sentence for row, a, b in zip(rows, more, told, strict=True) if unnamed(a) != unnamed(b)]
    assert len(different) <= MOST_DIFFERENT * len(rows), different


def test_two_codings_agree(capsys) -> None:
    gold = read_gold("held_out")
    found = scores([row.graph("person") for row in gold], [row.graph("person", 1) for row in gold])
    same = sum(unnamed(row.graph("person")) == unnamed(row.graph("person", 1)) for row in gold)
    with capsys.disabled():
        told = ", ".join(f"{kind} {f1:.3f}" for kind, (_, _, f1) in found.items())
        print(f"\ncodings: {same} of {len(gold)} graphs the same; F1 of one against the other: {told}", end="")
    assert all(f1 > 0.98 for _, _, f1 in found.values())
