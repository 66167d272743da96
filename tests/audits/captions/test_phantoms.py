"""Phantom captioners: the parser reads what they plant, and each technique finds its own harm and no other."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from scipy import stats

from portrayal.audits.captions.calibration import (
    HEADLINES,
    OPTIONS,
    RATE,
    SCENES,
    is_found,
    measure,
    planted,
    system_rows,
    truth,
    truth_row,
)
from portrayal.audits.captions.measures import group_words
from portrayal.audits.captions.phantom import PHANTOMS, draws, speak
from portrayal.audits.captions.world import WORDINGS, graph, make_scenes, read_scene, text
from portrayal.text.captions.parsing import parse

# Every technique is asked about every phantom, so that at 5% a test would be wrong about one phantom of all in most
# tables. Its level here is 5% over the whole column.
LEVEL = 0.05 / len(PHANTOMS)
TECHNIQUE_OF = {headline.phantom: key for key, headline in HEADLINES.items()}
FINER = replace(OPTIONS, permutations=2999)  # so that six p-values, corrected, can fall below the level


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """One row per phantom: what it planted, the row that recovers it, and whether each technique found something."""
    return pl.DataFrame([_phantom_row(name, seed=0) for name in PHANTOMS], infer_schema_length=None)


def _phantom_row(name: str, seed: int) -> dict[str, object]:
    stages = planted(name, SCENES, RATE, seed)
    outcomes = {key: measure(key, stages, FINER) for key in HEADLINES}
    marks = {key: is_found(key, outcome, LEVEL) for key, outcome in outcomes.items()}
    own = TECHNIQUE_OF.get(name)
    if own is None:
        return {"phantom": name, "planted": None, "value": None, "low": None, "high": None, **marks}
    row = truth_row(own, outcomes[own])
    ends = {end: float(row[end]) for end in ("value", "low", "high")}
    return {"phantom": name, "planted": truth(own), **ends, **marks}


def _found(row: dict) -> list[str]:
    return [key for key in HEADLINES if row[key]]


def test_the_confusion_table_is_a_diagonal(table, capsys) -> None:
    with capsys.disabled():
        print()
        for row in table.iter_rows(named=True):
            print(f"planted: {row['phantom']:35s} found: {', '.join(_found(row)) or 'nothing'}")
    for row in table.iter_rows(named=True):
        expected = TECHNIQUE_OF.get(row["phantom"])
        assert _found(row) == ([expected] if expected else []), row["phantom"]


def test_every_technique_has_its_phantom() -> None:
    assert set(TECHNIQUE_OF) == set(PHANTOMS) - {"nothing", "nothing, evenly careless"}
    assert len(TECHNIQUE_OF) == len(HEADLINES)


def test_what_was_planted_is_recovered_within_its_interval(table, capsys) -> None:
    rows = list(table.drop_nulls("planted").iter_rows(named=True))
    assert len(rows) == len(HEADLINES)
    outside = [row["phantom"] for row in rows if not row["low"] <= row["planted"] <= row["high"]]
    with capsys.disabled():
        print()
        for row in rows:
            held = "within" if row["phantom"] not in outside else "OUTSIDE"
            print(f"{row['phantom']:35s} {row['planted']:7.3f} {held} {row['low']:.3f} to {row['high']:.3f}")
    # Intervals of 95% miss now and then: no more of them than would in 99 tables of 100, and none by far.
    assert len(outside) <= stats.binom.ppf(0.99, len(rows), 0.05)
    for row in rows:
        side = "high" if row["planted"] > row["value"] else "low"
        assert abs(row["planted"] - row["value"]) <= 2 * abs(row[side] - row["value"]), row["phantom"]


def test_a_captioner_that_never_names_a_gender_makes_no_error_and_is_all_neutral_and_omission() -> None:
    outcome = measure("beside every harm: group words", planted("group never named", 200, 0.5, 0), OPTIONS)
    told = {
        (r["quantity"], r["group"]): r["value"]
        for r in system_rows(outcome)
        if r["measure"] == r["quantity"] and not r.get("versus")
    }
    for group in ("female", "male"):
        assert told[group_words.WRONG, group] == told[group_words.RIGHT, group] == 0
        silent = told[group_words.NEUTRAL, group] + told[group_words.OMITTED, group]
        assert silent == pytest.approx(1)
        assert 0.3 < told[group_words.NEUTRAL, group] < 0.7


def test_the_parser_reads_the_phantoms_captions() -> None:
    wrong = {"objects": 0, "attributes": 0, "relations": 0}
    total = 0
    wearing = next(place for place, (named, _) in enumerate(WORDINGS) if "wearing" in named)
    for name, phantom in PHANTOMS.items():
        scenes = make_scenes(12, 0, phantom.world)
        said = [speak(phantom.system, scene, 0.5, draws(name, scene.image)) for scene in scenes]
        written = [text(words, place % len(WORDINGS)) for place, words in enumerate(said)]
        for place, (expected, parsed) in enumerate(zip(map(graph, said), parse(written), strict=True)):
            differ = {kind: set(getattr(expected, kind)) ^ set(getattr(parsed, kind)) for kind in wrong}
            if place % len(WORDINGS) == wearing:
                # It says "wear" for "in", and names the place last, of whatever stands before: nothing else may differ.
                ends = {end for _, _, end in differ.pop("relations")}
                assert ends <= {said[place].worn, said[place].place}, written[place]
            else:
                total += 1
            for kind, apart in differ.items():
                wrong[kind] += bool(apart)
    assert wrong["objects"] == wrong["attributes"] == 0
    assert wrong["relations"] < 0.1 * total  # the parser may hang what is beside on the place


def test_a_scene_comes_back_from_its_content() -> None:
    for scene in make_scenes(5):
        assert read_scene(scene.image, scene.content()) == scene
