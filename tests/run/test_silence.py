"""Unanswered questions, counted by hand."""

from __future__ import annotations

import polars as pl
import pytest
from scipy import stats

from portrayal.run.silence import measure_silence, silent_in, silent_systems, with_counts
from portrayal.study.audit import groups_by
from portrayal.tables import results


def answers(statuses: dict[str, str], system: str = "a") -> pl.DataFrame:
    return pl.DataFrame(
        {"system": system, "stimulus": list(statuses), "repeat": 0, "status": list(statuses.values())},
        schema_overrides={"repeat": pl.Int64},
    )


def people(*groups: str, each: int = 10) -> pl.DataFrame:
    names = [(f"{group}{place}", group) for group in groups for place in range(each)]
    return pl.DataFrame(names, schema=["stimulus", "gender"], orient="row")


def silence(statuses: dict[str, str], stimuli: pl.DataFrame) -> pl.DataFrame:
    return measure_silence(answers(statuses), groups_by(stimuli, ["gender"]), "contexts")


def test_everything_answered_is_one_row() -> None:
    shown = people("woman", "man")
    table = silence(dict.fromkeys(shown["stimulus"], "answered"), shown)
    assert table.select("measure", "value", "n", "n_answered", "n_refused").rows() == [("answered", 1.0, 20, 20, 0)]


def test_shares_are_by_status_and_group_and_the_worst_served_group_is_compared() -> None:
    shown = people("woman", "man", each=20)
    statuses = {
        name: "refused" if name.startswith("woman") and int(name[5:]) < 10 else "answered" for name in shown["stimulus"]
    }
    table = silence(statuses, shown)
    assert table.filter(pl.col("measure") == "unanswered").select("status", "axis", "group", "value").rows() == [
        ("refused", None, None, 0.25), (None, "gender", "woman", 0.5), (None, "gender", "man", 0.0),
    ]  # fmt: skip
    gap = table.filter(pl.col("measure") == "unanswered_difference").row(0, named=True)
    assert (gap["group"], gap["versus"], gap["value"], gap["n"]) == ("woman", "man", 0.5, 40)
    assert gap["p"] < 0.001
    assert gap["low"] > 0.2  # Newcombe's interval of 10 of 20 against 0 of 20 starts at .26


def test_of_several_groups_the_worst_is_compared_with_the_others_and_all_are_tested() -> None:
    shown = people("woman", "man", "nonbinary", "agender", each=12)
    statuses = {name: "empty" if name.startswith("nonbinary") else "answered" for name in shown["stimulus"]}
    gap = silence(statuses, shown).filter(pl.col("measure") == "unanswered_difference").row(0, named=True)
    assert (gap["group"], gap["versus"], gap["status"], gap["value"]) == ("nonbinary", "the others", "empty", 1.0)
    assert gap["p"] < 0.001


def test_one_person_in_several_places_is_one_unit() -> None:
    # Two people, eight places: whoever is refused is refused everywhere, so places do not differ and two people are no test.
    shown = pl.DataFrame(
        [(f"{person}{place}", str(place), person) for person in "xy" for place in range(8)],
        schema=["stimulus", "place", "person"], orient="row",
    )  # fmt: skip
    statuses = {name: "refused" if name[0] == "x" else "answered" for name in shown["stimulus"]}
    table = measure_silence(answers(statuses), groups_by(shown, ["place"], "person"), "contexts")
    gap = table.filter(pl.col("measure") == "unanswered_difference").row(0, named=True)
    assert gap["p"] is None
    assert gap["value"] == 0.0


