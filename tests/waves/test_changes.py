"""Changes between waves: one population, one test, and nothing found where nothing changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from portrayal.reporting.page.diff import compare
from portrayal.run.silence import measure_silence
from portrayal.study.audit import Evidence, Measured
from portrayal.waves.answers import TOLERANCE, paired_answers
from portrayal.waves.changes import APART, STOPPED, moved
from portrayal.waves.waves import Wave, measure_waves
from waves.made_up import (
    LABELS,
    STUDY,
    a_fifth_by_score,
    a_quarter_shared,
    evidence,
    found,
    measure,
    nobody,
    rates,
    waves,
)


@pytest.fixture(autouse=True)
def measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portrayal.waves.waves.measure_evidence", measure)


def of_label(table: pl.DataFrame, place: int) -> dict[str, object]:
    return table.filter(pl.col("label") == f"label {place}").row(0, named=True)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("refused", [nobody, a_quarter_shared, a_fifth_by_score])
def test_unchanged_waves_show_no_change_and_their_intervals_cover(refused, count: int) -> None:
    seen = rates(refused, pairs=20, count=count)
    # 5.5% of 20 are 1.1; 4 or fewer are seen in 99 of 100 such counts
    assert seen["shown"] <= 4 / 20
    # 3.2 or 6.4 intervals a pair and side, of labels that are independent: 93% less 2 standard errors
    assert min(seen["paired by person"], seen["apart"]) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / (20 * 4 * (count - 1)))


def test_a_change_has_the_sign_of_the_people_in_both_waves() -> None:
    """Everybody rises, and those who scored high are refused: the mean of who is left falls."""

    def the_high(values: np.ndarray, wave: int) -> np.ndarray:
        return (values.mean(axis=1) > np.quantile(values.mean(axis=1), 0.5)) & (wave == 2)

    first, later = (
        evidence(1, 3, refused=the_high, people=40),
        evidence(2, 3, refused=the_high, people=40, everybody=0.8),
    )
    pair = waves(first, later)
    answered = [one.responses.filter(pl.col("status") == "answered") for one in (first, later)]
    mean, mean_later = (one.filter(pl.col("tag") == "label 0")["confidence"].mean() for one in answered)
    table = moved(pair)
    row = of_label(table, 0)
    shared = answered[0].join(answered[1], on=["stimulus", "tag"], suffix="_later").filter(pl.col("tag") == "label 0")
    gaps = (shared["confidence_later"] - shared["confidence"]).to_numpy()
    assert mean_later - mean < gaps.mean()  # people who are not shared would pull it down
    assert row["value"] == pytest.approx(gaps.mean()) == pytest.approx(row["second"] - row["first"])
    assert (row["n"], row["compared"]) == (20, "paired by person")
    assert row["low"] < row["value"] < row["high"] and (row["p"] < 0.05) == (row["low"] > 0)
    apart = of_label(table, 5)  # not handed over by person: the same people all the same
    theirs = answered[0].join(answered[1], on=["stimulus", "tag"], suffix="_later").filter(pl.col("tag") == "label 5")
    assert apart["value"] == pytest.approx((theirs["confidence_later"] - theirs["confidence"]).mean())
    assert (apart["n"], apart["compared"]) == (20, APART)


def test_who_stopped_answering_is_a_sentence_with_its_test() -> None:
    def women(values: np.ndarray, wave: int) -> np.ndarray:
        return (np.arange(len(values)) % 2 == 0) & (wave == 2) & (np.arange(len(values)) > 3)

    pair = waves(evidence(1, 0), evidence(2, 0, refused=women))
    changes = compare(pair)
    row = changes.measures.filter(pl.col("measure") == STOPPED, pl.col("decision") == "found").row(0, named=True)
    assert row["value"] == pytest.approx(10 / 12) and row["p_adjusted"] < 0.05
    stopped = [line for line in changes.lines() if "are not answered in may" in line]
    assert len(stopped) == 1 and stopped[0].startswith(
        "tagger: 10 of 24 questions answered in january are not answered"
    )
    assert any("are more often left without an answer in may than" in line for line in changes.lines())


def test_waves_that_nobody_left_say_nothing_of_it() -> None:
    assert not [line for line in compare(waves(evidence(1, 0), evidence(2, 0))).lines() if "not answered" in line]


def test_answered_is_the_share_that_the_run_itself_says() -> None:
    """Some pictures show nobody; each is a question like those of people who are asked about three times."""
    first = evidence(1, 0, refused=a_fifth_by_score)
    empty = [f"place {place}" for place in range(40)]
    rows = pl.DataFrame(
        {"system": "tagger", "stimulus": empty, "repeat": 0, "status": "refused", "tag": None, "confidence": None}
    )
    stimuli = pl.DataFrame({"stimulus": empty, "hash": empty, "condition": "place", "attribute": "gender"})
    responses = pl.concat([first.responses, rows.cast(dict(first.responses.schema))])
    one = Evidence(pl.concat([first.stimuli, stimuli], how="diagonal"), responses)
    run = measure_silence(
        responses, pl.DataFrame(schema=dict.fromkeys(("stimulus", "axis", "group", "unit"), pl.String)), "x"
    )
    row = moved(waves(one, one)).filter(pl.col("measure") == "answered").row(0, named=True)
    of_run = run.filter(pl.col("measure") == "answered").row(0, named=True)
    assert (row["first"], row["n"], row["counted"]) == (of_run["value"], of_run["n"], "questions")


def test_a_planted_change_is_found_both_ways_and_only_there() -> None:
    pairs = [found(moved(waves(evidence(1, seed), evidence(2, seed, change=3.0)))) for seed in range(5)]
    assert all("raw_slope label 0" in pair for pair in pairs)  # person by person
    assert all("raw_slope label 4" in pair for pair in pairs)  # by two intervals
    assert sum(bool({*pair} - {"raw_slope label 0", "raw_slope label 4"}) for pair in pairs) <= 1


def test_a_level_that_drifts_is_shown_beside_the_family() -> None:
    changes = compare(waves(evidence(1, 0), evidence(2, 0, everybody=3.0)))
    row = of_label(changes.measures, LABELS - 1)
    assert (row["measure"], row["family"], row["decision"]) == ("described", "exploratory", "found")
    line = next(line for line in changes.lines() if line.startswith("level moved: tagger, described, label 7: "))
    assert "24 people" in line and f"(95% interval {row['low']:.2f} to {row['high']:.2f})" in line


def test_the_length_of_answers_is_a_level() -> None:
    first = evidence(1, 0)
    added = first.responses.unique("stimulus", maintain_order=True).with_columns(tag=pl.lit("dress"))
    later = replace(first, responses=pl.concat([first.responses, added]))
    changes = compare(waves(first, later))
    row = changes.measures.filter(pl.col("measure") == "tags per answer").row(0, named=True)
    assert (row["first"], row["second"], row["decision"]) == (LABELS, LABELS + 1, "found")
    distance = changes.measures.filter(pl.col("measure") == "distance_between_answers").row(0, named=True)
    assert distance["value"] == pytest.approx(1 - LABELS / (LABELS + 1)) and distance["low"] is not None


def test_the_third_wave_is_held_against_the_first() -> None:
    table = moved(waves(evidence(1, 0), evidence(2, 0), evidence(3, 0, change=4.0)))
    assert set(table.filter(pl.col("decision") == "found", pl.col("measure") == "raw_slope")["to"]) == {"june"}
    assert set(table["from"]) == {"january"} and set(table["to"]) == {"may", "june"}


def test_two_intervals_by_hand() -> None:
    first, later = waves(evidence(1, 0), evidence(2, 0))
    row = of_label(moved([first, later]), 5)
    one, other = (wave.measured.results.row(5, named=True) for wave in (first, later))
    assert row["value"] == pytest.approx(other["value"] - one["value"])
    lower = np.hypot(other["value"] - other["low"], one["high"] - one["value"])  # the halves that face each other
    assert row["low"] == pytest.approx(row["value"] - lower)


def rescaled(wave: Wave, places: slice = slice(None)) -> Wave:
    """Return a wave whose rows are no means of people's values, over some of the people alone."""
    shares = wave.measured.differences.with_columns(pl.col("difference") * 10).group_by("row", maintain_order=True)
    cut = pl.concat([part[places] for _, part in shares])
    return replace(wave, measured=replace(wave.measured, differences=cut))


