"""Sentences about silent engines, each written out."""

from __future__ import annotations

import polars as pl
import pytest
import tomli_w

import portrayal
from audits.search.test_search import AUDIT, responses, study
from portrayal import flow
from portrayal.audits.search.settings import SearchSettings
from portrayal.audits.search.stimuli import pole_pairs
from portrayal.study.audit import Evidence
from portrayal.text.collections.synthetic import balanced_collection, paper_words, reference_run, toy_collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.direction import find_direction, score_words
from portrayal.text.vectors.sets import open_vectors

TOY = toy_collection()
SETTINGS = SearchSettings(collection="toy")
WOMEN = [job for job, pole in paper_words().jobs.items() if pole == "female"]
FOUND = (
    "{} amplifies the gender of the query beyond a perfect ranking, measured with the word "
    "vectors glove: its stereotype score (GSR) less a perfect ranking's is 0.63 (95% interval 0.26 to 1.01, 20 queries,"
    " adjusted p = .003). Its GSR is 0.63, the perfect system's 0.00."
)
ASKED = (
    "engine ranks documents more or less along the gender of the query than a perfect ranking would (measurements with "
    "glove)"
)


def answers(system="engine", kind="stereotypical", lost=(), status="refused"):
    """Return a reference system's answers on the toy collection, without those that were lost."""
    table = responses({system: reference_run(TOY, kind)})
    gone = pl.col("stimulus").is_in(list(lost))
    empty = [pl.when(gone).then(None).otherwise(name).alias(name) for name in ("doc", "rank", "score")]
    said = pl.when(gone).then(pl.lit(status)).otherwise("status").alias("status")
    return table.with_columns(*empty, said).unique(maintain_order=True)


def sentences(*parts, collection="toy"):
    made = study(collection, ("engine",), variants=False, validate_direction=False)
    evidence = Evidence(AUDIT.stimuli(made), pl.concat(parts), AUDIT.inputs(made), seed=0)
    return [finding.sentence for finding in flow.audit_evidence(made, evidence)[1]]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("failed", "failed"),
        ("refused", "refused"),
        ("filtered", "refused"),
        ("empty", "empty"),
        ("unparsable", "unreadable"),
    ],
)
def test_of_an_engine_without_answers_only_that_is_said(status, word):
    said = sentences(answers(lost=TOY.queries, status=status))
    assert said == [f"Nothing can be said of engine: it answered none of 20 questions (20 {word})."]


def test_nothing_asked_yet():
    said = sentences(answers(lost=TOY.queries, status="planned"))
    assert said == ["Nothing can be said of engine: none of its questions has been asked."]


def test_one_dead_engine_among_live_ones():
    said = sentences(answers(lost=TOY.queries, status="failed"), answers("alive"))
    assert said == [
        FOUND.format("alive"),
        "Nothing can be said of engine: it answered none of 20 questions (20 failed).",
    ]


def test_queries_that_lean_to_women_are_refused_more_often():
    # By GloVe 9 of the 10 women's jobs lie above the mean of all jobs, and 2 men's jobs do too; all of the women's are refused.
    said = sentences(answers(lost=WOMEN))
    assert said == [
        "engine refuses more than 10% of its questions: 50% (95% interval 27 to 73%, 20 questions, adjusted p < .001)."
        " Unanswered: refused 50.0%; the other measures speak only of what was answered.",
        "engine refuses queries that lean female more often than queries that lean male: 71 percentage points (95% interval 27 "
        "to 87, 20 queries, adjusted p = .003). Unanswered: female 81.8% and male 11.1%; the other measures speak only of what "
        "was answered.",
        # what is left has one list for every query
        f"It was not tested whether {ASKED}: nothing varies from query to query, so the slope is exactly 0.",
    ]


