"""The captions instrument against its phantoms, a few runs."""

from portrayal.calibration import calibrate
from portrayal.calibration.planted import TESTED


def test_phantoms_without_a_harm_raise_no_alarm_and_planted_harms_are_found() -> None:
    found = calibrate("captions", runs=2, seed=0)
    assert [row["technique"] for row in found.conditions] == list(TESTED)
    assert found.false_alarm <= 1 / 24  # at most one of 24 tests
    assert found.power >= 22 / 24
    assert found.coverage > 0.6
