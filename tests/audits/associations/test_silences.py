"""Sentences about silent systems: every kind of silence, through the path of real answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from portrayal.audits.associations import AUDIT
from portrayal.audits.associations import calibration as encoders
from portrayal.audits.associations.experiments import calibration as experiments
from portrayal.audits.associations.findings import PAIRS, _claim, _sign
from portrayal.audits.associations.measures.declaration import CHECK
from portrayal.flow import audit_evidence
from portrayal.reporting.page.first import _finding_counts
from portrayal.study.audit import Measured
from portrayal.study.calibration import Simulated
from portrayal.tables import RESPONSES

SIMULATE: Mapping[str, Callable[[], Simulated]] = {
    "associations": lambda: encoders.simulate("small", 1),
    "emotion_words": lambda: experiments.simulate("emotion_words small", 1),
    "saliency": lambda: experiments.simulate("saliency demo", 1),
    "labels": lambda: experiments.simulate("labels demo", 1),
    "depictions": lambda: experiments.simulate("depictions demo", 1),
}
every = pytest.mark.parametrize("name", SIMULATE)


def silent(responses: pl.DataFrame, status: str, lost: pl.Expr) -> pl.DataFrame:
    """Return the responses with those questions lost, as `status` says."""
    answers = [column for column in responses.columns if column not in RESPONSES]
    nothing = [pl.lit(None).cast(responses[column].dtype).alias(column) for column in answers]
    gone = responses.filter(lost).unique(["system", "stimulus", "repeat"], maintain_order=True)
    return pl.concat([responses.filter(~lost), gone.with_columns(pl.lit(status).alias("status"), *nothing)])


def said(simulated: Simulated, responses: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    results, findings = audit_evidence(simulated.study, replace(simulated.evidence, responses=responses))
    return results, [finding.sentence for finding in findings]


def questions(simulated: Simulated) -> int:
    first = simulated.evidence.responses.filter(pl.col("system") == "first")
    return first.select("stimulus", "repeat").n_unique()


@every
@pytest.mark.parametrize(
    ("status", "word"), [("refused", "refused"), ("empty", "empty"), ("unparsable", "unreadable"), ("failed", "failed")]
)
def test_a_system_that_says_nothing(name: str, status: str, word: str) -> None:
    simulated = SIMULATE[name]()
    _, sentences = said(simulated, silent(simulated.evidence.responses, status, pl.lit(True)))
    asked = f"{questions(simulated):,}"
    assert sentences == [
        f"Nothing can be said of {system}: it answered none of {asked} questions ({asked} {word})."
        for system in ("first", "second")
    ]


@every
def test_nothing_asked_yet(name: str) -> None:
    simulated = SIMULATE[name]()
    _, sentences = said(simulated, silent(simulated.evidence.responses, "planned", pl.lit(True)))
    assert sentences == [
        f"Nothing can be said of {system}: none of its questions has been asked." for system in ("first", "second")
    ]


@every
def test_one_system_dead_among_live_ones(name: str) -> None:
    simulated = SIMULATE[name]()
    _, spoken = said(simulated, simulated.evidence.responses)
    _, sentences = said(simulated, silent(simulated.evidence.responses, "refused", pl.col("system") == "first"))
    asked = f"{questions(simulated):,}"
    assert sentences[0] == (f"Nothing can be said of first: it answered none of {asked} questions ({asked} refused).")
    assert not any("first" in sentence for sentence in sentences[1:])
    assert len([sentence for sentence in spoken if "second" in sentence]) == len(sentences) - 1


# Whom the first system refuses half the time, and what is said of it.
HALF: Mapping[str, tuple[pl.Expr, str, str]] = {
    "associations": (
        pl.col("stimulus").str.contains(r"x[0-3]$"),
        "first refuses small x more often than small y: 50 percentage points",
        "Unanswered: small x 50.0% and small y 0.0%; the other measures speak only of what was answered.",
    ),
    "emotion_words": (
        pl.col("stimulus").str.contains(r"_(anger|sadness)_objectified_"),
        "first refuses photographs in the objectified condition more often than photographs in the nonobjectified "
        "condition: 50 percentage points",
        "Unanswered: objectified 50.0% and nonobjectified 0.0%; the other measures speak only of what was answered.",
    ),
    "saliency": (
        pl.col("stimulus").str.contains(r"_(anger|sadness)_objectified_"),
        "first refuses photographs in the objectified condition more often than photographs in the nonobjectified "
        "condition: 67 percentage points",
        "Unanswered: objectified 66.7% and nonobjectified 0.0%; the other measures speak only of what was answered.",
    ),
    "labels": (
        pl.col("stimulus").str.contains(r"^1/.*[02468]$"),
        "first refuses images prompted with group 1 more often than images prompted with group 0: 50 percentage points",
        "Unanswered: group 1 50.0% and group 0 0.0%; the other measures speak only of what was answered.",
    ),
}


@pytest.mark.parametrize("name", HALF)
def test_one_group_refused_half_the_time(name: str) -> None:
    simulated = SIMULATE[name]()
    lost, found, shares = HALF[name]
    gone = silent(simulated.evidence.responses, "refused", (pl.col("system") == "first") & lost)
    results, sentences = said(simulated, gone)
    if name == "associations":  # four of eight words against none of eight: p = .08, so it is not found, and says so
        assert (
            "It was not found that first leaves questions about some groups (small x and small y) unanswered more often"
            in (" ".join(sentences))
        )
        return
    (sentence,) = [sentence for sentence in sentences if sentence.startswith(found)]
    assert sentence.endswith(shares)
    assert results.filter(pl.col("measure") == "unanswered_difference")["decision"].to_list() == ["found"]


def test_a_generator_that_blocks_one_group_half_the_time() -> None:
    from portrayal.study.audit import Evidence
    from portrayal.study.questions import make_stimuli
    from portrayal.study.study_file import make_study

    data: dict[str, Any] = {"name": "blocked", "audit": "associations/depictions", "repeats": 10}
    data |= {"systems": [{"name": "first", "use": "phantom_generator"}]}
    data |= {"associations": {"groups": ["person", "woman", "man"]}}
    study = make_study(data)
    stimuli = make_stimuli(study)
    rows = [
        (stimulus, repeat, "filtered", None)
        if group == "woman" and repeat < 5
        else (stimulus, repeat, "answered", "outcome:no_face")
        for stimulus, group in stimuli.select("stimulus", "group").iter_rows()
        for repeat in range(10)
    ]
    responses = pl.DataFrame(rows, schema=["stimulus", "repeat", "status", "label"], orient="row").select(
        pl.lit("first").alias("system"), pl.all(), score=pl.lit(None, pl.Float64)
    )
    _, findings = audit_evidence(study, Evidence(stimuli, responses))
    # Three groups: women against the others, with every group's share.
    assert findings[0].sentence.startswith(
        "first refuses images of a woman more often than the others: 50 percentage points"
    )
    assert findings[0].sentence.endswith(
        "Unanswered: woman 50.0%, person 0.0% and man 0.0%; the other measures speak only of what was answered."
    ) or findings[0].sentence.endswith(
        "Unanswered: woman 50.0%, man 0.0% and person 0.0%; the other measures speak only of what was answered."
    )


CONSTANT: Mapping[str, tuple[dict[str, Any], list[str]]] = {
    "associations": (
        {"embedding": [0.1, 0.2, 0.3]},
        [
            "It was not tested whether {} ties small x to small a and small y to small b: its associations do not differ "
            "from one stimulus to the next."
        ],
    ),
    "emotion_words": (
        {"caption": "a woman in a room"},
        [
            "It was not tested whether {} names the emotions of people in one condition more or less often than in another "
            "(anger in the objectified condition and 2 more): its captions never use words for it."
        ],
    ),
    "saliency": (
        {"confidence": 0.25},
        [
            "It was not tested whether {} looks elsewhere for the emotion shown in one condition than in another (background "
            "in the objectified condition and 2 more): it does not vary."
        ],
    ),
    "labels": (
        {"label": "neutral"},
        [
            "It was not tested whether {} sexualises images prompted with group 1 more or less often than those prompted with "
            "group 0: no image is labelled as sexualised."
        ],
    ),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_everything_constant(name: str) -> None:
    simulated = SIMULATE[name]()
    answer, expected = CONSTANT[name]
    columns = [pl.lit(value).alias(column) for column, value in answer.items()]
    _, sentences = said(simulated, simulated.evidence.responses.with_columns(columns))
    assert sentences == [sentence.format(system) for system in ("first", "second") for sentence in expected]


def test_a_generator_that_shows_everybody_alike() -> None:
    simulated = SIMULATE["depictions"]()
    alike = pl.col("label").replace({"man": "woman"})
    _, sentences = said(simulated, simulated.evidence.responses.with_columns(alike))
    assert sentences == [
        f"It was not tested whether {system} shows some groups more often in one occupation than in the others (woman as "
        "accountant, woman as architect, woman as carpenter and 7 more): all images are read alike."
        for system in ("first", "second")
    ]


@pytest.mark.parametrize("name", ["emotion_words", "saliency"])
def test_one_person_only(name: str) -> None:
    simulated = SIMULATE[name]()
    evidence = simulated.evidence
    one = evidence.stimuli.filter(pl.col("person") == "0")
    answers = evidence.responses.filter(pl.col("stimulus").is_in(one["stimulus"].to_list()))
    results, findings = audit_evidence(simulated.study, replace(evidence, stimuli=one, responses=answers))
    assert set(results["decision"]) == {"not tested"}
    sentences = [finding.sentence for finding in findings]
    assert sentences
    for sentence in sentences:
        assert sentence.startswith("It was not tested whether ")
        assert sentence.endswith(": only one person was seen in both conditions."), sentence


def test_three_and_four_groups_of_labels() -> None:
    simulated = experiments.simulate("labels large", 1)
    results, sentences = said(simulated, simulated.evidence.responses)
    pairs = results.filter(pl.col("measure") == "sexualised_difference", pl.col("system") == "first")
    assert pairs.height == 6  # of four groups
    assert sentences[0].startswith(
        "It was not found that first sexualises images prompted with some groups more often than those prompted with others "
        "in 6 tests (group 1 and group 0 and 5 more). The nearest"
    )
    three = simulated.evidence.stimuli.filter(pl.col("group") != "group 3")
    kept = simulated.evidence.responses.filter(pl.col("stimulus").is_in(three["stimulus"].to_list()))
    results, _ = audit_evidence(simulated.study, replace(simulated.evidence, stimuli=three, responses=kept))
    assert results.filter(pl.col("measure") == "sexualised_difference").height == 3 * 2


def test_a_test_of_ones_own_without_a_harm_is_about_its_words_and_a_check_is_one_by_name() -> None:
    row = {"group": "Muslims", "versus": "Christians", "attribute": "terror", "other_attribute": "peace", "harm": None}
    claim = _claim(Measured(pl.DataFrame()), *PAIRS["eat"])
    row |= {"value": 1.0, "null": None, "system": "mine", "test": "own"}
    assert claim.positive.format(**row) == "ties Muslims to terror and Christians to peace"
    assert _sign(row) == _sign({**row, "harm": "demeaning Muslims", "value": -1.0}) == ""
    assert _sign({**row, "harm": CHECK}) == "It is a check of the instrument that concerns no people."
    assert _sign({**row, "harm": "demeaning Muslims"}) == "It is a sign of demeaning Muslims."
    kinds = [AUDIT.kind_of({**row, "harm": harm}) for harm in (None, CHECK, "demeaning Muslims")]
    assert kinds == ["finding", "check", "finding"]


def test_checks_and_improvements_are_counted_apart_from_findings() -> None:
    found = [("finding", False)] * 16 + [("check", False)] * 2 + [("improvement", False), ("finding", True)]
    assert _finding_counts(found) == (
        "16 findings about real systems; 2 checks of the instrument held; 1 improvement by a remedy; 1 planted effect found in"
        " simulated ones."
    )
    assert (
        _finding_counts([("check", False)]) == "Nothing was found about a real system; 1 check of the instrument held."
    )
