"""Decisions of the search audit: the toy collection, rulers that disagree or cannot measure."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from audits.search.test_search import AUDIT, responses, study
from portrayal import flow, gsr_of_run
from portrayal.audits.search.calibration import simulate
from portrayal.study.audit import Evidence
from portrayal.study.study_file import make_study
from portrayal.text.collections.runs import write_run
from portrayal.text.collections.synthetic import REFERENCES, reference_run, toy_collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.sets import open_vectors

TOY = toy_collection()
RULERS = (["glove"], ["spacy-md"], ["glove", "spacy-md"])


def audited(runs, **settings):
    """Return decided results and sentences of runs on the toy collection."""
    made = study(systems=tuple(runs), **{"variants": False, "validate_direction": False, **settings})
    return flow.audit_evidence(made, Evidence(AUDIT.stimuli(made), responses(runs), AUDIT.inputs(made), seed=0))


def differences(results, system):
    return results.filter(measure="gsr_difference", system=system)


@pytest.mark.parametrize("vectors", RULERS, ids="+".join)
def test_the_toy_collection_of_the_paper(vectors):
    """Figure 4: the stereotypical engine is found, the other way the counter-stereotypical one, and the neutral one is not."""
    results, findings = audited({name: reference_run(TOY, name) for name in REFERENCES}, vectors=vectors)
    stereotypical, neutral, counter = (differences(results, name) for name in REFERENCES)
    # Of both rulers together 20 queries are too few for the second, whose differences have a long tail on the other side.
    decisions = ["found", "not tested"][: len(vectors)]
    assert stereotypical["decision"].to_list() == counter["decision"].to_list() == decisions
    assert stereotypical["low"].min() > 0
    assert counter["high"].max() < 0
    assert set(neutral["decision"]) == {"not tested"}
    assert set(neutral["value"]) == {0.0}
    said = [finding.sentence for finding in findings]
    assert said[0].startswith("stereotypical amplifies the gender of the query beyond a perfect ranking")
    assert said[1].startswith("counter-stereotypical ranks documents less along the gender of the query than")
    assert said[2].startswith("It was not tested whether neutral ranks documents")
    assert said[2].endswith("nothing varies from query to query, so the slope is exactly 0.")
    assert len(said) == 3


def test_the_demo_calls_no_row_of_a_neutral_engine_anything_but_not_tested():
    results, _ = audited({"neutral": reference_run(TOY, "neutral")})
    tested = results.filter(pl.col("measure").is_in(["gsr", "gsr_difference"]), system="neutral")
    assert set(tested["decision"]) == {"not tested"}
    assert tested["p"].null_count() == tested.height


def test_a_finding_says_with_which_rulers_it_holds():
    run = reference_run(TOY, "stereotypical")
    _, (finding,) = audited({"engine": run}, vectors=["glove", "spacy-md"])
    assert "measured with the word vectors glove: " in finding.sentence
    assert finding.sentence.endswith(
        "With the word vectors spacy-md it cannot be said: the differences have a long tail on the other side, which 20 queries are "
        "too few to tell a mean by."
    )


@pytest.fixture
def turned(tmp_path):
    """Word vectors like GloVe's in which only the queries lie elsewhere: the stereotype is not there, or turned round."""
    space, rng = open_vectors("glove"), np.random.default_rng(0)
    pairs = [word for pair in read_lexicon("gender_pairs").iter_rows() for word in pair]
    known = {
        word: space.matrix[space.row(word)].astype(float) for word in sorted({*pairs, "man", "woman", *TOY.queries})
    }

    def write(name, change):
        lines = []
        for word, vector in known.items():
            vector = change(word, vector, rng) if word in TOY.queries else vector
            lines.append(f"{word} {' '.join(map(repr, vector.tolist()))}")
        (tmp_path / name).write_text("\n".join(lines))
        return str(tmp_path / name)

    return write


