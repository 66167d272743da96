"""Runs as users have them: infinite and close scores, unknown documents, one relevant document a query, tables."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import portrayal
from audits.search.test_clusters import printed
from audits.search.test_gsr_command import QUERIES, collection, run  # noqa: F401
from portrayal import gsr_of_run, list_shares, rank_collection, score_runs
from portrayal.audits.search.inputs import mentions
from portrayal.audits.search.measures.scored_runs import naming_words
from portrayal.audits.search.settings import SearchSettings
from portrayal.errors import PortrayalError
from portrayal.text.collections import read_collection, read_run
from portrayal.text.collections.synthetic import toy_collection
from portrayal.text.lexicons import read_lexicon

STUDY = """
name = "odd"
audit = "search"
[search]
collection = "collection"
validate_direction = false
variants = false
[[systems]]
name = "engine"
use = "run:run.txt"
"""


def audited(folder, capsys=None):
    """Audit the run file beside a collection, as `portrayal audit` does."""
    (folder / "study.toml").write_text(STUDY)
    portrayal.record(folder / "study.toml", folder / "out", quiet=True)
    return portrayal.measure(folder / "out")


def lines_of(score, documents=("woman", "man")):
    return [
        f"q{i} Q0 {query}-{who} {rank} {score(i, rank)} t\n"
        for i, query in enumerate(QUERIES)
        for rank, who in enumerate(documents if i % 2 else documents[::-1], 1)
    ]


def test_an_infinite_score_ranks_first_and_a_minus_infinite_last(collection, tmp_path, capsys):  # noqa: F811
    path = tmp_path / "run.txt"
    path.write_text("".join(lines_of(lambda i, rank: 2 - rank)))
    plain = printed(capsys, "gsr", str(collection), "--run", str(path))
    path.write_text("".join(lines_of(lambda i, rank: ("inf", "-inf")[rank - 1])))
    assert printed(capsys, "gsr", str(collection), "--run", str(path)) == plain
    measured = audited(tmp_path)
    assert measured.results.filter(measure="gsr", system="engine")["n"].item() == 6
    assert measured.results.filter(measure="gsr", system="engine")["value"].item() == plain["gsr"]


def test_a_score_that_is_no_number_is_named_by_its_line(collection, tmp_path):  # noqa: F811
    path = tmp_path / "run.txt"
    path.write_text("".join([*lines_of(lambda i, rank: rank)[:3], "q2 Q0 nurse-man 1 nan t\n"]))
    with pytest.raises(PortrayalError, match="line 4: the score of 'nurse-man' for query 'q2' is 'nan'"):
        gsr_of_run(collection, path)


def test_scores_are_held_in_32_bits_as_trec_eval_does(tmp_path):
    # Apart by 1e-9 they are one number in 32 bits, and the higher id comes first.
    path = tmp_path / "run.txt"
    path.write_text("q Q0 a 1 0.500000001 t\nq Q0 b 2 0.5 t\nq Q0 c 3 0.25 t\n")
    assert read_run(path)["doc"].to_list() == ["b", "a", "c"]


def write_many(folder, unknown):
    """Twenty results a query, of which the first `unknown` queries name one that is not there."""
    lines = []
    for i, query in enumerate(QUERIES):
        documents = [f"{other}-{who}" for other in QUERIES for who in ("woman", "man")]
        documents = [f"{query}-{('woman', 'man')[i % 2]}", *documents]
        documents = list(dict.fromkeys(documents))
        documents[1] = "ghost" if i < unknown else documents[1]
        lines += [f"q{i} Q0 {doc} {rank} {-rank} t\n" for rank, doc in enumerate(documents, 1)]
    (folder / "run.txt").write_text("".join(lines))


@pytest.mark.parametrize("unknown", [1, 3])
def test_a_few_unknown_documents_are_unjudged_and_counted(collection, tmp_path, capsys, unknown):  # noqa: F811
    write_many(tmp_path, unknown)  # of 72 results
    found = printed(capsys, "gsr", str(collection), "--run", str(tmp_path / "run.txt"), "--quality", "P@2")
    says = f"{unknown} of 72 results name documents that the collection does not have (first: 'ghost'); they count as unjudged"
    assert any(says in note for note in found["notes"])
    assert found["queries"] == 6
    assert found["quality"]["P@2"] < 1
    row = audited(tmp_path).results.filter(measure="gsr_difference", system="engine").row(0, named=True)
    assert row["decision"] != "not measurable" and row["n"] == 6
    assert says in row["note"]


def test_many_unknown_documents_are_no_ranking_of_this_collection(collection, tmp_path, capsys):  # noqa: F811
    write_many(tmp_path, 4)
    with pytest.raises(SystemExit):
        portrayal.cli.main(["gsr", str(collection), "--run", str(tmp_path / "run.txt")])
    assert "documents the collection does not have (first: 'ghost')" in capsys.readouterr().err
    row = audited(tmp_path).results.filter(measure="gsr_difference", system="engine").row(0, named=True)
    assert row["decision"] == "not measurable"
    assert "as 4 of its 72 results do, and 5% are the most that are measured with" in row["reason"]


def test_parts_of_lists_count_unknown_documents_together(collection, tmp_path):  # noqa: F811
    for unknown, decisions in ((3, {None}), (4, {"not measurable"})):
        write_many(tmp_path, unknown)
        answers = read_run(tmp_path / "run.txt").rename({"query": "stimulus"})
        answers = answers.with_columns(system=pl.lit("s"), repeat=pl.lit(0, pl.Int64), status=pl.lit("answered"))
        rows = list_shares(answers, collection, rows=5).filter(measure="gsr_difference")
        assert set(rows["decision"]) == decisions


def test_the_cutoff_holds_for_judged_queries_and_few_relevant_documents_are_said(collection, tmp_path, capsys):  # noqa: F811
    one = [f"q{i}\t0\t{query}-woman\t1\n" for i, query in enumerate(QUERIES)]
    (collection / "qrels.tsv").write_text("".join(one))
    (tmp_path / "run.txt").write_text("".join(lines_of(lambda i, rank: -rank)))
    own = printed(capsys, "gsr", str(collection), "--run", str(tmp_path / "run.txt"))
    deep = printed(capsys, "gsr", str(collection), "--run", str(tmp_path / "run.txt"), "--cutoff", "2")
    assert own["gsr"] != deep["gsr"]
    assert any("a median of 1: what stands below is not seen. Set cutoff" in note for note in own["notes"])
    assert not any("median" in note for note in deep["notes"])
    assert any("a median of 1" in warning for warning in audited(tmp_path).warnings)


def test_the_perfect_system_s_slope_in_a_sentence_is_over_the_same_queries(collection, tmp_path):  # noqa: F811
    rng = np.random.default_rng(0)
    jobs = read_lexicon("gendered_jobs")["word"].to_list()
    documents = [{"id": f"d{n}", "text": " ".join(rng.choice([*jobs, "woman", "man"], 12))} for n in range(60)]
    (collection / "documents.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (collection / "queries.tsv").write_text("".join(f"q{i}\t{job}\n" for i, job in enumerate(jobs)))
    judged = [f"q{i}\t0\td{doc}\t1\n" for i in range(len(jobs)) for doc in rng.choice(60, 3, False)]
    (collection / "qrels.tsv").write_text("".join(judged))
    lines = [f"q{i} Q0 d{doc} {r} {-r} t\n" for i in range(12) for r, doc in enumerate(rng.choice(60, 5, False), 1)]
    (tmp_path / "run.txt").write_text("".join(lines))
    results = audited(tmp_path).results
    rows = {(row["measure"], row["system"]): row for row in results.iter_rows(named=True)}
    both = [rows["gsr_on_common_queries", name] for name in ("engine", "perfect")]
    assert [row["n"] for row in both] == [12, 12] and rows["gsr", "perfect"]["n"] > 12
    assert both[0]["value"] - both[1]["value"] == pytest.approx(rows["gsr_difference", "engine"]["value"])


@pytest.mark.parametrize("kind", ["table", "collection", "both"])
def test_tables_and_collections_are_taken_where_files_are(collection, run, kind):  # noqa: F811
    opened = read_collection(collection) if kind != "table" else collection
    given = read_run(run) if kind != "collection" else run
    assert gsr_of_run(opened, given) == gsr_of_run(collection, run)
    assert score_runs(opened, {"mine": given})["mine"].equals(score_runs(collection, {"mine": run})["mine"])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda folder: gsr_of_run(folder, 7), "the run 'run' is a int. Expected a polars, pandas or Arrow table"),
        (
            lambda folder: gsr_of_run(folder, pl.DataFrame({"query": ["q0"]})),
            "lacks column 'doc'.*a table of query, doc and rank",
        ),
        (lambda folder: gsr_of_run(7, folder), "int given for a collection. Expected a path, a name or a Collection"),
        (
            lambda folder: read_run(pl.DataFrame()),
            "DataFrame given. Expected the path of a TREC run file: query Q0 document",
        ),
        (lambda folder: read_collection(7), "int given for a collection"),
        (
            lambda folder: rank_collection(toy_collection()),
            "Collection given for a collection. Expected a path or a name",
        ),
    ],
)
def test_what_was_expected_is_said_in_one_line(collection, call, says):  # noqa: F811
    with pytest.raises(PortrayalError, match=says) as raised:
        call(collection)
    assert "\n" not in str(raised.value)


WORDS_FIRST = """
may june april crystal ruby aurora ray al christian grant bill mark will rose grace hope dawn joy faith carol victor
francisco israel jordan georgia virginia bradford dewey taylor marc geneva
"""


def test_months_modals_nouns_places_and_surnames_mention_nobody():
    of_groups = mentions(SearchSettings(collection="toy"))
    counted = set().union(*of_groups.values())
    assert counted.isdisjoint(WORDS_FIRST.split())
    assert {"mary", "linda", "she"} <= of_groups["female"] and {"john", "kevin", "mr"} <= of_groups["male"]
    assert len(of_groups["female"]) > 400 and len(of_groups["male"]) > 300


def test_a_query_names_a_group_by_the_paper_s_words_alone():
    chosen = SearchSettings(collection="toy")
    assert naming_words(chosen, mentions(chosen)) == set(read_lexicon("gendered_entities")["word"])
    own = SearchSettings(collection="toy", mentions={"female": ["mary"], "male": ["john"]})
    assert naming_words(own, mentions(own)) == {"mary", "john"}


@pytest.mark.parametrize("name", ["cranfield", "cisi", "time"])
def test_who_is_mentioned_more_is_as_the_paper_s_own_words_say(shared, name):
    from portrayal.audits.search.inputs import make_history
    from portrayal.audits.search.measures.representation import count_mentions, document_groups

    history = make_history(read_collection(shared(f"data/ir/{name}")))
    chosen = SearchSettings(collection="toy")
    words, own = mentions(chosen), read_lexicon("gendered_entities")
    entities = {group: set(own.filter(group=group)["word"]) for group in words}
    gaps = []
    for one in (words, entities):
        groups = document_groups(count_mentions(history.bags, one))
        gaps.append(np.mean(groups == 0) - np.mean(groups == 1))
    assert np.sign(gaps[0]) == np.sign(gaps[1])
    assert abs(gaps[0] - gaps[1]) < 0.03