@pytest.mark.parametrize(
    ("statuses", "reason"),
    [
        (["refused"] * 20, "it answered none of 20 questions"),
        (["answered"] + ["failed"] * 19, "it answered 1 of 20 questions"),
        (["planned"] * 20, "none of its questions has been asked"),
    ],
)
def test_a_system_that_answers_almost_nothing_is_named_with_the_reason(statuses: list[str], reason: str) -> None:
    shown = people("woman", "man")
    given = answers(dict(zip(shown["stimulus"], statuses, strict=True)))
    assert silent_systems(given) == {"a": reason}
    table = measure_silence(given, groups_by(shown, ["gender"]), "contexts")
    assert silent_in(table) == {"a"}
    assert table["reason"][0] == reason


def test_questions_not_asked_yet_are_no_silence() -> None:
    shown = people("woman", "man")
    statuses = {name: "planned" if name.startswith("woman") else "answered" for name in shown["stimulus"]}
    table = silence(statuses, shown)
    assert table.select("measure", "value", "n", "n_missing").rows() == [("answered", 1.0, 10, 10)]


def test_unknown_questions_were_asked_and_are_compared_by_group_with_their_bound() -> None:
    shown = people("woman", "man", each=12)
    statuses = {name: "unknown" if name.startswith("woman") else "answered" for name in shown["stimulus"]}
    table = silence(statuses, shown)
    assert table.select("measure", "value", "n", "n_missing").row(0) == ("answered", 0.5, 24, 0)
    gap = table.filter(measure="unanswered_difference").row(0, named=True)
    assert (gap["group"], gap["status"], gap["value"]) == ("woman", "unknown", 1.0) and gap["p"] < 0.001
    assert gap["note"] == "12 questions unknown: were all of them answered, the difference would be 0.0%"
    assert silent_systems(answers(dict.fromkeys(shown["stimulus"], "unknown"))) == {
        "a": "it answered none of 24 questions"
    }


def test_a_place_that_always_fails_has_a_p_far_below_what_can_be_drawn() -> None:
    # 9,999 draws give no p under .0001, which Holm over 530 tests turns into .053.
    shown = pl.DataFrame(
        [(f"{person} {place}", str(place), str(person)) for person in range(24) for place in range(8)],
        schema=["stimulus", "place", "person"], orient="row",
    )  # fmt: skip
    statuses = {name: "failed" if name.endswith(" 3") else "answered" for name in shown["stimulus"]}
    table = measure_silence(answers(statuses), groups_by(shown, ["place"], "person"), "contexts")
    gap = table.filter(measure="unanswered_difference").row(0, named=True)
    assert gap["group"] == "3" and gap["p"] == pytest.approx(8 * 8.0**-24)  # eight places, each with this chance


def test_a_question_with_many_rows_counts_once_and_rows_get_their_systems_counts() -> None:
    many = pl.concat([answers({"p": "answered"}), answers({"p": "answered", "q": "filtered"})])
    table = with_counts(
        results([{"system": "a", "measure": "m", "value": 1.0, "n": 1}], facets=(), audit="contexts"), many
    )
    assert table.select("n_answered", "n_refused").row(0) == (1, 1)


def seen_twice(people: int, lost: int) -> pl.DataFrame:
    """Return the difference for people seen at both ends of an axis, of whom some are refused at the high one."""
    shown = [(f"{person} {end}", end, f"{person}") for person in range(people) for end in ("low", "high")]
    statuses = {name: "refused" if end == "high" and int(person) < lost else "answered" for name, end, person in shown}
    groups = pl.DataFrame(
        [(name, "the cue", end, person) for name, end, person in shown],
        schema=["stimulus", "axis", "group", "unit"], orient="row",
    )  # fmt: skip
    return measure_silence(answers(statuses), groups, "counterfactuals")


def test_somebody_seen_at_both_ends_counts_once_and_is_their_own_comparison() -> None:
    gap = seen_twice(12, 9).filter(pl.col("measure") == "unanswered_difference").row(0, named=True)
    assert (gap["group"], gap["versus"], gap["value"], gap["n"]) == ("high", "low", 0.75, 12)
    # Nine differences of 1 and three of 0: squares 9 x .25^2 + 3 x .75^2 = 2.25, and .75^2 for one person more without an effect.
    # The error is sqrt(12 / 11 x 2.8125) / 12 = .14597, t(11) = 2.20099.
    assert gap["low"] == pytest.approx(0.75 - 2.20099 * 0.14597, abs=5e-5)
    assert gap["high"] == 1.0
    assert gap["p"] < 0.01


