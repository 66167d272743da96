"""Rankers as systems of a study, the references, run files, and `portrayal rank`."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import portrayal
from portrayal.cli.commands import rank_command
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Question, System
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.collections import collection_of, read_run
from portrayal_rankers.base import Ranker, rank
from portrayal_rankers.references import Perfect, Random
from portrayal_rankers.registry import RANKERS, Searchable, make_ranker

QRELS = {"q1": {"d1": 1, "d3": 2, "d2": 0, "d0": 1}}
DOCUMENTS = {"d0": "nurse", "d1": "nurse nurse ward", "d2": "plumber pipe", "d3": "nurse pipe ward"}
TOY = collection_of(DOCUMENTS, {"q1": "nurse ward", "q2": "doctor"}, QRELS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "toy"
    path.mkdir()
    lines = [json.dumps({"id": name, "text": text}) for name, text in DOCUMENTS.items()]
    (path / "documents.jsonl").write_text("\n".join(lines))
    (path / "queries.tsv").write_text("q1\tnurse ward\nq2\tdoctor\n")
    (path / "qrels.tsv").write_text("".join(f"q1\t0\t{doc}\t{level}\n" for doc, level in QRELS["q1"].items()))
    return path


def ask(system: System) -> list[list[dict]]:
    questions = [Question(name, "query", text, name) for name, text in TOY.queries.items()]
    return [read_answer(system, answer) for answer in asyncio.run(system.ask(questions))]


@pytest.mark.parametrize("use", ["bm25", "qlm", "tfidf", "perfect", "random"])
def test_every_ranker_is_a_system(folder: Path, use: str) -> None:
    settings = SystemSettings(name="s", use=use, parameters={"collection": "toy", "depth": 2})
    system = open_system(settings, folder.parent, "ranker")
    assert isinstance(system, System)
    run = rank(TOY, make_ranker(use, Searchable(TOY)), 2)
    for query, rows in zip(TOY.queries, ask(system), strict=True):
        expected = run.filter(query=query).drop("query").rows(named=True)
        assert rows == expected


def test_a_systems_settings_are_checked(folder: Path) -> None:
    def opened(**parameters: object) -> System:
        return open_system(SystemSettings(name="s", use="bm25", parameters=parameters), folder.parent, "ranker")

    with pytest.raises(PortrayalError, match="names no collection"):
        opened()
    with pytest.raises(PortrayalError, match="has depth 0"):
        opened(collection="toy", depth=0)
    with pytest.raises(PortrayalError, match="unknown key 'variants'. Did you mean 'variant'"):
        opened(collection="toy", variants="lucene")


def test_stop_lists_and_stemmers_are_settings(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("ward\n")
    searchable = Searchable(TOY, folder=tmp_path)
    plain, own, cut = (
        make_ranker("bm25", searchable, settings).search({"q": "wards ward nursing"}, 10)["q"].numbers.tolist()
        for settings in ({}, {"stop": "own.txt"}, {"stop": "own.txt", "stem": "porter"})
    )
    assert sorted(plain) == [1, 3]  # the documents with "ward"
    assert own == []
    assert sorted(cut) == [0, 1, 3]  # "nursing" finds "nurse"; "wards" is no stop word and finds nothing without "ward"
    parameters = {"collection": str(folder), "stop": "lucen"}
    with pytest.raises(PortrayalError, match="no stop list 'lucen'. Did you mean 'lucene'"):
        open_system(SystemSettings(name="s", use="bm25", parameters=parameters), tmp_path, "ranker")


def test_another_collection_is_another_system(folder: Path) -> None:
    settings = SystemSettings(name="s", use="bm25", parameters={"collection": "toy"})
    before = open_system(settings, folder.parent, "ranker").identity
    (folder / "documents.jsonl").write_text('{"id": "x", "text": "y"}')
    assert open_system(settings, folder.parent, "ranker").identity != before


def test_a_run_file_is_a_system(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q1 Q0 d2 2 0.5 t\nq1 Q0 d1 1 0.7 t\n")
    system = open_system(SystemSettings(name="s", use="run:x.run"), tmp_path, "ranker")
    first, second = ask(system)
    assert first == [{"doc": "d1", "rank": 1, "score": 0.7}, {"doc": "d2", "rank": 2, "score": 0.5}]
    assert second == []  # no line for q2: the run returned nothing
    with pytest.raises(PortrayalError, match="no run file at"):
        open_system(SystemSettings(name="s", use="run:none.run"), tmp_path, "ranker")


def test_a_run_file_without_an_order_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q1 Q0 d2 1 0 t\nq1 Q0 d1 1 0 t\n")
    system = open_system(SystemSettings(name="s", use="run:x.run"), tmp_path, "ranker")
    with pytest.raises(CallFailed, match="every score is 0, and query 'q1' has rank 1 twice"):
        ask(system)


def test_a_python_function_is_a_ranker(tmp_path: Path) -> None:
    (tmp_path / "own_engine.py").write_text(
        "def search(text):\n    return [['d1', 2.0], ['d3', 1.0]] if 'nurse' in text else []\n"
    )
    system = open_system(SystemSettings(name="s", use="python:own_engine:search"), tmp_path, "ranker")
    first, second = ask(system)
    assert first == [{"doc": "d1", "rank": 1, "score": 2.0}, {"doc": "d3", "rank": 2, "score": 1.0}]
    assert second == []


class SearchEngine(BaseHTTPRequestHandler):
    """Answers GET ?q=... in the shape of a common search server: hits.hits[*] with _id and _score."""

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query).get("q", [""])[0]
        hits = [{"_id": "d1", "_score": 2.0}, {"_id": "d3", "_score": 1.5}] if "nurse" in asked else []
        body = json.dumps({"hits": {"hits": hits}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Keep the test's output clean."""


