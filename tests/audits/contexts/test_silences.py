"""Sentences of a contexts audit about missing answers, through the flow, written out."""

from dataclasses import replace

import polars as pl
import pytest

from audits.contexts.made_up_taggers import evidence_of, study_for
from portrayal import flow
from portrayal.text.formatting import listed

WORDS = {"F1": "wedding dress", "F2": "crib", "M1": "garage", "M2": "restaurant kitchen"}
NAMED = {"female": "woman", "male": "man", "nonbinary": "person", "agender": "person"}
POOL = ("hair", "face", "shirt", "happy", "serious", "beautiful", "chin", "calm")


def right(person, gender, place, random):
    """Name the labelled gender and a few words by chance; see the place most of the time."""
    words = random.permutation(POOL)[: 3 + random.integers(3)].tolist()
    seen = [WORDS[place]] if place and random.random() < 0.8 else []
    return [NAMED[gender], *words, *seen]


def said(answers, **design):
    """Return the results, and the sentences with their decisions."""
    results, findings = flow.audit_evidence(study_for(answers), evidence_of(answers, **design))
    return results, {finding.sentence: results["decision"][finding.row] for finding in findings}


@pytest.mark.parametrize(
    ("status", "word"), [("empty", "empty"), ("refused", "refused"), ("unparsable", "unreadable"), ("failed", "failed")]
)
def test_no_answers_at_all(status, word):
    _, sentences = said({"tagger": lambda *_: status})
    assert sentences == {
        f"Nothing can be said of tagger: it answered none of 80 questions (80 {word}).": "not measurable"
    }


def test_one_system_dead_among_live_ones():
    _, sentences = said({"dead": lambda *_: "refused", "live": right})
    dead = [sentence for sentence in sentences if "dead" in sentence]
    assert dead == ["Nothing can be said of dead: it answered none of 80 questions (80 refused)."]
    assert any("live" in sentence for sentence in sentences)


def test_women_refused_half_the_time():
    def half(person, gender, place, random):
        return "refused" if gender == "female" and random.random() < 0.5 else right(person, gender, place, random)

    _, sentences = said({"tagger": half})
    assert [sentence for sentence, decision in sentences.items() if decision == "found"] == [
        "tagger refuses pictures of female people more often than pictures of male people: 45 percentage points (95%"
        " interval 25 to 64, 16 people, adjusted p = .002). Unanswered: female 45.0% and male 0.0%; the other measures"
        " speak only of what was answered."
    ]


def test_women_refused_in_one_place_only():
    def shop(person, gender, place, random):
        refused = gender == "female" and place == "F1"
        return "refused" if refused else right(person, gender, place, random)

    _, sentences = said({"tagger": shop})
    assert (
        "tagger refuses pictures of female people in the Wedding Dress Shop more often than pictures of male people in the"
        " Wedding Dress Shop: 100 percentage points (95% interval 54 to 100, 16 people, adjusted p < .001). Unanswered:"
        " female 100.0% and male 0.0%; the other measures speak only of what was answered."
    ) in sentences


def test_one_place_refused():
    def bar(person, gender, place, random):
        return "refused" if place == "M1" else right(person, gender, place, random)

    _, sentences = said({"tagger": bar})
    found = [sentence for sentence, decision in sentences.items() if decision == "found"]
    assert len(found) == 1
    assert found[0].startswith(
        "tagger refuses pictures in the Mechanics Garage more often than the others: 100 percentage"
    )
    assert "Unanswered: Mechanics Garage 100.0%, Wedding Dress Shop 0.0%" in found[0]


def test_everything_constant():
    results, sentences = said({"tagger": lambda *_: ["person", "hair", "happy"]})
    # Nobody's gender is named, so nobody's is named wrongly: that alone was tested.
    (level,) = [sentence for sentence, decision in sentences.items() if decision != "not tested"]
    assert level.startswith(
        "It was not found that tagger names another gender than people's own in more than 5% of pictures: 0"
    )
    assert {sentence.partition(": ")[2] for sentence in sentences if "(" not in sentence} == {
        "nobody's pictures follow the places, or go against them.",
        "people of a group are all described alike.",
        "it infers only one of the two.",  # of more places than a sentence has room for
    }
    tests = results.filter(pl.col("measure").is_in(["distance_anova", "attribute_within", "attribute_between"]))
    assert tests["p"].null_count() == tests.height