def test_an_interval_is_narrowed_by_the_same_people_alone() -> None:
    pair = waves(evidence(1, 0), evidence(2, 0))
    paired = of_label(moved([rescaled(wave) for wave in pair]), 0)
    as_means = of_label(moved(pair), 0)
    assert paired["compared"] == "paired by person"
    assert (paired["low"], paired["high"]) == pytest.approx((as_means["low"], as_means["high"]))
    others = of_label(moved([rescaled(pair[0], slice(0, 18)), rescaled(pair[1], slice(6, 24))]), 0)
    assert others["compared"] == APART and others["high"] - others["low"] > paired["high"] - paired["low"]


def test_a_row_that_is_not_measurable_in_one_wave_could_not_be_tested() -> None:
    first, later = waves(evidence(1, 0), evidence(2, 0, change=4.0))
    broken = later.measured.results.with_columns(decision=pl.lit("not measurable"), reason=pl.lit("it answered none"))
    later = replace(later, measured=replace(later.measured, results=broken))
    table = moved([first, later]).filter(pl.col("measure") == "raw_slope")
    assert set(table["decision"]) == {"not measurable"} and set(table["reason"]) == {"may: it answered none"}
    assert (
        "no measure could be tested: 1 the same in both waves, 7 could not be tested" in compare([first, later]).lines()
    )


