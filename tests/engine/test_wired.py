"""Everything that goes through the engine gives what it gives without one."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from PIL import Image
from polars.testing import assert_frame_equal

import portrayal
from portrayal.audits.captions.measures import reifying_looks, stereotyping_leakage
from portrayal.audits.contexts.factorial import Recipe, compose_all
from portrayal.audits.search import calibration
from portrayal.audits.search.inputs import open_inputs
from portrayal.audits.search.measures.scored_runs import make_rulers, score_answers
from portrayal.cli import main
from portrayal.engine import engine_map, using
from portrayal.engine.shards import LEDGER
from portrayal.run.measurement import measure_evidence
from portrayal.study.calibration import over_seeds
from portrayal.text.captions import parsing
from portrayal.text.collections import numbering
from portrayal.text.collections.numbering import read_numbered
from portrayal_rankers.index import ARRAYS, build_index
from properties import case_associations, case_search

WORDS = ["the", "nurse", "helps", "a", "doctor", "of", "électricité", "and", "some", "東京", "people", "near", "house"]


def texts() -> list[tuple[str, str]]:
    """Return documents with new words in every batch, and an empty one."""
    random = np.random.default_rng(0)
    return [
        (f"d{number}", " ".join([*random.choice(WORDS, number % 7), f"word{number // 3}"][number % 2 :]))
        for number in range(60)
    ]


@pytest.mark.parametrize("stop", [None, ()])
def test_an_index_counted_by_workers_is_the_same_index(monkeypatch, stop) -> None:
    monkeypatch.setattr(numbering, "BATCH", 7)
    here = build_index(texts(), stop)
    with using("local", 2):
        shared = build_index(iter(texts()), stop)
    assert (shared.documents, shared.words, shared.stop) == (here.documents, here.words, here.stop)
    for name in ARRAYS:
        one, other = getattr(here, name), getattr(shared, name)
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_documents_numbered_by_workers_are_the_same_numbers(monkeypatch) -> None:
    monkeypatch.setattr(numbering, "BATCH", 7)
    stop = frozenset(["the", "of"])
    here = read_numbered(texts(), stop)
    with using("local", 2):
        shared = read_numbered(iter(texts()), stop)
    assert shared[:2] == here[:2]
    for one, other in zip(here[2:], shared[2:], strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_specifications_are_the_same() -> None:
    study, evidence = case_search.case()
    study = study.model_copy(update={"settings": study.settings.model_copy(update={"variants": True})})
    here = measure_evidence(study, evidence)
    with using("local", 2):
        shared = measure_evidence(study, evidence)
    assert shared.results.equals(here.results)
    assert here.tables["specifications"].height > 1
    for name, table in here.tables.items():
        assert not isinstance(table, pl.DataFrame) or table.equals(shared.tables[name])


def test_lists_are_scored_by_workers_as_here(monkeypatch) -> None:
    """Two repeats of one system, so that what workers return is put together again; each list's sums are its own."""
    study, evidence = case_search.case()
    again = evidence.responses.with_columns(repeat=pl.lit(1, pl.Int64)).filter(pl.col("rank") > 1)
    inputs = open_inputs(evidence.inputs, study.settings)
    rulers = make_rulers(inputs["spaces"], inputs["pairs"], study.settings.direction, inputs["history"])
    twice = pl.concat([evidence.responses, again]), inputs["history"], rulers, study.settings
    here = score_answers(*twice)
    seen = _sent(monkeypatch)
    with using("local", 2):
        shared = score_answers(*twice)
    assert seen == ["system's list"]
    assert list(shared.tables) == list(here.tables)
    for ruler, tables in here.tables.items():
        assert list(shared.tables[ruler]) == list(tables)
        assert all(shared.tables[ruler][name].equals(table) for name, table in tables.items())


def test_association_tests_and_their_curves_are_the_same(monkeypatch) -> None:
    study, evidence = case_associations.case()
    settings = study.settings.model_copy(update={"variants": ["words"]})
    study = study.model_copy(update={"settings": settings})
    here = measure_evidence(study, evidence)
    seen = _sent(monkeypatch)
    with using("local", 2):
        shared = measure_evidence(study, evidence)
    assert seen == ["test"]
    assert here.tables["specifications"].height > 1
    assert shared.results.equals(here.results) and shared.remarks == here.remarks
    assert shared.tables["specifications"].equals(here.tables["specifications"])
    assert shared.tables["missing"].equals(here.tables["missing"])


def test_what_is_learned_of_captions_is_the_same(monkeypatch) -> None:
    """Five images in each fold, two outcomes; the third group of captions makes one model a group."""
    random = np.random.default_rng(0)
    matrix, outcome = random.integers(0, 2, (25, 6)).astype(float), np.arange(25) % 2 == 0
    said = [list(random.choice(WORDS, 4)) for _ in range(30)]
    asked = [(said, [f"group {i % count}" for i in range(30)], np.arange(30) % 5) for count in (2, 3)]
    here = reifying_looks._learning(matrix, outcome, 0, 25), [stereotyping_leakage.leakage(*one) for one in asked]
    seen = _sent(monkeypatch)
    with using("local", 2):
        shared = reifying_looks._learning(matrix, outcome, 0, 25)
        scores = list(engine_map(stereotyping_leakage._learner, asked, "classifier of captions"))
    assert seen == ["permutation of term", "classifier of captions"]
    assert shared == pytest.approx(here[0], rel=1e-9)
    assert all(np.allclose(one, other, 1e-9, 1e-9) for one, other in zip(scores, here[1], strict=True))


