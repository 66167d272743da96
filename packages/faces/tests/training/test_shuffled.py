"""A person's test of strips: half are shuffled, those in order run either way, the key fits the sheets, and answers are counted."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from training.generated.shuffled import KEY, PER_SHEET, SIDE, lay, score, shuffled, straight, strips

from portrayal.pictures.series.manifest import shipped_set

STRIPS = 16


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("strips")
    lay(shipped_set(), out, STRIPS, seed=3)
    return out


@pytest.fixture(scope="module")
def key(laid: Path) -> dict[str, dict]:
    return json.loads((laid / KEY).read_text(encoding="utf-8"))


def test_half_are_shuffled_and_every_cue_has_as_many(key: dict[str, dict]) -> None:
    assert sum(one["in order"] for one in key.values()) == STRIPS // 2
    cues = [one["strip"].split(" ", 1)[1] for one in key.values()]
    assert {cue: cues.count(cue) for cue in cues} == {
        "gender": 4, "race White Black": 4, "race White East Asian": 4, "race Black East Asian": 4
    }  # fmt: skip
    assert not any("placebo" in cue for cue in cues)


def test_orders_are_what_the_key_says(key: dict[str, dict]) -> None:
    for one in key.values():
        rising = sorted(one["order"])
        assert one["in order"] is (one["order"] in (rising, rising[::-1])), one
    # Which end comes first says nothing about who is shuffled.
    assert {one["order"][0] for one in key.values() if one["in order"]} >= {0}
    assert any(one["order"][0] > one["order"][-1] for one in key.values() if one["in order"])


def test_an_order_is_wrong_read_backwards_too() -> None:
    random = np.random.default_rng(0)
    for count in (3, 5, 7):
        right = [list(range(count)), list(range(count))[::-1]]
        assert all(shuffled(count, random) not in right for _ in range(50))
        assert {tuple(straight(count, random)) for _ in range(50)} == set(map(tuple, right))


def test_sheets_show_the_strips_in_the_order_of_the_key(laid: Path, key: dict[str, dict]) -> None:
    every = strips(shipped_set())
    for number in ("1", "8", "13"):  # the left column, the right one, the second sheet
        place = (int(number) - 1) % PER_SHEET
        there = STRIPS - PER_SHEET if int(number) > PER_SHEET else PER_SHEET
        with Image.open(laid / f"sheet{(int(number) - 1) // PER_SHEET + 1}.png") as sheet:
            left = (place // (there // 2)) * (7 * SIDE + 40) + 30
            top = (place % (there // 2)) * (SIDE + 4)
            shown = np.asarray(sheet.crop((left, top, left + SIDE, top + SIDE)))
        first = every[key[number]["strip"]][key[number]["order"][0]]
        with Image.open(first) as picture:
            wanted = np.asarray(picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS))
        assert np.array_equal(shown, wanted)


def test_answers_are_counted_and_those_not_told_are_named(laid: Path, key: dict[str, dict]) -> None:
    right = {number: one["in order"] for number, one in key.items()}
    assert score(laid, right) == "16 of 16 told rightly: 100.0% (80.6% to 100.0%). Not told: none."
    less = {number: said for number, said in right.items() if number != "5"} | {"2": not right["2"]}
    said = score(laid, less)  # an answer that is missing is no right one
    assert said.startswith("14 of 16 told rightly: 87.5%")
    assert f"2: {key['2']['strip']}" in said and f"5: {key['5']['strip']}" in said
