"""Erasing of person words, against phantoms that plant it at a known rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from portrayal.audits.captions.measures.erasing import TECHNIQUE
from portrayal.audits.captions.measures.erasing_people import PERSON_ABSENT, PERSON_REPLACED
from portrayal.audits.captions.phantom import planted
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, SYSTEM_CAPTIONS, Options

RUNS, SCENES, RATE = 60, 200, 0.5
# Of 60 95% intervals 53 or fewer, and of 60 tests at 5% 8 or more, come about in under 2% of honest instruments.
LEAST_HELD, MOST_ALARMS = 54, 7


def rows_of(phantom: str, quantity: str, seed: int) -> list[Mapping[str, Any]]:
    found = TECHNIQUE.measure(planted(phantom, SCENES, RATE, seed), Options()).rows
    return [
        row
        for row in found
        if (row["quantity"], row["stage"], row["truth"]) == (quantity, SYSTEM_CAPTIONS, HUMAN_LABELS)
    ]


@pytest.mark.parametrize(
    ("phantom", "quantity", "group"),
    [("people not mentioned", PERSON_ABSENT, "darker"), ("group never named", PERSON_REPLACED, "female")],
)
def test_the_planted_rate_lies_within_its_interval(phantom: str, quantity: str, group: str):
    held = 0
    for seed in range(RUNS):
        row = next(r for r in rows_of(phantom, quantity, seed) if r.get("group") == group and not r.get("versus"))
        held += row["low"] <= RATE <= row["high"]
    assert held >= LEAST_HELD


def test_an_evenly_careless_captioner_seldom_raises_an_alarm_between_groups():
    alarms = 0
    for seed in range(RUNS):
        contrasts = [r for r in rows_of("nothing, evenly careless", PERSON_ABSENT, seed) if r.get("versus")]
        assert {r["axis"] for r in contrasts} == {"gender", "skin"}
        skin = next(r for r in contrasts if r["axis"] == "skin")
        alarms += bool(skin["low"] > 0 or skin["high"] < 0)
    assert alarms <= MOST_ALARMS
