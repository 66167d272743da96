"""A table of silences: what is said where answers are missing, refused, empty, unreadable, constant or too few."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

from audits.counterfactuals.made_up_taggers import Tagger, audit_of, check_table
from portrayal.pictures.series.values import steps

FEW = "fewer than 6 people get it more often towards one end than towards the other"
ENDS = "faces made more feminine or more masculine"
ELSEWHERE = "The series were made elsewhere: no manipulation check was done here."


def chance(person: int, attribute: str, value: float) -> list[str]:
    """Give three labels by the toss of a coin."""
    draw = random.Random(f"{person}{attribute}{value:.2f}")
    return ["Face", *(label for label in ("Cook", "Model", "Nurse") if draw.random() < 0.5)]


def strict(person: int, attribute: str, value: float) -> list[str]:
    return ["Nurse"] if value <= 0 else ["Cook"]


LIVE = (
    f"It was not found that live gives a label more often to {ENDS} in 3 tests ('Cook', 'Model' and 'Nurse'). The nearest in "
    "'Cook': change per unit of the cue = 4 percentage points (95% interval −5 to 13, 12 people, adjusted p = .687); an effect of "
    "15 percentage points would have been found in 80 of 100 such audits."
)


@pytest.mark.parametrize(
    ("silence", "told"),
    [("failed", "84 failed"), ("refused", "84 refused"), ("<html>", "84 unreadable")],
)  # fmt: skip
def test_a_dead_system_among_live_ones(silence: list[str] | str, told: str):
    # It sorts first and has no label to tell the types of columns by: this crashed.
    _, sentences = audit_of({"dead": lambda *asked: silence, "live": chance})
    assert sentences == [f"Nothing can be said of dead: it answered none of 84 questions ({told}).", LIVE]


def test_a_classifier_that_always_says_no_claims_nothing():
    _, sentences = audit_of({"empty": lambda *asked: [], "live": chance})
    assert sentences == [
        LIVE,
        f"It was not tested whether empty gives a label more often to {ENDS} (any label): it gave nobody any label.",
    ]


def test_a_system_that_never_answers_alone():
    _, sentences = audit_of({"dead": lambda *asked: "failed"})
    assert sentences == ["Nothing can be said of dead: it answered none of 84 questions (84 failed)."]


def shy(person: int, attribute: str, value: float) -> list[str] | str:
    """Refuse every second person at values of 1 and more, and answer by chance else."""
    return "refused" if value >= 1 and person % 2 else chance(person, attribute, value)


def test_refusing_faces_of_one_end_is_found():
    # Half are refused at 1.33 and 2: .5 x (1.33 + 2) / 12.44 = .134 per unit, and 0 at all other values.
    results, sentences = audit_of({"shy": shy}, people=24)
    assert sentences[0] == (
        "shy refuses more often as a face is made more masculine: change of the share refused per unit of the cue = 13 percentage "
        "points (95% interval 7 to 19, 24 people, adjusted p < .001). Refused: 0% at −2, 0% at the centre and 50% at 2; the other "
        "measures speak only of what was answered."
    )
    assert ["more than 10%" in one for one in sentences if "refuses" in one] == [
        False,
        True,
    ]  # differences, then the level
    refused = results.filter(pl.col("measure") == "refused").select("step", "value", "n").rows()
    assert refused == [(step, 0.0, 24) for step in ("-2", "-1.3", "-0.67", "+0", "+0.67")] + [
        ("+1.3", 0.5, 24),
        ("+2", 0.5, 24),
    ]
    slope = results.filter(pl.col("measure") == "refusal_slope").row(0, named=True)
    assert slope["value"] == pytest.approx(0.5 * (4 / 3 + 2) / (112 / 9)) and slope["family"] == "confirmatory"
    slopes = results.filter(pl.col("measure") == "raw_slope")
    assert set(slopes["n"]) == {12} and set(slopes["n_missing"]) == {12}


def by_step(person: int, attribute: str, value: float) -> list[str] | str:
    """Refuse every second person at values of 1 and more, whatever is varied."""
    return "refused" if value >= 1 and person % 2 else chance(person, attribute, value)


def once(person: int, attribute: str, value: float) -> list[str] | str:
    """Refuse by the step as well, and fail once."""
    return "failed" if (person, value) == (2, -2.0) else by_step(person, attribute, value)


@pytest.mark.parametrize(
    "taggers", [{"steps": by_step}, {"steps": by_step, "dead": lambda *_: "failed"}, {"steps": once}]
)
def test_refusing_by_the_step_shown_is_told_beside_the_placebo_alone(taggers: dict[str, Tagger]) -> None:
    # What another system failed at, or this one once, had its refusals compared again, without a word of the placebo.
    _, sentences = audit_of(taggers, people=24, attributes=("gender", "placebo"))
    told = [sentence for sentence in sentences if sentence.startswith(("steps refuses", "steps leaves"))]
    assert len(told) == 1 and "more than 10% of its questions" in told[0], told  # its level alone
    assert sum("it refuses along a random direction of the face too" in sentence for sentence in sentences) == 1


def test_failing_for_faces_of_one_end_is_found_among_those_not_refused() -> None:
    def both(person: int, attribute: str, value: float) -> list[str] | str:
        lost = "refused" if value <= -2 and person % 4 == 0 else "failed" if value >= 1 and person % 2 else ""
        return lost or chance(person, attribute, value)

    _, sentences = audit_of({"both": both}, people=24)
    # Of faces made more masculine 24 x 3 were shown and 12 x 2 failed; of the others 6 were refused, and the rest answered.
    assert sentences[0].startswith("both refuses more often as a face is made more feminine")
    level, lost = [sentence for sentence in sentences if "Unanswered" in sentence]
    assert level.startswith("both leaves more than 10% of its questions unanswered: 18% (95% interval")
    assert sum("refuses" in sentence for sentence in sentences) == 1
    assert "faces made more masculine more often than faces made more feminine: 33 percentage points" in lost
    assert "Unanswered: made more masculine 33.3% and made more feminine 0.0%" in lost


def test_refusing_those_whose_other_questions_fail_is_not_silent() -> None:
    def both(person: int, attribute: str, value: float) -> list[str] | str:
        lost = "refused" if value < 0 else "failed" if value >= 1 else ""
        return lost if lost and person % 2 else chance(person, attribute, value)

    _, sentences = audit_of({"both": both}, people=24)
    assert (
        f"It was not tested whether both refuses {ENDS} more often: it refused 12 people, none of whom got an answer or a "
        "refusal at every step."
    ) in sentences
    # A third of the faces made more masculine went unanswered, and no other: "it does not vary" is not so.
    assert sum(sentence.endswith("is answered alike in all of them.") for sentence in sentences) == 1


def test_failing_for_faces_of_one_end_is_found():
    def brittle(person: int, attribute: str, value: float) -> list[str] | str:
        return "failed" if value >= 1 and person % 2 else chance(person, attribute, value)

    _, sentences = audit_of({"brittle": brittle}, people=24)
    assert "faces made more masculine more often than faces made more feminine: 33 percentage points" in sentences[0]


def test_refusing_faces_of_the_negative_end_of_one_of_three_pairs_is_found():
    def picky(person: int, attribute: str, value: float, poles: tuple[str, ...]) -> list[str] | str:
        refused = poles == ("Black", "East Asian") and value < 0
        return "refused" if refused else chance(person, attribute, value)

    pairs = [("White", "Black"), ("White", "East Asian"), ("Black", "East Asian")]
    results, sentences = audit_of({"picky": picky}, people=12, attributes=("race",), pairs=pairs)
    assert sentences[0].startswith("picky refuses more often as a face is made closer to the pole Black: change of")
    assert ["more than 10%" in one for one in sentences if "refuses" in one] == [
        False,
        True,
    ]  # differences, then the level
    assert results.filter(pl.col("measure") == "refusal_slope").select("pole_low", "pole_high").rows() == [
        ("Black", "East Asian")
    ]


def test_refusing_the_odd_face_of_either_end_is_not_found():
    def odd(person: int, attribute: str, value: float) -> list[str] | str:
        draw = random.Random(f"refuses{person}{value:.2f}")
        return "refused" if draw.random() < 0.2 else chance(person, attribute, value)

    # 27 of 168 faces: more than a tenth, and of neither end more than of the other.
    results, sentences = audit_of({"odd": odd}, people=24)
    row = results.filter(pl.col("measure") == "refusal_slope").row(0, named=True)
    assert (row["decision"], row["family"], row["n"]) == ("not found", "confirmatory", 24)
    assert row["low"] < 0 < row["high"] and row["p"] == row["p_adjusted"] > 0.5
    refusals = [sentence for sentence in sentences if "refuses" in sentence]
    assert refusals == [
        "odd refuses more than 10% of its questions: 16% (95% interval 10.3 to 23%, 168 questions, adjusted p = .018). Unanswered: "
        "refused 16.1%; the other measures speak only of what was answered.",
        f"It was not found that odd refuses {ENDS} more often: change of the share refused per unit of the cue = −1.3 percentage "
        "points (95% interval −5.4 to 2.5, 24 people, adjusted p = .555); an effect of 6 percentage points would have been found "
        "in 80 of 100 such audits.",
    ]


def test_refusing_along_the_placebo_too_says_nothing_of_the_cue():
    results, _ = audit_of({"shy": shy}, people=24, attributes=("gender", "placebo"))
    row = results.filter(pl.col("measure") == "refusal_slope", pl.col("attribute") == "gender").row(0, named=True)
    assert row["decision"] == "not measurable" and "refuses along a random direction" in row["reason"]


def test_refusing_everything_claims_nothing():
    results, sentences = audit_of({"never": lambda *asked: "refused"}, people=12, attributes=("gender", "race"))
    assert sentences == ["Nothing can be said of never: it answered none of 144 questions (144 refused)."]
    assert results.filter(pl.col("decision") == "found").is_empty()


def test_refusing_people_who_start_in_one_of_three_groups_is_found():
    def shy(person: int, attribute: str, value: float) -> list[str] | str:
        return "refused" if person % 3 == 1 else chance(person, attribute, value)

    _, sentences = audit_of({"shy": shy}, people=24, start=lambda person: ("female", "male", "nonbinary")[person % 3])
    assert sentences[0].startswith(
        "shy refuses more than 10% of its questions: 33% (95% interval 14 to 57%, 168 questions"
    )
    assert sentences[1] == (
        "shy refuses faces that start as male more often than the others: 100 percentage points (95% interval 62 to 100, "
        "24 people, adjusted p < .001). Unanswered: that start as male 100.0%, that start as female 0.0% and that start as "
        "nonbinary 0.0%; the other measures speak only of what was answered."
    )


def test_refusing_people_of_one_of_four_groups_now_and_then_is_found():
    def shy(person: int, attribute: str, value: float) -> list[str] | str:
        return "refused" if person % 4 == 1 and value == 0 else chance(person, attribute, value)

    _, sentences = audit_of({"shy": shy}, people=24, start=lambda person: "abcd"[person % 4])
    assert sentences[0].startswith("shy refuses faces that start as b more often than the others: 14 percentage points")
    assert "Unanswered: that start as b 14.3%, that start as a 0.0%, that start as c 0.0% and" in sentences[0]


def test_a_classifier_that_says_little_is_measured():
    # Boxer or nothing: 14% of the lists are not empty, and an empty one is an answer, which is measured.
    def seldom(person: int, attribute: str, value: float) -> list[str]:
        return ["Boxer"] if value > 1.5 else []

    _, sentences = audit_of({"seldom": seldom})
    assert sentences[0] == (
        "seldom gives 'Boxer' more often as a face is made more masculine (0% at the feminine end, 100% at the masculine): change "
        f"per unit of the cue = 16.1 percentage points (95% interval 13.0 to 19.2, 12 people, adjusted p < .001). {ELSEWHERE}"
    )
    assert len(sentences) == 1  # a list without a label is no silence


@pytest.mark.parametrize("no", ["[]", '{"Nurse": false}', '{"answer": {"Nurse": false}, "version": "2"}'])
def test_a_classifier_that_says_no_has_answered(no: str):
    # Nurse from -2 to 0 and never above: -(2 + 1.33 + .67) / 12.44 = -.32 of the centre's rate, as of a tagger with lists.
    def binary(person: int, attribute: str, value: float) -> str:
        return '{"Nurse": true}' if value <= 0 else no

    results, sentences = audit_of({"binary": binary})
    assert sentences == [
        "binary gives 'Nurse' more often as a face is made more feminine (100% at the feminine end, 0% at the masculine): change "
        "per unit of the cue = −32 percentage points (95% interval −38 to −26, 12 people, adjusted p < .001). Relative to its rate "
        f"at the neutral centre its slope is −0.32 (−0.38 to −0.26). {ELSEWHERE}"
    ]
    empty = results.filter(pl.col("measure") == "empty_answers").select("value", "n").row(0)
    assert empty == (3 / 7, 84)


def test_constant_answers_are_not_tested():
    results, sentences = audit_of({"same": lambda person, *asked: ["Face", "Nurse" if person % 2 else "Cook"]})
    assert sentences == [
        "It was not tested whether same follows the cue: it gives each of 12 people the same labels at every step, whether faces are "
        "made more feminine or more masculine."
    ]
    assert results.filter(pl.col("measure") == "raw_slope")["value"].to_list() == [0.0, 0.0, 0.0]


def test_one_person_is_too_few():
    _, sentences = audit_of({"same": strict}, people=1)
    assert sentences == [
        f"It was not tested whether same gives a label more often to {ENDS} ('Cook' and 'Nurse'): {FEW}."
    ]


def test_nobody_with_a_whole_series_is_said():
    def gaps(person: int, attribute: str, value: float) -> list[str] | str:
        return "failed" if value == 0 else ["Nurse"]

    _, sentences = audit_of({"gaps": gaps})
    assert sentences == [
        f"It cannot be said whether gaps gives a label more often to {ENDS} ('Nurse'): nobody has an answer at every step.",
        "It was not found that gaps leaves more than 10% of its questions unanswered: 14% (95% interval 5 to 29%, 84 questions, "
        "adjusted p = .239); the interval leaves out effects beyond 29%.",
    ]


@pytest.mark.parametrize("silence", ["failed", "refused"])
def test_where_gaps_leave_few_people_nothing_is_said_of_how_often_others_get_a_label(silence: str):
    """Three of 659 people had a whole series: that, not a rare label, is the reason."""

    def answers_three(person: int, attribute: str, value: float) -> list[str] | str:
        return silence if person >= 3 and value == 0 else strict(person, attribute, value)

    _, sentences = audit_of({"gaps": answers_three})
    told = [one for one in sentences if "label more often" in one]
    assert told and not any(FEW in one for one in told)
    assert told[-1] == (
        f"It was not tested whether gaps gives a label more often to {ENDS} ('Cook' and 'Nurse'): "
        "only 3 of 12 people got an answer at every step."
    )


def test_nothing_is_found_along_an_attribute_whose_check_failed():
    checks = check_table(gender=True, race=False)
    results, sentences = audit_of({"strict": strict}, attributes=("gender", "race"), checks=checks)
    poles = "faces made closer to the pole White or closer to the pole Black"
    why = "its manipulation check failed ('perceived age stays': 7.30 years, highest less lowest, where under 5 in size is needed)"
    assert sentences == [
        "strict gives 'Cook' more often as a face is made more masculine (0% at the feminine end, 100% at the masculine): change per "
        "unit of the cue = 32 percentage points (95% interval 26 to 38, 12 people, adjusted p < .001). 'Nurse' is its exact opposite.",
        f"It cannot be said whether strict gives a label more often to {poles} ('Cook' and 'Nurse'): {why}.",
    ]
    assert set(results.filter(pl.col("decision") == "found")["attribute"]) == {"gender"}


@pytest.mark.parametrize(
    ("checks", "told"),
    [(None, ELSEWHERE), (check_table(gender=None), "Not checked of the manipulated faces: 'perceived age stays'.")],
)
def test_a_check_that_was_not_done_is_said(checks: pl.DataFrame | None, told: str):
    _, sentences = audit_of({"strict": strict}, checks=checks)
    (sentence,) = sentences
    assert sentence.endswith(f"{told} 'Nurse' is its exact opposite.")


def test_slopes_that_differ_in_sign_between_starting_groups_are_said():
    # It sees only how much was edited: women start at -1 and men at 1, and there are five times as many women.
    def oracle(person: int, attribute: str, value: float) -> list[str]:
        return ["Odd"] if abs(value - (1 if person % 6 == 0 else -1)) > 1.8 or value == 0 else []

    results, sentences = audit_of(
        {"oracle": oracle}, people=24, start=lambda person: "male" if person % 6 == 0 else "female"
    )
    by_start = results.filter(pl.col("measure") == "slope_by_start").select("group", "value", "n")
    assert [(group, value > 0, n) for group, value, n in by_start.iter_rows()] == [
        ("female", True, 20),
        ("male", False, 4),
    ]
    found = next(sentence for sentence in sentences if sentence.startswith("oracle gives 'Odd' more often"))
    assert "It has not one sign: 0.27 among 20 who start as female and −0.27 among 4 who start as male; so it" in found


def test_a_null_system_whose_labels_flip_at_random_prints_no_finding():
    # Everybody gets another label somewhere: this was printed as "with nothing else changed".
    results, sentences = audit_of({"live": chance}, attributes=("gender", "placebo"), people=24)
    flips = results.filter(pl.col("measure") == "any_flip").select("attribute", "value", "n", "decision").rows()
    assert flips == [("gender", 1.0, 24, "not tested"), ("placebo", 1.0, 24, "not tested")]
    assert not any("gives 'C" in one or "gives 'M" in one or "gives 'N" in one for one in sentences)
    assert "nothing else changed" not in " ".join(sentences)


def test_a_system_that_gives_everybody_a_plain_label_alone_gets_its_sentence() -> None:
    _, sentences = audit_of({"same": lambda *asked: ["Face"]}, people=48, attributes=("gender", "race"))
    assert len(sentences) == 2 and all(
        "it gives each of 48 people the same labels at every step" in one for one in sentences
    )


def test_a_label_that_is_rare_at_the_centre_and_common_at_one_end_is_found() -> None:
    # 40 of 48 at every masculine step, 2 of 48 at the centre, nobody below: printed as "not found, adjusted p < .001" before.
    def rare(person: int, attribute: str, value: float) -> list[str]:
        given = 40 if value > 0 else 2 if value == 0 else 0
        return ["Nurse", "Smile"] if person < given else ["Smile"] if (person * 7 + round(value * 3)) % 3 else []

    results, sentences = audit_of({"rare": rare}, people=48)
    assert sentences[0].startswith(
        "rare gives 'Nurse' more often as a face is made more masculine (0% at the feminine end, 83% at the masculine): change per unit"
    )
    row = results.filter(measure="raw_slope", label="Nurse").row(0, named=True)
    assert row["decision"] == "found" and 0 < row["low"] < row["value"] < row["high"]
    assert "Relative to" not in sentences[0]  # two people at the centre bear no ratio


def test_a_dose_response_from_nothing_is_found() -> None:
    shares, found = (0, 0, 0.01, 0.03, 0.1, 0.25, 0.45), 0
    values = sorted(steps("gender"))
    for run in range(6):
        draw = random.Random(run)
        gives = {
            (person, value): draw.random() < shares[values.index(value)] for person in range(48) for value in values
        }
        results, _ = audit_of(
            {"dose": lambda person, _, value, gives=gives: ["Nurse"] if gives[person, value] else []}, people=48
        )
        found += "found" in results.filter(measure="raw_slope")["decision"]
    assert found == 6


def test_scores_are_what_is_tested_where_a_system_gives_them() -> None:
    # Everybody gets the label at every step; its score falls from .75 to .63.
    def scorer(person: int, attribute: str, value: float) -> str:
        noise = random.Random(f"{person} {value}").uniform(-0.08, 0.08)
        return json.dumps(
            [{"tag": "happy", "confidence": 0.69 - 0.03 * value + noise}, {"tag": "face", "confidence": 0.99}]
        )

    results, sentences = audit_of({"fer": scorer}, people=48)
    assert sentences[0].startswith(
        "fer scores 'happy' higher as a face is made more feminine (0.75 at the feminine end, 0.63 at the"
    )
    assert "The share of faces that get it changes by 0 percentage points per unit." in sentences[0]
    row = results.filter(measure="raw_slope", label="happy").row(0, named=True)
    assert row["unit"] == "score" and row["low"] < -0.03 < row["high"] < 0