def test_an_axis_on_which_nothing_was_lost_has_no_rows() -> None:
    statuses = {"a": "answered", "b": "answered", "c": "failed"}
    groups = pl.DataFrame({"stimulus": ["a", "b"], "axis": "gender", "group": ["woman", "man"], "unit": ["a", "b"]})
    table = measure_silence(answers(statuses), groups, "contexts")
    assert table["measure"].to_list() == ["answered", "unanswered", "unanswered_level"]


def test_an_empty_list_is_an_answer_and_an_empty_caption_is_none() -> None:
    statuses = {f"{place}": "answered" if place < 2 else "empty" for place in range(40)}
    captions, tags = (answers(statuses).with_columns(pl.lit("x").alias(name)) for name in ("caption", "tag"))
    assert silent_systems(captions) == {"a": "it answered 2 of 40 questions"}
    assert silent_systems(tags) == {}
    nothing = tags.with_columns(status=pl.lit("empty"))
    assert silent_systems(nothing) == {"a": "it answered none of 40 questions"}


def test_an_axis_that_lost_nothing_has_no_test() -> None:
    first, second = people("woman", "man"), people("old", "young").rename({"gender": "age"})
    statuses = dict.fromkeys([*first["stimulus"], *second["stimulus"]], "answered") | {"woman0": "refused"}
    groups = pl.concat([groups_by(first, ["gender"]), groups_by(second, ["age"])])
    table = measure_silence(answers(statuses), groups, "contexts")
    assert table.filter(pl.col("measure") == "unanswered_difference")["axis"].to_list() == ["gender"]


def level(statuses: dict[str, str], unit: str = "stimulus", tolerance: float = 0.1) -> dict:
    shown = people("woman", "man", each=len(statuses) // 2).with_columns(person=pl.lit("the same"))
    named = dict(zip(shown["stimulus"], statuses.values(), strict=True))
    table = measure_silence(answers(named), groups_by(shown, ["gender"], unit), "contexts", tolerance=tolerance)
    return table.filter(measure="unanswered_level").row(0, named=True)


def test_a_level_of_silence_is_tested_against_the_tolerance() -> None:
    statuses = {str(place): "refused" if place % 5 < 2 else "answered" for place in range(40)}
    row = level(statuses)
    assert (row["value"], row["null"], row["status"], row["n"]) == (0.4, 0.1, "refused", 40)
    assert row["p"] == pytest.approx(float(stats.binom.sf(15, 40, 0.1)))
    assert level(statuses, tolerance=0.5)["p"] > 0.5
    both = {name: "unknown" if status == "refused" and int(name) % 2 else status for name, status in statuses.items()}
    assert (level(both)["value"], level(both)["status"]) == (0.4, None)  # unknown was asked and not answered


def test_one_person_whose_questions_are_refused_is_one_unit_of_the_level() -> None:
    # Two hundred questions about ten people, of whom one is refused everywhere: a tenth of questions, and one person.
    shown = [(f"{person} {place}", str(person)) for person in range(10) for place in range(20)]
    groups = pl.DataFrame({"stimulus": [name for name, _ in shown], "axis": "gender", "group": "woman",
                           "unit": [person for _, person in shown]})  # fmt: skip
    statuses = {name: "refused" if person == "3" else "answered" for name, person in shown}
    row = measure_silence(answers(statuses), groups, "contexts", tolerance=0.05).filter(measure="unanswered_level")
    assert row["value"][0] == 0.1 and row["p"][0] > 0.1 > stats.binom.sf(19, 200, 0.05)