def test_an_http_search_endpoint_is_a_ranker(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SearchEngine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    mapping = {
        "method": "GET",
        "query": {"q": "{content}"},
        "answer": "hits.hits",
        "fields": {"doc": "_id", "score": "_score"},
    }
    use = f"http://127.0.0.1:{server.server_port}/"
    questions = [Question(name, "query", text, name) for name, text in TOY.queries.items()]

    async def both() -> list[list[dict]]:
        system = open_system(SystemSettings(name="s", use=use, parameters=mapping), tmp_path, "ranker")
        answers = [(await system.ask([question]))[0] for question in questions]
        await system.close()
        return [read_answer(system, answer) for answer in answers]

    try:
        first, second = asyncio.run(both())
    finally:
        server.shutdown()
        server.server_close()
    assert first == [{"doc": "d1", "rank": 1, "score": 2.0}, {"doc": "d3", "rank": 2, "score": 1.5}]
    assert second == []


def test_the_perfect_system_returns_all_and_only_the_relevant() -> None:
    run = rank(TOY, Perfect(TOY))
    assert run["doc"].to_list() == ["d3", "d1", "d0"]
    assert run["score"].to_list() == [2.0, 1.0, 1.0]


def test_the_perfect_system_goes_by_gains_where_codes_run_backwards() -> None:
    collection = collection_of(DOCUMENTS, TOY.queries, {"q1": {"d1": 1, "d2": 4}})
    graded = type(collection)("x", collection.source, collection.queries, collection.qrels, {"q1": {"d1": 4, "d2": 1}})
    assert rank(graded, Perfect(graded))["doc"].to_list() == ["d1", "d2"]


def test_random_orders_are_seeded_and_differ_between_queries() -> None:
    names = [f"d{number}" for number in range(200)]
    queries = collection_of(DOCUMENTS, {"q1": "x", "q2": "x"})
    run = rank(queries, Random(names, seed=0), depth=50)
    assert run.equals(rank(queries, Random(names, seed=0), depth=50))
    assert not run.equals(rank(queries, Random(names, seed=1), depth=50))
    first, second = (run.filter(query=query)["doc"].to_list() for query in ("q1", "q2"))
    assert first != second
    assert len(set(first)) == 50


def test_every_ranker_of_the_registry_is_registered_as_a_system() -> None:
    from portrayal.systems.core.registry import SYSTEMS

    assert {name for name, entry in SYSTEMS.items() if entry.kind == "ranker"} >= set(RANKERS)


def test_lexical_rankers_keep_the_protocol() -> None:
    for name in ("bm25", "qlm", "tfidf", "perfect", "random"):
        assert isinstance(make_ranker(name, Searchable(TOY)), Ranker)


def command(*arguments: str) -> tuple[int, str, str]:
    app = typer.Typer()
    app.command()(rank_command)
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr or str(done.exception)


def test_rank_writes_a_run_and_says_only_its_path(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.run"
    before = sorted(file.name for file in folder.iterdir())
    code, stdout, stderr = command(str(folder), "--ranker", "bm25", "--depth", "2", "--out", str(out), "-q")
    assert (code, stdout) == (0, f"{out}\n")
    assert "query 'q2' has no result" in stderr
    run = read_run(out)
    assert run["doc"].to_list() == rank(TOY, make_ranker("bm25", Searchable(TOY)), 2)["doc"].to_list()
    np.testing.assert_array_equal(run["score"], rank(TOY, make_ranker("bm25", Searchable(TOY)), 2)["score"])
    assert sorted(file.name for file in folder.iterdir()) == before


def test_rank_writes_what_a_study_records_and_both_have_the_same_gsr(tmp_path: Path) -> None:
    run, _ = portrayal.rank_collection("toy", "tfidf", depth=3, out=tmp_path / "toy.run")
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "toy"\naudit = "search"\nsearch = { collection = "toy", validate_direction = false, variants = false }\n'
        '[[systems]]\nname = "mine"\nuse = "tfidf"\nparameters = { collection = "toy", depth = 3 }\n'
    )
    portrayal.record(study, tmp_path / "run", quiet=True)
    results = portrayal.measure(tmp_path / "run").results.filter(measure="gsr", system="mine")
    recorded = pl.read_parquet(tmp_path / "run" / "responses.parquet").sort("stimulus", "rank")
    written = read_run(run).sort("query", "rank")
    assert recorded.select("stimulus", "doc", "rank", "score").rows() == written.rows()
    found = portrayal.gsr_of_run("toy", run)
    assert results.select("value", "low", "high", "p").row(0) == tuple(
        found[name] for name in ("gsr", "low", "high", "p")
    )


def test_the_settings_of_a_ranker_are_options(folder: Path, tmp_path: Path) -> None:
    def scores(*options: str) -> list[float]:
        code, out, _ = command(str(folder), "--out", str(tmp_path / "x.run"), "-q", *options)
        assert code == 0
        return read_run(out.strip())["score"].to_list()

    expected = make_ranker("bm25", Searchable(TOY), {"k1": 0.9, "b": 0.4, "variant": "atire"}).search(TOY.queries, 10)
    assert scores("--k1", "0.9", "--b", "0.4", "--set", "variant=atire") == expected["q1"].scores.tolist()
    assert scores("--ranker", "qlm", "--mu", "10") != scores("--ranker", "qlm")
    assert scores("--ranker", "add", "--debias", "strong") != scores("--ranker", "add")
    assert len(scores("--stem", "porter")) == 3
    for options, says in (
        (["--set", "k1"], "--set is given 'k1'. Expected NAME=VALUE"),
        (["--ranker", "qlm", "--k1", "1"], "unknown key 'k1'"),
        (["--set", "epochs=5"], "unknown key 'epochs'"),
    ):
        code, _, error = command(str(folder), *options, "-q")
        assert code != 0
        assert says in error


def test_an_index_is_kept_also_when_the_collection_was_searched_before(folder: Path, tmp_path: Path) -> None:
    for kept in (None, tmp_path / "kept"):
        portrayal.rank_collection(folder, out=tmp_path / "x.run", kept=kept)
    assert (tmp_path / "kept" / "index-lucene" / "index.json").exists()


def test_a_kept_index_is_opened_and_a_changed_collection_is_noticed(folder: Path, tmp_path: Path) -> None:
    arguments = [str(folder), "--out", str(tmp_path / "x.run"), "--index", str(tmp_path / "kept"), "-q"]
    assert command(*arguments)[0] == 0
    first = read_run(tmp_path / "x.run")
    assert (tmp_path / "kept" / "index-lucene" / "postings.npy").exists()
    assert command(*arguments)[0] == 0
    assert read_run(tmp_path / "x.run").equals(first)
    (folder / "documents.jsonl").write_text('{"id": "x", "text": "nurse"}')
    code, _, error = command(*arguments)
    assert code != 0
    assert "another collection or of its earlier state" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranker", "bm52"], "no ranker 'bm52'. Did you mean 'bm25'"),
        (["--stop", "long"], "no stop list 'long'. Expected one of lucene"),
        (["--vectors", "none"], "unknown key 'vectors'"),
        (["--out", "missing/x.run"], "no folder missing"),
    ],
)
def test_rank_says_what_is_wrong(folder: Path, arguments: list[str], message: str) -> None:
    code, _, error = command(str(folder), *arguments, "-q")
    assert code != 0
    assert message in error