def _sent(monkeypatch) -> list[str]:
    """Return what is sent to workers from now on."""
    seen: list[str] = []
    module = sys.modules["portrayal.engine.run"]
    through = module.in_order

    def told(make, contents, what, *rest, **more):
        seen.append(what)
        return through(make, contents, what, *rest, **more)

    monkeypatch.setattr(module, "in_order", told)
    return seen


def test_pictures_are_the_same(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, colour in (("ann", "red"), ("bob", "blue"), ("street", "green")):
        picture = Image.new("RGB", (200, 150), "white" if name != "street" else colour)
        if name != "street":
            picture.paste(Image.new("RGB", (60, 110), colour), (70, 40))
        picture.save(tmp_path / f"{name}.png")
    shared = {"source": "made here", "license": "CC0"}
    people = pl.DataFrame(
        [{"person": name, "file": f"{name}.png", "consent": "nobody", **shared} for name in ("ann", "bob", "eve")]
    )
    places = pl.DataFrame([{"background": "street", "context": "street", "file": "street.png", **shared}])
    here = compose_all(people, places, Path("here"), Recipe(160, 120))
    with using("local", 2):
        by_workers = compose_all(people, places, Path("there"), Recipe(160, 120))
    assert by_workers.drop("file").equals(here.drop("file"))
    assert sorted(here["role"].unique()) == ["background", "baseline", "composite", "unusable"]


def tell(seed: int) -> int:
    """Give something for a seed."""
    return seed * seed


@pytest.mark.parametrize("count", [0, 3, 45])
def test_runs_of_a_calibration_come_in_order(count: int) -> None:
    seeds = list(range(count))
    with using("local", 2):
        assert over_seeds(tell, seeds) == [seed * seed for seed in seeds]


def test_a_calibration_is_the_same() -> None:
    here = calibration.calibrate(runs=2, sizes=(10,))
    with using("local", 2):
        assert calibration.calibrate(runs=2, sizes=(10,)).conditions == here.conditions


CAPTIONS = {
    "name": "said",
    "audit": "captions",
    "systems": [{"name": "one", "use": "phantom:captions", "parameters": {"plants": "objects correctly mentioned"}}],
    "captions": {"scenes": 40, "object_types": 5, "splits": 30, "bootstraps": 30, "permutations": 99},
}


def test_a_captions_audit_is_the_same_and_goes_on_where_it_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(parsing, "BATCH", 10)
    monkeypatch.setattr(parsing, "_CACHE", {})
    here = portrayal.audit(CAPTIONS, tmp_path / "here", quiet=True)
    run = tmp_path / "run"
    monkeypatch.setattr(parsing, "_CACHE", {})
    with monkeypatch.context() as broken:  # all is parsed, then the process ends
        broken.setattr(sys.modules["portrayal.audits.captions.measure"], "measure_system", _stop)
        with pytest.raises(KeyboardInterrupt):
            portrayal.audit(CAPTIONS, run, quiet=True, engine="local", workers=2)
    assert (run / "shards" / LEDGER).is_file()
    kept = [path for path in (run / "shards").iterdir() if len(path.name) == 64]
    assert len(kept) >= 4
    monkeypatch.setattr(parsing, "_CACHE", {})
    monkeypatch.setattr(parsing, "parse", lambda batch: pytest.fail("parsed again"))
    seen = _sent(monkeypatch)
    found = portrayal.measure(run, engine="local", workers=2)
    assert "object type" in seen
    # A worker's linear algebra has one thread, which may move the last bits of a regression (docs/engine.md).
    expected = here.results.select(found.results.columns)
    assert_frame_equal(found.results, expected, rel_tol=1e-9, abs_tol=1e-9)
    assert not (run / "shards").exists()


def _stop(*arguments) -> None:
    raise KeyboardInterrupt


def test_kept_graphs_are_read_as_they_were_written() -> None:
    graphs = parsing.scene_graphs(["A tall woman rides a brown horse.", ""])
    assert parsing.GRAPHS[1](parsing.GRAPHS[0](graphs)) == graphs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "rya"], "error: no engine 'rya'. Did you mean 'ray'? Known: local, ray.\n"),
        (["--workers", "0"], "error: workers is 0. Expected 1 or more.\n"),
        (
            ["--engine", "ray://127.0.0.1"],
            "error: no Ray cluster answers at '127.0.0.1'. Expected HOST:PORT as `ray start --head` prints it (often port"
            " 6379), or auto.\n",
        ),
    ],
)
def test_a_wrong_option_is_one_line(capsys, options: list[str], said: str, monkeypatch) -> None:
    if "ray://" in options[-1]:
        ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", "experiments", "--runs", "1", *options])
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", said)


def test_every_command_that_takes_an_engine_hands_it_on(monkeypatch, tmp_path) -> None:
    seen = []
    figures = SimpleNamespace(to_dict=dict)
    for name, answer in (("audit", None), ("measure", None), ("calibrate", figures)):
        monkeypatch.setattr(
            portrayal, name, lambda *given, answer=answer: seen.append(given[-2:]) or answer, raising=False
        )
    monkeypatch.setattr("portrayal.cli.commands.finish", lambda run: None)
    for command in (["audit", "study.toml"], ["measure", "run"], ["calibrate", "search"]):
        with pytest.raises(SystemExit):
            main([*command, "--engine", "ray://a:1", "--workers", "3"])
    assert seen == [("ray://a:1", 3)] * 3


def test_starting_imports_neither_ray_nor_polars() -> None:
    from test_start import loaded

    assert loaded("main(['--help'])", "ray polars") == []
    assert loaded("import portrayal.engine", "ray polars numpy") == []