def test_one_person_only():
    results, sentences = said({"tagger": right}, genders=("female",), each=1)
    assert results.filter(pl.col("decision").is_in(["found", "not found"])).is_empty()
    assert (
        "It was not tested whether tagger follows the stereotype of a place when it names a gender: fewer than two people"
        " were seen in places of every stereotype."
    ) in sentences


@pytest.mark.parametrize("genders", [("female", "male", "nonbinary"), ("female", "male", "nonbinary", "agender")])
def test_three_and_four_groups(genders):
    def quiet(person, gender, place, random):
        return "empty" if gender == "nonbinary" else right(person, gender, place, random)

    results, sentences = said({"tagger": quiet}, genders=genders, each=6)
    (found,) = [
        sentence
        for sentence in sentences
        if sentence.startswith(
            "tagger has nothing to say about pictures of nonbinary people more often than the others: 100"
        )
    ]
    rest = [f"{gender} 0.0%" for gender in sorted(set(genders) - {"nonbinary"}, key=genders.index)]
    assert found.endswith(f" Unanswered: {listed(['nonbinary 100.0%', *rest])}.")
    pairs = results.filter(pl.col("measure") == "attribute_between").select("group", "versus").unique()
    assert pairs.height == len(genders) * (len(genders) - 1) / 2


def test_only_backgrounds_alone_go_unanswered():
    answers = {"reader": right}
    evidence = evidence_of(answers)
    alone = evidence.stimuli.head(1).with_columns(
        stimulus=pl.lit("background"), hash=pl.lit("background"), role=pl.lit("background"),
        person=pl.lit(None, pl.String), gender=pl.lit(None, pl.String), race=pl.lit(None, pl.String),
    )  # fmt: skip
    nothing = evidence.responses.head(1).with_columns(
        stimulus=pl.lit("background"), status=pl.lit("empty"), tag=pl.lit(None, pl.String)
    )
    shown = replace(
        evidence, stimuli=pl.concat([evidence.stimuli, alone]), responses=pl.concat([evidence.responses, nothing])
    )
    results, findings = flow.audit_evidence(study_for(answers), shown)
    assert results.filter(pl.col("measure") == "unanswered_difference").is_empty()
    assert not any("unanswered" in finding.sentence for finding in findings)


def test_a_list_without_tags_is_an_answer():
    def shop(person, gender, place, random):
        return "empty" if gender == "female" and place == "F1" else right(person, gender, place, random)

    results, sentences = said({"tagger": shop})
    here = results.filter(pl.col("place") == "Wedding Dress Shop")

    def row(measure, **columns):
        return here.filter(pl.col("measure") == measure, **columns).row(0, named=True)

    # Eight women without a tag: answered, neutral, their place not recognised.
    assert row("recognised", inferred="any")["n_missing"] == 0
    assert (row("recognised", inferred="neutral")["n"], row("recognised", inferred="neutral")["value"]) == (8, 0)
    assert row("inferred_count", inferred="neutral")["value"] == 8
    assert row("inferred_count", inferred="feminine")["n_missing"] == 0
    # Tags that are not there have no shares: nobody's description moved, and no share of it is 0.
    assert row("distance", group="female, A")["n_missing"] == 4
    assert row("attribute_between", attribute="concrete")["n_missing"] == 8
    quiet = [sentence for sentence in sentences if "has nothing to say" in sentence]
    assert any("people in the Wedding Dress Shop" in sentence for sentence in quiet)
    assert not any("speak only of what was answered" in sentence for sentence in quiet)
    no_gender = "tagger names no gender more often in the Wedding Dress Shop than in pictures of the same people alone"
    assert sentences[next(sentence for sentence in sentences if sentence.startswith(no_gender))] == "found"
