"""The association test against phantoms, 200 runs a condition, within bands wide enough for so few."""

from __future__ import annotations

import numpy as np
import pytest
from scripts.calibration_pages import BEGIN, END, main, markdown, rewrite

from portrayal.audits.associations.calibration import NOISE
from portrayal.audits.associations.calibration import calibrate as measures
from portrayal.errors import PortrayalError
from portrayal.study.calibration import Calibration

RUNS = 200


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return measures(RUNS, seed=0)


def test_false_alarms(calibration: Calibration) -> None:
    # 200 runs, five times as many tests a null condition: the error of each share is 0.7%, the band four of them.
    for row in calibration.conditions:
        if row["false_alarm"] is not None:
            assert row["tests"] == 1000
            assert 0.022 <= row["false_alarm"] <= 0.078, row
    null = [row["false_alarm"] for row in calibration.conditions if row["false_alarm"] is not None]
    assert 0.035 <= np.mean(null) <= 0.065


def test_repeated_photographs_are_no_replicates(calibration: Calibration) -> None:
    # Ten people twice on both sides, each with a difference of her own: pictures that change sides inside a person gave false
    # alarms of 10 to 33%.
    sobem = [row for row in calibration.conditions if row["design"] == "SOBEM"]
    assert {row["associations"] for row in sobem} == set(NOISE)
    for row in sobem:
        assert 0.022 <= row["false_alarm"] <= 0.078
        assert row["coverage"] >= 0.90


def test_coverage(calibration: Calibration) -> None:
    # 1.5% is the error of a coverage of 95% over 200 runs; the band is three of them below and above.
    held = [row for row in calibration.conditions if row["associations"] == "normal" and row["d"] in (0, 0.9)]
    for row in held:
        assert 0.90 <= row["coverage"] <= 1.0, row
    assert 0.93 <= calibration.coverage <= 0.975
    # The headline leaves no row out.
    assert calibration.coverage == pytest.approx(np.mean([row["coverage"] for row in calibration.conditions]))


def test_intervals_narrow_with_more_targets(calibration: Calibration) -> None:
    grid = [row for row in calibration.conditions if row["design"] == "independent" and row["d"] == 0.9]
    widths = {row["n_x"]: row["width"] for row in grid if row["associations"] == "normal"}
    assert widths[8] > widths[12] > widths[20] > widths[25]


def test_power(calibration: Calibration) -> None:
    assert 0.6 <= calibration.power <= 0.9  # a t-test has 76% for d = 0.9 at 12 + 12
    large = [row["power"] for row in calibration.conditions if row["d"] == 1.7 and row["power"] is not None]
    assert np.min(large) > 0.95


def test_the_regions_asked_for_are_printed(calibration: Calibration) -> None:
    cells = {(row["n_x"], row["d"]) for row in calibration.conditions if row["design"] == "independent"}
    assert {(n, d) for n in (8, 12, 20, 25) for d in (0.0, 0.9, 1.7)} <= cells
    assert calibration.to_dict()["runs"] == RUNS


def test_the_seed_makes_it_repeatable() -> None:
    assert measures(3, seed=1) == measures(3, seed=1)


def test_pages_are_rewritten_between_the_comments(tmp_path, calibration: Calibration) -> None:
    page = tmp_path / "associations.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    rewrite(page, markdown(calibration))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "200 runs a condition, seed 0. False alarms at 5%" in text
    assert text.count("\n| independent |") >= 12
    page.write_text("nothing to replace")
    with pytest.raises(PortrayalError, match="lacks the lines"):
        rewrite(page, "")


def test_a_missing_page_is_one_line(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "2", "--stem", "associations", "--docs", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("no page")
