"""Whom a generator depicts, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.associations.measures.depictions import depiction_shares, depictions_of_counts
from portrayal.stats.intervals.intervals import wilson


def images(*told: tuple[str, str, str | None, str | None, int]) -> pl.DataFrame:
    """Repeat (occupation, group, outcome, label) as often as the last number says."""
    rows = [
        {"system": "s", "occupation": job, "group": group, "outcome": outcome, "label": label}
        for job, group, outcome, label, times in told
        for _ in range(times)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def rows(table: pl.DataFrame, measure: str, occupation: str | None = None) -> dict[str, dict]:
    """Return the rows of a measure by group: over all occupations, or of one."""
    of = pl.col("occupation").eq_missing(pl.lit(occupation))
    chosen = table.filter(pl.col("measure") == measure, of)
    return {row["group"]: row for row in chosen.iter_rows(named=True)}


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
    # Women: 9 of 10 nurses, 0 of 4 plumbers. The mean is 0.45, not 9 of 14 images. Two occupations whose shares deviate by
    # 0.45 have a variance of 2 * 2 * (0.45 / 2)^2 = 0.2025, that of 0.45 * 0.55 / 0.2025 = 1.2222 single images: Wilson's
    # interval of so many, with t(0.975, 1) = 12.706, which stays between 0 and 1. A t interval went from -5.3 to 6.2.
    shares = rows(depiction_shares(PICTURES), "depicted_share")
    woman = shares["woman"]
    n, z = 0.45 * 0.55 / 0.2025, stats.t.ppf(0.975, 1)
    centre, half = (0.45 + z**2 / (2 * n)), z * np.sqrt(0.2025 + z**2 / (4 * n**2))
    ends = [(centre + side * half) / (1 + z**2 / n) for side in (-1, 1)]
    assert (woman["value"], woman["low"], woman["high"]) == pytest.approx((0.45, *ends))
    assert 0 <= woman["low"] < woman["high"] <= 1
    assert shares["man"]["value"] == pytest.approx((0.1 + 1.0) / 2)
    assert woman["note"].startswith("mean over 2 occupations")


def test_images_without_a_label_are_missing_and_nobody() -> None:
    # Prompts that name no group drew 20 images, 14 of them kept: 12 nurses of which 10, 8 plumbers of which 4.
    table = depiction_shares(PICTURES)
    for job, counted in ((None, (14, 6)), ("nurse", (10, 2)), ("plumber", (4, 4))):
        shares = rows(table, "depicted_share", job)
        assert {group: (row["n"], row["n_missing"]) for group, row in shares.items()} == {
            "woman": counted,
            "man": counted,
        }
    assert rows(table, "depicted_share", "nurse")["woman"]["value"] == 0.9
    plumber = rows(table, "depicted_share", "plumber")["woman"]
    assert (plumber["value"], plumber["high"]) == (0.0, pytest.approx(wilson(0, 4).high))


def test_what_is_lost_is_a_share_of_what_was_answered() -> None:
    # Of 17 answered images of a person one is blocked and two show no face; three had no answer.
    table = depiction_shares(PICTURES)
    blocked, faceless = rows(table, "blocked_rate"), rows(table, "no_face_rate")
    person = blocked["person"]
    assert (person["value"], person["n"], person["n_missing"]) == (pytest.approx(1 / 17), 17, 3)
    assert faceless["person"]["value"] == pytest.approx(2 / 17)
    assert (blocked["woman"]["value"], blocked["woman"]["n_missing"]) == (0.6, 0)
    assert rows(table, "dropped_age_rate")["person"]["value"] == 0.0


def test_each_occupation_is_compared_with_the_others() -> None:
    # Women: 9 of 10 nurses against 0 of 4 plumbers, Fisher's exact test on (9, 1; 0, 4); plumbers are the mirror.
    table = depiction_shares(PICTURES)
    nurse = rows(table, "depicted_difference", "nurse")
    assert nurse["man"]["value"] == pytest.approx(-0.9)
    assert nurse["man"]["p"] == pytest.approx(stats.fisher_exact([[1, 9], [4, 0]]).pvalue)
    assert rows(table, "depicted_difference", "plumber")["man"]["value"] == pytest.approx(0.9)
    # Of two groups the one seen more often (9 women, 5 men) repeats the other's test: it is outside the family.
    assert nurse["woman"]["value"] == pytest.approx(0.9)
    assert (nurse["woman"]["family"], nurse["man"]["family"]) == ("exploratory", None)


def test_groups_are_data() -> None:
    # Any words, any number of groups, and another word for nobody in particular.
    named = images(
        ("nurse", "human", "kept", "elder", 3),
        ("nurse", "human", "kept", "giant", 2),
        ("nurse", "human", "kept", "elf", 1),
        ("nurse", "elf", "blocked", None, 2),
        ("chef", "human", "kept", "elf", 4),
    )
    table = depiction_shares(named, neutral="human")
    # Elves: 1 of 6 nurses and 4 of 4 chefs.
    assert rows(table, "depicted_share")["elf"]["value"] == pytest.approx((1 / 6 + 1) / 2)
    tested = table.filter(pl.col("measure") == "depicted_difference")
    assert set(tested["group"]) == {"elder", "giant", "elf"}
    assert tested["family"].null_count() == 6  # of three groups none is another's mirror
    assert rows(table, "blocked_rate")["elf"]["value"] == 1.0


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
    assert set(table.filter(pl.col("measure") == "depicted_share")["occupation"]) == {None, "nurse"}
    assert rows(table, "occupations_over_90")["woman"]["n"] == 1