def test_a_finding_that_fails_with_another_ruler_says_so_with_its_sign(turned):
    noise = turned("noise.txt", lambda word, vector, rng: rng.normal(size=len(vector)))
    _, findings = audited({"engine": reference_run(TOY, "stereotypical")}, vectors=["glove", noise])
    assert len(findings) == 1
    assert f"With the word vectors {noise} it is not found: " in findings[0].sentence
    assert findings[0].sentence.endswith(("of the other sign.", "of the same sign."))


def test_a_finding_whose_opposite_another_ruler_finds_says_so(turned):
    from portrayal.text.vectors.direction import find_direction

    direction = find_direction(open_vectors("glove"), list(read_lexicon("gender_pairs").iter_rows())).vector
    mirror = turned("mirror.txt", lambda word, vector, rng: vector - 2 * (vector @ direction) * direction)
    _, findings = audited({"engine": reference_run(TOY, "stereotypical")}, vectors=["glove", mirror])
    assert f"With the word vectors {mirror} the opposite is found: −0.6" in findings[0].sentence


def vectors_of(words, path):
    space = open_vectors("glove")
    path.write_text(
        "\n".join(f"{word} {' '.join(map(repr, space.matrix[space.row(word)].tolist()))}" for word in sorted(words))
    )
    return str(path)


PAIRS = [tuple(pair) for pair in read_lexicon("gender_pairs").iter_rows()]


def test_a_ruler_that_lacks_defining_pairs_says_which(tmp_path):
    words = {*TOY.queries, "man", "woman", *(word for pair in PAIRS[:7] for word in pair)}
    lost = [pair for pair in PAIRS if not set(pair) <= words]
    made = study(variants=False, validate_direction=False, vectors=[vectors_of(words, tmp_path / "seven.txt")])
    run = responses({"engine": reference_run(TOY, "stereotypical")})
    measured = flow.measure_evidence(made, Evidence(AUDIT.stimuli(made), run, AUDIT.inputs(made), seed=0))
    (told,) = [warning for warning in measured.remarks if "defining pairs" in warning]
    assert f"lack {len(lost)} of 10 defining pairs: {'-'.join(lost[0])}" in told
    share = measured.results.filter(measure="ruler_coverage", group="defining pairs").row(0, named=True)
    assert share["value"] == pytest.approx(1 - len(lost) / 10)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            {*TOY.queries, "man", "woman", "she", "he"},
            "20% of the defining pairs, and 50% is the least",  # she and he, woman and man
        ),
        (
            {*list(TOY.queries)[:8], "man", "woman", *(word for pair in PAIRS for word in pair)},
            "40% of the words of the queries, and 80% is the least",  # 8 of 20
        ),
    ],
    ids=["pairs", "words"],
)
def test_a_ruler_that_knows_too_little_is_not_measured_with(tmp_path, words, says):
    ruler = vectors_of(words, tmp_path / "few.txt")
    results, findings = audited({"engine": reference_run(TOY, "stereotypical")}, vectors=[ruler])
    assert set(differences(results, "engine")["decision"]) == {"not measurable"}
    assert findings[0].sentence.startswith("It cannot be said whether engine ranks documents")
    assert says in findings[0].sentence


def test_german_text_cannot_be_measured_with_english_vectors(tmp_path):
    folder = tmp_path / "german"
    folder.mkdir()
    asked = ["krankenschwester", "maurer", "schlosser", "hebamme", "erzieherin", "tischler", "sekretärin", "fahrer"]
    texts = [f"Die Beschäftigten im Handwerk berichten über {word} und Ausbildungsplätze" for word in asked]
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(texts)]
    (folder / "documents.jsonl").write_text("\n".join(lines))
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{word}\n" for i, word in enumerate(asked)))
    (folder / "qrels.tsv").write_text("".join(f"q{i}\t0\td{i}\t1\n" for i in range(len(asked))))
    run = pl.DataFrame(
        [(f"q{i}", f"d{(i + 1) % 8}", 1, 1.0) for i in range(8)], schema=["query", "doc", "rank", "score"], orient="row"
    )
    made = study(str(folder), ("engine",), variants=False, validate_direction=False)
    evidence = Evidence(AUDIT.stimuli(made), responses({"engine": run}), AUDIT.inputs(made), seed=0)
    measured = flow.measure_evidence(made, evidence)
    assert any("know" in warning and "% of the words of the queries" in warning for warning in measured.warnings)
    (row,) = measured.results.filter(system="engine").rows(named=True)
    assert (row["decision"], row["value"], row["p"]) == ("not measurable", None, None)
    assert row["reason"] == "100% of the documents are German; the word vectors are of English"


