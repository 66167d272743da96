"""Ranked lists of a folder on collections of every form: queries and judgments lie in a file, and the rows are those of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import PortrayalError, list_shares
from portrayal.audits.search import AUDIT
from portrayal.audits.search.measure import FACETS, measure
from portrayal.audits.search.measures.comparison import correlate
from portrayal.audits.search.run_files import own_settings
from portrayal.engine.pool import ONE_THREAD
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli
from portrayal.study.study_file import make_study
from portrayal.text.collections import read_collection
from portrayal.text.collections.shelf import shelve
from portrayal.text.lexicons import read_lexicon

NOT_SUMS = {"dichotomy", "kendall_distance", "kendall_genderedness", "gsr_change"}
KEY = ["system", "measure", "group", "versus", *FACETS]
FIGURES = ["value", "low", "high", "p", "n", "n_missing", "unit", "counted"]
MENTIONS = {"female": ["woman", "mother"], "male": ["man", "father"], "unnamed": ["person"]}
SETTINGS = {"mentions": MENTIONS, "quality": ["map", "ndcg_cut_10"], "cutoff": 3}
PLAIN = ["nurse", "engineer", "garage", "kitchen", "doctor", "music", "war", "school"]
LONG = "Anfrage-nach-Pflegekräften-0001"
QUERIES = {
    **{f"q{place}": f"{word} {PLAIN[(place + 3) % 8]}" for place, word in enumerate(PLAIN)},
    LONG: "kitchen nurse",  # the words of q0, in another order
    "unjudged": "music school", "hopeless": "war doctor", "gendered": "woman engineer", "unheard": "zqx vfk", "stop": "the of",
    "unlisted": "garage war", "同じ": "school music",
}  # fmt: skip
PEOPLE = ("woman", "man", "person", "mother", "father", "")
TEXTS = {f"d{place}": f"{PEOPLE[place % 6]} {PLAIN[place % 8]} {PLAIN[(place * 5 + 2) % 8]}" for place in range(18)}
QRELS = [
    (query, f"d{(place * 7 + step) % 18}", 1 + step % 2)
    for place, query in reversed(list(enumerate(QUERIES)))  # in another order than the queries
    for step in range(1 + place % 4)
    if query not in ("unjudged", "hopeless")
]
JUDGED = [*QRELS, ("hopeless", "d1", 0), ("never_asked", "d2", 1), ("q0", "nowhere", 1)]


def write_folder(path: Path, judged: list[tuple[str, str, int]] = JUDGED) -> Path:
    path.mkdir()
    (path / "documents.jsonl").write_text(_objects(TEXTS))
    (path / "queries.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in QUERIES.items()))
    if judged:
        (path / "qrels.tsv").write_text("".join(f"{query}\t0\t{doc}\t{level}\n" for query, doc, level in judged))
    return path


def write_graded(path: Path) -> Path:
    write_folder(path)
    graded = [(query, doc, 5 - level) for query, doc, level in QRELS[::2]]
    (path / "qrels_graded.tsv").write_text("".join(f"{query} 0 {doc} {level}\n" for query, doc, level in graded))
    return path


def write_jsonl(path: Path) -> Path:
    return (write_folder(path) / "documents.jsonl").rename(path / "all.jsonl")


def write_texts(path: Path) -> Path:
    (write_folder(path) / "documents.jsonl").unlink()
    for name, text in TEXTS.items():
        (path / f"{name}.txt").write_text(text)
    return path


def write_beir(path: Path) -> Path:
    (path / "qrels").mkdir(parents=True)
    (path / "corpus.jsonl").write_text(_objects(TEXTS, "_id"))
    (path / "queries.jsonl").write_text(_objects(QUERIES, "_id"))
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{doc}\t{level}" for query, doc, level in JUDGED)]
    (path / "qrels" / "test.tsv").write_text("\n".join(lines))
    return path


def write_trec(path: Path) -> Path:
    """Write documents and topics between tags, as the newswire disks have them."""
    (path / "FT").mkdir(parents=True)
    docs = (f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n" for name, text in TEXTS.items())
    (path / "FT" / "ft_1").write_text("".join(docs))
    tops = (
        f"<top>\n<num> Number: {name}\n<title> {text}\n</top>\n" for name, text in QUERIES.items() if name.isascii()
    )
    (path / "topics.txt").write_text("".join(tops))
    (path / "qrels.txt").write_text("".join(f"{query} 0 {doc} {level}\n" for query, doc, level in QRELS))
    return path


FORMS = {
    "folder": write_folder, "graded": write_graded, "jsonl": write_jsonl, "texts": write_texts, "beir": write_beir,
    "trec": write_trec, "unjudged": lambda path: write_folder(path, []),
}  # fmt: skip


def _objects(texts: dict[str, str], name: str = "id") -> str:
    return "".join(json.dumps({name: key, "text": text}) + "\n" for key, text in texts.items())


def answers(queries: list[str] | None = None) -> pl.DataFrame:
    """Return lists in another order than the queries: one refused, one of no query, a second repeat of one system, none of one."""
    asked = queries or [query for query in [*QUERIES, "never_asked", "stranger"] if query != "unlisted"][::-1]
    rows = [
        (system, query, repeat, "answered", f"d{(step * place + repeat + 5 * rank) % 18}", rank)
        for system, step, repeats in (("one", 3, 1), ("two", 5, 2))
        for repeat in range(repeats)
        for place, query in enumerate(asked[repeat:])
        for rank in range(1, 2 + place % 5)
    ]
    schema = {
        "system": pl.String,
        "stimulus": pl.String,
        "repeat": pl.Int64,
        "status": pl.String,
        "doc": pl.String,
        "rank": pl.Int64,
    }
    told = pl.DataFrame(rows, schema=schema, orient="row").with_columns(score=-pl.col("rank").cast(pl.Float64))
    refused = pl.col("stimulus") == "q4"
    told = told.filter(~refused | (pl.col("rank") == 1))
    return told.with_columns(
        status=pl.when(refused).then(pl.lit("refused")).otherwise("status"),
        doc=pl.when(refused).then(None).otherwise("doc"),
    )


def in_memory(responses: pl.DataFrame, collection: Path, vectors: list[str]) -> pl.DataFrame:
    settings = {"collection": str(collection), "vectors": vectors, "variants": False, "validate_direction": False}
    systems = [{"name": "run", "use": "bm25"}]
    study = make_study({"name": "run", "audit": "search", "systems": systems, "search": {**settings, **SETTINGS}})
    evidence = Evidence(make_stimuli(study), responses, AUDIT.inputs(study), None, study.seed)
    found = measure(evidence, study.settings).results
    return found.filter(~pl.col("measure").is_in(list(NOT_SUMS)))


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    one, other = (table.select(*KEY, *FIGURES).sort(KEY) for table in (found, expected))
    assert_frame_equal(one, other, abs_tol=1e-12, rel_tol=1e-12)


@pytest.mark.parametrize("rows", [1, 30, 100_000])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_collection_is_measured_as_in_memory(tmp_path, form, rows) -> None:
    """With batches of one list some hold no query that the collection has."""
    collection = FORMS[form](tmp_path / "collection")
    found = list_shares(answers(), collection, rows=rows, **SETTINGS)
    assert {"gsr", "exposure", "arab"} <= set(found["measure"]) and "unnamed" in set(found["group"])
    assert ("gsr_difference" in set(found["measure"])) == (form != "unjudged")
    same(found, in_memory(answers(), collection, ["glove"]))


def test_a_collection_of_one_query_is_measured(tmp_path) -> None:
    collection = write_folder(tmp_path / "collection", JUDGED[:0])
    (collection / "queries.tsv").write_text(f"{LONG}\tkitchen nurse\n")
    told = answers([LONG])
    same(list_shares(told, collection, **SETTINGS), in_memory(told, collection, ["glove"]))


def test_references_in_pieces_draw_the_lists_of_memory(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("portrayal.audits.search.list_shares.PIECE", 3)
    collection = write_folder(tmp_path / "collection")
    same(list_shares(answers(), collection, **SETTINGS), in_memory(answers(), collection, ["glove"]))


def test_two_rulers_agree_as_in_memory(tmp_path, monkeypatch) -> None:
    random, pairs = np.random.default_rng(0), read_lexicon("gender_pairs").rows()
    words = dict.fromkeys([*(word for pair in pairs for word in pair), *PLAIN, *MENTIONS["female"], *MENTIONS["male"]])
    lines = [f"{word} {' '.join(map(str, random.normal(size=8).round(4)))}" for word in words]
    (tmp_path / "own.txt").write_text("\n".join(lines))
    vectors = ["glove", str(tmp_path / "own.txt")]
    module = sys.modules["portrayal.audits.search.list_shares"]
    both = lambda collection, _, settings: own_settings(collection, "", {**settings, "vectors": vectors})  # noqa: E731
    monkeypatch.setattr(module, "own_settings", both)
    collection = write_folder(tmp_path / "collection")
    found = list_shares(answers(), collection, rows=30, **SETTINGS)
    assert {"query_agreement", "system_agreement"} <= set(found["measure"])
    same(found, in_memory(answers(), collection, vectors))


def test_points_drawn_some_at_a_time_are_those_drawn_at_once(monkeypatch) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    whole = correlate(x, y)
    monkeypatch.setattr("portrayal.audits.search.measures.comparison.AT_ONCE", 90)
    assert tuple(correlate(x, y)) == tuple(whole)


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("queries.tsv", "q1\tnurse\n", r"queries\.tsv has query 'q1' twice\. Give every query its own id"),
        ("qrels.tsv", "q1 0 d8 1\nq1 0 d8 2\n", r"qrels\.tsv judges document 'd8' of query 'q1' twice\. Keep one"),
        ("qrels_graded.tsv", "x 0 d8 1\nx 0 d8 2\n", r"qrels_graded\.tsv judges document 'd8' of query 'x' twice"),
        ("queries.tsv", "alone\n", r"has 1 fields\. Expected: query id, tab, text"),
        ("qrels.tsv", "q1 0 d17 much\n", r"is 'much'\. Expected a whole number"),
    ],
)  # fmt: skip
def test_a_fault_of_a_file_is_told_as_where_it_is_held(tmp_path, file, line, said) -> None:
    collection = write_folder(tmp_path / "collection")
    with (collection / file).open("a") as more:
        more.write(line)
    for read in (read_collection, lambda path: list_shares(answers(), path, **SETTINGS)):
        with pytest.raises(PortrayalError, match=said):
            read(collection)


def test_a_collection_without_queries_is_refused(tmp_path) -> None:
    documents = write_jsonl(tmp_path / "collection")
    (documents.parent / "queries.tsv").write_text("\n")
    with pytest.raises(PortrayalError, match=r"queries\.tsv has no queries\. Expected one per line"):
        list_shares(answers(), documents, **SETTINGS)
    (documents.parent / "queries.tsv").unlink()
    with pytest.raises(PortrayalError, match="has no queries. Expected a queries.tsv"):
        list_shares(answers(), documents, **SETTINGS)


@pytest.mark.parametrize("held", [True, False])
def test_a_shelf_has_what_a_collection_holds(tmp_path, held) -> None:
    folder = write_graded(tmp_path / "collection")
    whole = read_collection(folder)
    with shelve(read_collection(folder, in_memory=held), str.split) as shelf:
        pieces = list(shelf.pieces(5))
        some = shelf.some(["q3", LONG, "stranger", "never_asked"])
        judged, wordings, count = shelf.judged().tolist(), list(shelf.wordings()), len(shelf)
    queries = {name: words for piece in pieces for name, words in piece.queries.items()}
    assert list(queries.items()) == [(name, text.split()) for name, text in QUERIES.items()]
    assert {name: levels for piece in pieces for name, levels in piece.qrels.items()} == {
        name: levels for name, levels in whole.levels().items() if name in QUERIES
    }
    numbers = {name: place for place, name in enumerate([*QUERIES, "never_asked"])}
    assert (count, judged) == (len(numbers), [numbers[name] for name in whole.qrels])
    assert wordings == [(text.split(), None) for text in QUERIES.values()]
    assert some.numbers == {name: numbers[name] for name in ("q3", LONG, "never_asked")}
    assert list(some.queries) == ["q3", LONG] and some.qrels["never_asked"] == {"d2": 1}


def test_a_collection_that_is_not_held_has_its_files(tmp_path) -> None:
    folder = write_graded(tmp_path / "collection")
    left = read_collection(folder, in_memory=False)
    assert (left.queries, left.qrels, left.graded) == ({}, {}, {})
    assert left.files == tuple(folder / name for name in ("queries.tsv", "qrels.tsv", "qrels_graded.tsv"))
    assert dict(left.documents()) == TEXTS and read_collection(folder).files is None
    assert read_collection("toy", in_memory=False).queries  # a form that is held anyway


PEAK = """
import sys
from pathlib import Path
from benchmarks.out_of_core import peak_memory
from portrayal import list_shares
folder = Path(sys.argv[1])
list_shares(folder / "lists", folder, rows=4_000, mentions={"female": ["woman"], "male": ["man"]})
print(peak_memory() * 1e9)
"""


def write_many(folder: Path, queries: int) -> None:
    """Write so many queries of two words, a judgment and three results each."""
    collection, names = write_folder(folder), [f"q{place}" for place in range(queries)]
    asked = (f"{name}\t{PLAIN[place % 8]} {PLAIN[place // 8 % 8]}\n" for place, name in enumerate(names))
    (collection / "queries.tsv").write_text("".join(asked))
    judged = (f"{name}\t0\td{place % 18}\t1\n" for place, name in enumerate(names))
    (collection / "qrels.tsv").write_text("".join(judged))
    (folder / "lists").mkdir()
    place = np.arange(3 * queries)
    docs = pl.Series([f"d{number}" for number in range(18)]).gather(place % 18)
    table = pl.DataFrame({"stimulus": pl.Series(names).gather(place // 3), "doc": docs, "rank": place % 3 + 1})
    known = {"system": pl.lit("s"), "repeat": pl.lit(0, pl.Int64), "status": pl.lit("answered"), "score": pl.lit(1.0)}
    table.with_columns(**known).write_parquet(folder / "lists" / "0.parquet")


def peak_of(folder: Path) -> float:
    """Return the peak, in bytes, of a process that measures the lists of a folder with one thread."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": path}
    command = [sys.executable, "-c", PEAK, str(folder)]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak of a process is read from /proc")
@pytest.mark.usefixtures("small_pages")
def test_memory_does_not_grow_with_the_queries(tmp_path) -> None:
    """Held as objects a query takes 2.5 kB; on disk what is left are the arrays of one row.

    One thread reads: each keeps memory of its own, which on 64 processors is more than the queries take. What the kernel adds
    to a peak now and then is not there each time; what the queries take is."""
    few, many = 4_000, 44_000
    for queries in (few, many):
        write_many(tmp_path / str(queries), queries)
    grown = (peak_of(tmp_path / str(many)) - peak_of(tmp_path / str(few)) for _ in range(3))
    assert any(more / (many - few) < 800 for more in grown)