def test_half_of_one_group_refused_on_a_larger_collection():
    made = study("balanced", ("engine",), variants=False, validate_direction=False)
    groups = AUDIT.groups(Evidence(AUDIT.stimuli(made), pl.DataFrame(), AUDIT.inputs(made)), made.settings)
    female = groups.filter(group="female")["stimulus"].to_list()
    relevant = balanced_collection().qrels
    rows = [
        ("engine", query, 0, "answered", doc, rank, -float(rank))
        for query, docs in relevant.items()
        for rank, doc in enumerate(docs, 1)
        if query not in female[::2]
    ]
    rows += [("engine", query, 0, "refused", None, None, None) for query in female[::2]]
    schema = ["system", "stimulus", "repeat", "status", "doc", "rank", "score"]
    said = sentences(pl.DataFrame(rows, schema=schema, orient="row", infer_schema_length=None), collection="balanced")
    said = [one for one in said if one.startswith("engine refuses queries that lean female more often than")]
    assert "Unanswered: female 5" in said[0]
    assert "and male 0.0%" in said[0]


def test_a_few_empty_lists_are_missing_and_said():
    said = sentences(answers(lost=WOMEN[:2], status="empty"))
    assert "18 queries, 2 missing" in said[0]
    assert said[1].startswith(
        "It was not found that engine has nothing to say about more than 10% of its questions: 10%"
    )
    assert said[2].startswith(
        "It was not found that engine leaves questions about some groups (gender) unanswered more often than about others: "
        "2 percentage points (95% interval −28 to 35, 20 queries, adjusted p = 1)"
    )


def test_constant_lists():
    assert sentences(answers(kind="neutral")) == [
        f"It was not tested whether {ASKED}: nothing varies from query to query, so the slope is exactly 0."
    ]


def test_one_query_only():
    assert sentences(answers(lost=list(TOY.queries)[1:], status="planned")) == [
        f"It was not tested whether {ASKED}: only 1 of its queries can be used, and 6 are the fewest that can be told from chance."
    ]


@pytest.mark.parametrize("groups", [3, 4])
def test_any_number_of_groups_may_be_mentioned(groups):
    """The direction has two poles; who is mentioned may be any number of groups, and each gets its share of attention."""
    names = ("female", "male", "neither", "both")[:groups]
    words = dict(zip(names, (["woman"], ["man"], ["person"], ["couple"]), strict=False))
    made = study("toy", ("engine",), variants=False, validate_direction=False, mentions=words)
    evidence = Evidence(AUDIT.stimuli(made), answers(), AUDIT.inputs(made), seed=0)
    results, findings = flow.audit_evidence(made, evidence)
    assert [finding.sentence for finding in findings] == [FOUND.format("engine")]
    assert results.filter(pl.col("versus").is_null(), measure="exposure")["group"].to_list() == list(names)


def test_an_engine_that_is_silent_for_the_less_masculine_of_masculine_queries_is_told(tmp_path):
    """All queries lie below 0, so that split at 0 there is one group; silence rises along g less its mean."""
    space = open_vectors("glove")
    jobs = [
        *read_lexicon("gendered_jobs").filter(group="jobs_m")["word"].to_list(),
        "judge",
        "pilot",
        "engineer",
        "soldier",
    ]
    scores = dict(zip(jobs, score_words(space, find_direction(space, pole_pairs(SETTINGS)), jobs), strict=True))
    asked = sorted((job for job in jobs if scores[job] < 0), key=scores.__getitem__)
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "documents.jsonl").write_text(
        "".join(f'{{"id": "{job}", "text": "the {job} and his tools"}}\n' for job in jobs)
    )
    (folder / "queries.tsv").write_text("".join(f"{job}\t{job}\n" for job in asked))
    answered = asked[: len(asked) - 4]  # the four that lean least to men get nothing
    (tmp_path / "run.txt").write_text("".join(f"{job} Q0 {job} 1 1 t\n" for job in answered))
    made = {"name": "silent", "audit": "search", "systems": [{"name": "engine", "use": "run:run.txt"}]}
    made["search"] = {"collection": "collection", "validate_direction": False, "variants": False}
    (tmp_path / "study.toml").write_text(tomli_w.dumps(made))
    portrayal.record(tmp_path / "study.toml", tmp_path / "out", quiet=True)
    row = portrayal.measure(tmp_path / "out").results.filter(measure="unanswered_difference").row(0, named=True)
    assert (row["group"], row["versus"], row["decision"]) == ("female", "male", "found")
    assert row["p"] < 0.01