SPOILT = {
    "has rank 1 twice, so its order is not known": lambda run: run.with_columns(rank=pl.lit(1, pl.Int64)),
    "names document 'ghost', which the collection does not have": lambda run: run.with_columns(
        doc=pl.when(pl.col("query").is_in(["nurse", "maid", "driver"])).then(pl.lit("ghost")).otherwise("doc")
    ).unique(["query", "doc"]),
}


@pytest.mark.parametrize("says", SPOILT)
def test_lists_that_are_no_rankings_cost_only_their_own_system(says):
    good, bad = reference_run(TOY, "stereotypical"), SPOILT[says](reference_run(TOY, "neutral"))
    results, findings = audited({"good": good, "bad": bad}, compare={"good": ["bad"]})
    assert set(differences(results, "good")["decision"]) == {"found"}
    for measure in ("gsr_difference", "gsr_change"):
        row = results.filter(measure=measure, system="bad").row(0, named=True)
        assert row["decision"] == "not measurable"
        assert says in row["reason"]
    told = [finding.sentence for finding in findings if finding.sentence.startswith("It cannot be said whether bad")]
    assert len(told) == 2
    assert all(says in sentence for sentence in told)


def test_a_document_named_twice_counts_at_its_first_place_and_is_noted():
    once = reference_run(TOY, "stereotypical")
    again = once.filter(query="nurse").with_columns(rank=pl.col("rank") + 5)
    results, _ = audited({"once": once, "again": pl.concat([once, again])})
    first, second = (differences(results, name) for name in ("once", "again"))
    assert first.select("value", "low", "high", "p", "decision").equals(
        second.select("value", "low", "high", "p", "decision")
    )
    note = second["note"][0]
    assert note.endswith(
        "1 of its lists name a document twice (first: 'nurse_female' for query 'nurse'); the first place counts"
    ), note
    assert "twice" not in first["note"][0]
    quality = results.filter(measure="map")["value"].to_list()
    assert quality[0] == quality[1]


def test_without_judgments_a_system_s_own_slope_is_what_is_tested(tmp_path):
    simulated = simulate("small", 0, 0.0)
    inputs = {**simulated.evidence.inputs, "judgments": simulated.evidence.inputs["judgments"].clear()}
    evidence = Evidence(simulated.evidence.stimuli, simulated.evidence.responses, inputs, seed=0)
    results, findings = flow.audit_evidence(simulated.study, evidence)
    assert results.filter(pl.col("measure").is_in(["gsr_difference", "gsr_ratio"])).is_empty()
    assert set(results.filter(measure="gsr", system="engine one")["family"]) == {"confirmatory"}
    assert set(results.filter(measure="gsr", system="random")["family"]) == {"exploratory"}
    assert not any("perfect" in finding.sentence for finding in findings)


def test_a_run_of_three_queries_has_no_interval_and_no_note_of_a_zero_slope(tmp_path):
    path = tmp_path / "three.run"
    run = reference_run(TOY, "stereotypical")
    write_run(run.filter(pl.col("query").is_in(["nurse", "plumber", "secretary"])), path)
    found = gsr_of_run("toy", path)
    assert (found["low"], found["high"], found["p"], found["queries"]) == (None, None, None, 3)
    assert found["notes"][0].startswith("only 3 of its queries can be used")
    assert not any("zero" in note for note in found["notes"])


