"""The further measures of the associations audit against their phantoms, with few runs."""

from portrayal.audits.associations.experiments.calibration import calibrate


def test_false_alarms_power_and_coverage():
    found = calibrate(runs=60)
    assert found.false_alarm <= 0.11
    assert found.power > 0.7
    assert found.coverage > 0.9
    assert {row["measure"] for row in found.conditions} == {
        "emotion_word_difference",
        "emotion_word_ratio",
        "saliency_difference",
        "sexualised_difference",
        "sexualised_rate_corrected",
    }