def test_the_headline_tells_changed_tested_and_not_tested_apart() -> None:
    pair = waves(evidence(1, 0, people=2), evidence(2, 0, people=2))
    alone = [replace(one, measured=replace(one.measured, results=one.measured.results.head(1))) for one in pair]
    lines = compare(alone).lines()  # two people: the smallest p is .5
    assert not any("no measure moved" in line for line in lines)
    assert "no measure could be tested: 1 the same in both waves, 1 could not be tested" in lines
    beside = "no measure moved beyond noise: 3 changes tested, 1 the same in both waves, 4 could not be tested"
    assert beside in compare(pair).lines()
    same = compare(waves(evidence(1, 0), evidence(1, 0))).lines()
    assert (
        same[0].startswith("tagger: 0 of 24 answers changed") and "no measure changed: 8 the same in both waves" in same
    )


def test_stimuli_are_matched_by_content_when_their_names_change() -> None:
    first, later = evidence(1, 0), evidence(2, 0)
    names = {f"p{person}": f"renamed {person}" for person in range(24)}
    further = later.stimuli.head(1).with_columns(stimulus=pl.lit("new"), hash=pl.lit("new"))
    renamed = Evidence(
        pl.concat([later.stimuli.with_columns(pl.col("stimulus").replace(names)), further]),
        later.responses.with_columns(pl.col("stimulus").replace(names)),
    )
    one, other = waves(first, renamed)
    assert (
        paired_answers(one, other)["stimulus"].to_list() == paired_answers(*waves(first, later))["stimulus"].to_list()
    )


def test_noise_of_arithmetic_is_no_change_of_a_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    study = STUDY.model_copy(update={"audit": "associations"})
    rng = np.random.default_rng(0)
    vectors = rng.normal(0, 1, (16, 64))
    monkeypatch.setattr("portrayal.waves.waves.measure_evidence", lambda study, evidence: Measured(pl.DataFrame()))

    def encoded(values: np.ndarray) -> Evidence:
        names = [f"w{place}" for place in range(len(values))]
        rows = pl.DataFrame({"stimulus": names, "embedding": values.tolist()})
        about = {"system": pl.lit("tagger"), "repeat": pl.lit(0), "status": pl.lit("answered")}
        return Evidence(pl.DataFrame({"stimulus": names, "hash": names}), rows.with_columns(**about))

    noisy = vectors * (1 + 1e-7 * rng.normal(0, 1, vectors.shape))
    other = vectors.copy()
    other[:4] += 0.01 * rng.normal(0, 1, other[:4].shape)
    for values, changed in ((noisy, 0), (other, 4)):
        pair = measure_waves(["a", "b"], [study] * 2, [encoded(vectors), encoded(values)])
        answers = paired_answers(*pair)
        assert answers["changed"].sum() == changed == (answers["distance"] > TOLERANCE).sum()