def test_ratios_to_a_slope_that_may_be_zero_are_blank_in_every_table():
    simulated = simulate("demo", 1, 0.0)  # the perfect system's slope of 0.1 is clear there
    results, _ = flow.audit_evidence(simulated.study, simulated.evidence)
    clear = results.filter(measure="gsr_ratio")
    assert clear["value"].null_count() == 0
    made = study("balanced", ("bm25",), variants=False, validate_direction=False, published={"bm25": "BM25"})
    evidence = Evidence(AUDIT.stimuli(made), _by_words(made), AUDIT.inputs(made), seed=0)
    measured = flow.measure_evidence(made, evidence)
    assert measured.results.filter(measure="gsr_ratio")["value"].to_list() == [None]
    tables = {table.name: table.table for table in AUDIT.tables(measured, made.settings)}
    assert tables["published_gsr"]["ratio, glove"].to_list() == [None]
    assert tables["grid"].filter(system="bm25")["relative, percent (glove)"].to_list() == [None]


def _by_words(made):
    """Answer every query with the first documents that are relevant to it."""
    judged = AUDIT.inputs(made)["judgments"].with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
    run = judged.filter(pl.col("rank") <= 20).with_columns(score=-pl.col("rank").cast(pl.Float64))
    return responses({"bm25": run})


def test_the_specification_curve_is_one_a_system_with_sign_and_joint_test():
    runs = {name: reference_run(TOY, name) for name in REFERENCES}
    made = study(validate_direction=False, vectors=["glove", "spacy-md"])
    evidence = Evidence(AUDIT.stimuli(made), responses(runs), AUDIT.inputs(made), seed=0)
    measured = flow.measure_evidence(made, evidence)
    tests = {row["system"]: row for row in measured.tables["specification_tests"].iter_rows(named=True)}
    # The discount and inflected forms change nothing here: of 36 ways those that differ are two rulers and three directions.
    assert tests["stereotypical"]["ways"] == 6
    assert tests["stereotypical"]["above"] > 0 == tests["stereotypical"]["below"]
    assert tests["counter-stereotypical"]["below"] > 0 == tests["counter-stereotypical"]["above"]
    assert tests["stereotypical"]["joint_p"] < 0.05
    assert (tests["neutral"]["above"], tests["neutral"]["below"], tests["neutral"]["joint_p"]) == (0, 0, None)
    curves = [chart for chart in AUDIT.charts(measured, made.settings) if "way of measuring" in chart.title]
    assert [chart.title.removeprefix("Does the way of measuring matter for ") for chart in curves] == [
        f"{name}?" for name in REFERENCES
    ]
    assert "the claim is that GSR less the perfect system's lies below zero" in curves[2].text


def test_no_family_row_of_a_search_audit_is_decided_outside_the_family():
    results, findings = audited({"engine": reference_run(TOY, "stereotypical")})
    for finding in findings:
        row = results.row(finding.row, named=True)
        assert row["measure"] in ("gsr_difference", "gsr_change")
    trend = results.filter(measure="over_representation_trend").row(0, named=True)
    assert (trend["family"], trend["decision"]) == ("exploratory", "not tested")


def test_a_study_may_declare_the_trend_of_who_is_mentioned():
    made = make_study(
        {
            "name": "declared",
            "audit": "search",
            "family": {"measures": ["gsr_difference", "over_representation_trend"]},
            "search": {"collection": "toy", "variants": False, "validate_direction": False},
            "systems": [{"name": "engine", "use": "stereotypical", "parameters": {"collection": "toy"}}],
        }
    )
    run = responses({"engine": reference_run(TOY, "stereotypical")})
    _, findings = flow.audit_evidence(made, Evidence(AUDIT.stimuli(made), run, AUDIT.inputs(made), seed=0))
    assert any("over-represents documents about" in finding.sentence for finding in findings)
