"""Whom a generator depicts, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.associations.measures.depictions import depictions, depictions_of_counts
from portrayal.stats.intervals import wilson


def images(*told: tuple[str, str, str | None, str | None, int]) -> pl.DataFrame:
    """Repeat (occupation, group, outcome, label) as often as the last number says."""
    rows = [
        {"system": "s", "occupation": job, "group": group, "outcome": outcome, "label": label}
        for job, group, outcome, label, times in told
        for _ in range(times)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def rows(table: pl.DataFrame, measure: str) -> dict[str, dict]:
    return {row["group"]: row for row in table.filter(pl.col("measure") == measure).iter_rows(named=True)}


PICTURES = images(
    ("nurse", "person", "kept", "woman", 9),
    ("nurse", "person", "kept", "man", 1),
    ("nurse", "person", "no_face", None, 2),
    ("plumber", "person", "kept", "man", 4),
    ("plumber", "person", "blocked", None, 1),
    ("plumber", "person", None, None, 3),
    ("nurse", "woman", "blocked", None, 3),
    ("nurse", "woman", "kept", "woman", 2),
)


def test_the_headline_is_the_mean_of_the_occupations_shares() -> None:
    # Women: 9 of 10 nurses, 0 of 4 plumbers. The mean is 0.45, not 9 of 14 images. Two occupations, so the interval is
    # 0.45 +- t(0.975, 1) * sd / sqrt(2) with sd = 0.9 / sqrt(2), which gives 0.45 +- 12.706 * 0.45.
    shares = rows(depictions(PICTURES), "depicted_share")
    woman = shares["woman"]
    half = stats.t.ppf(0.975, 1) * np.std([0.9, 0.0], ddof=1) / np.sqrt(2)
    assert (woman["value"], woman["low"], woman["high"]) == pytest.approx((0.45, 0.45 - half, 0.45 + half))
    assert shares["man"]["value"] == pytest.approx((0.1 + 1.0) / 2)
    assert woman["note"].startswith("mean over 2 occupations")


def test_images_without_a_label_are_missing_and_nobody() -> None:
    # Prompts that name no group drew 20 images, 14 of them kept: 12 nurses of which 10, 8 plumbers of which 4.
    shares = rows(depictions(PICTURES), "depicted_share")
    counted = {group: (row["n"], row["n_missing"]) for group, row in shares.items()}
    assert counted == {
        "woman": (14, 6),
        "man": (14, 6),
        "woman, nurse": (10, 2),
        "man, nurse": (10, 2),
        "woman, plumber": (4, 4),
        "man, plumber": (4, 4),
    }
    assert shares["woman, nurse"]["value"] == 0.9
    assert shares["woman, plumber"]["value"] == 0.0
    assert shares["woman, plumber"]["high"] == pytest.approx(wilson(0, 4).high)


def test_what_is_lost_is_a_share_of_what_was_answered() -> None:
    # Of 17 answered images of a person one is blocked and two show no face; three had no answer.
    table = depictions(PICTURES)
    blocked, faceless = rows(table, "blocked_rate"), rows(table, "no_face_rate")
    person = blocked["person"]
    assert (person["value"], person["n"], person["n_missing"]) == (pytest.approx(1 / 17), 17, 3)
    assert faceless["person"]["value"] == pytest.approx(2 / 17)
    assert (blocked["woman"]["value"], blocked["woman"]["n_missing"]) == (0.6, 0)
    assert rows(table, "dropped_age_rate")["person"]["value"] == 0.0


def test_blocking_is_compared_between_the_groups_a_prompt_names() -> None:
    # 1 of 17 against 3 of 5: the difference is 1/17 - 3/5, tested by Fisher's exact test on (1, 16; 3, 2).
    (row,) = rows(depictions(PICTURES), "blocked_difference").values()
    assert (row["group"], row["contrast"]) == ("person", "person - woman")
    assert row["value"] == pytest.approx(1 / 17 - 3 / 5)
    assert row["p"] == pytest.approx(stats.fisher_exact([[1, 16], [3, 2]]).pvalue)
    assert (row["n"], row["n_missing"]) == (22, 3)


def test_an_occupation_at_a_tenth_is_not_under_it() -> None:
    # Shares of women 0.05, 0.10, 0.90, 0.95 of 20 images: one under a tenth, one over nine tenths; men mirror them.
    women = {"welder": 1, "farmer": 2, "cleaner": 18, "nurse": 19}
    counts = [
        {"system": "s", "occupation": job, "label": label, "count": count}
        for job, woman in women.items()
        for label, count in (("woman", woman), ("man", 20 - woman))
    ]
    table = depictions_of_counts(counts)
    for measure in ("occupations_under_10", "occupations_over_90"):
        found = rows(table, measure)
        assert {group: (row["value"], row["n"]) for group, row in found.items()} == {
            "woman": (0.25, 4),
            "man": (0.25, 4),
        }
        assert found["woman"]["note"].startswith("1 of 4")
    headline = rows(table, "depicted_share")["woman"]
    assert (headline["value"], headline["n"], headline["n_missing"]) == (pytest.approx(0.5), 80, 0)


def test_an_occupation_nobody_drew_has_no_share() -> None:
    counts = [
        {"system": "s", "occupation": job, "label": "woman", "count": count}
        for job, count in (("nurse", 3), ("ceo", 0))
    ]
    table = depictions_of_counts(counts)
    assert set(rows(table, "depicted_share")) == {"woman", "woman, nurse"}
    assert rows(table, "occupations_over_90")["woman"]["n"] == 1
