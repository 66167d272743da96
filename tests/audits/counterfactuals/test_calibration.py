"""The calibration of the slopes, few runs here; `make calibrate` does a thousand."""

from __future__ import annotations

import numpy as np

from portrayal.audits.counterfactuals.calibration import SETTINGS, Setting, calibrate, phantoms, run_setting


def test_few_runs_hold_what_a_thousand_promise():
    found = calibrate(runs=6, seed=0)
    assert found.false_alarm <= 0.2 and 0.92 <= found.coverage <= 0.98 and found.power > 0.7
    assert [row["condition"] for row in found.conditions] == list(SETTINGS)


def test_a_phantom_has_the_slope_that_was_planted():
    setting = Setting(20000, 4, (0.3, 0.5), 0.5, 1.0)
    present, values, slope = next(phantoms(setting, 1, 0))
    shares = present.mean(axis=0)
    measured = [np.polyfit(values, shares[:, label] / shares[3, label], 1)[0] for label in range(4)]
    np.testing.assert_allclose(measured, slope, atol=0.03)


def test_rare_labels_get_no_interval():
    row = run_setting(Setting(50, 20, (0.02, 0.03), 0.5, 0.0), 2, 0)
    assert row["rare_labels_without_interval"] >= 35
