"""Regressions and association tests go on where they stopped, on another engine too, and come out as if never stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import portrayal
from portrayal.audits.captions.measures import reifying_looks, stereotyping_leakage, stereotyping_objects
from portrayal.audits.captions.reading.stages import Options
from portrayal.engine import engine_map, using
from portrayal.engine.plain import codec, fingerprint
from portrayal.engine.shards import LEDGER, Store
from portrayal.run.measurement import measure_evidence
from portrayal.stats.estimate import Estimate
from properties import case_associations

WORDS = ("a", "nurse", "helps", "doctor", "house", "near", "people")


@pytest.fixture(autouse=True)
def _small_shards_are_kept(monkeypatch) -> None:
    """A shard of these tests takes less than it takes to keep it."""
    monkeypatch.setattr(sys.modules["portrayal.engine.run"], "WORTH_KEEPING", 0.0)


def association_tests() -> list[Any]:
    """Six tests on each system, with their curves: rows, missing words, specifications, differences."""
    study, evidence = case_associations.case()
    tests = [{**evidence.inputs["tests"][0], "name": f"test {place}"} for place in range(6)]
    study = study.model_copy(update={"settings": study.settings.model_copy(update={"variants": ["words"]})})
    evidence.inputs["tests"] = tests
    found = measure_evidence(study, evidence)
    return [found.results.to_dicts(), *(found.tables[name].to_dicts() for name in ("missing", "specifications"))]


def object_types() -> list[Any]:
    random = np.random.default_rng(0)
    design, group = random.random((60, 16)), (np.arange(60) % 2).astype(float)
    options = Options(splits=20, bootstraps=20)
    asked = [(place, f"type {place}", (random.random(60) < 0.5).tolist()) for place in range(8)]
    asked[3] = (3, "never said", [False] * 60)
    kinds = (stereotyping_objects.Effect, Estimate)
    fitter = partial(stereotyping_objects._fitter, design, group, options)
    found = list(engine_map(fitter, asked, "object type", keeps=kinds))
    assert found[3] is None and isinstance(found[0].splits, Estimate)
    return [
        float(number)
        for effect in filter(None, found)
        for number in (effect.coefficient, *effect.splits, *effect.bootstrap, effect.p, effect.accuracy)
    ]


def classifiers() -> list[Any]:
    random = np.random.default_rng(0)
    said = [[str(word) for word in random.choice(WORDS, 4)] for _ in range(30)]
    asked = [(said, [f"group {i % count}" for i in range(30)], np.arange(30) % 5) for count in (2, 3, 5)]
    return [
        scores.tolist()
        for scores in engine_map(stereotyping_leakage._learner, asked, "classifier of captions", keeps=())
    ]


def permutations() -> list[Any]:
    random = np.random.default_rng(0)
    matrix, outcome = random.integers(0, 2, (25, 6)).astype(float), np.arange(25) % 2 == 0
    return [reifying_looks._learning(matrix, outcome, 0, 45)]


WORK = (association_tests, object_types, classifiers, permutations)


def stopped(monkeypatch, work: Callable[[], Any], after: int) -> None:
    """Do the work until so many shards are kept, then end as a killed process does."""
    written = Store.write

    def told(self, shard, result) -> None:
        nonlocal after
        if not after:
            raise KeyboardInterrupt
        after -= 1
        written(self, shard, result)

    with monkeypatch.context() as broken:
        broken.setattr(Store, "write", told)
        with pytest.raises(KeyboardInterrupt):
            work()


def counting(monkeypatch) -> list[str]:
    """Return the names of the shards that are done, and so kept, from now on."""
    done: list[str] = []
    written = Store.write
    monkeypatch.setattr(
        Store, "write", lambda self, shard, result: (done.append(shard.name), written(self, shard, result))
    )
    return done


@pytest.mark.parametrize(
    ("work", "first", "then"),
    [
        *((work, None, None) for work in WORK),
        *((work, *way) for work in (association_tests, object_types) for way in ((None, "local"), ("local", None))),
    ],
)
def test_only_what_is_missing_is_done_again(tmp_path, monkeypatch, work, first, then) -> None:
    done = counting(monkeypatch)
    with using(first, 2 if first else None, tmp_path / "whole"):
        expected = work()
    total = len(done)
    assert total > 2 and len(set(done)) == total
    with using(first, 2 if first else None, tmp_path / "shards"):
        stopped(monkeypatch, work, 2)
    done.clear()
    with using(then, 2 if then else None, tmp_path / "shards"):
        found = work()
        assert len(done) == total - 2
        work()
        assert len(done) == total - 2  # all is kept now
    plain = work()  # and without a folder nothing is
    assert len(done) == total - 2
    if work is association_tests or first == then:
        assert repr(found) == repr(expected)
    else:  # a worker's linear algebra has one thread, which may move the last bits of a regression (docs/engine.md)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert len(found) == len(plain)


def test_other_data_settings_and_code_are_other_work(tmp_path, monkeypatch) -> None:
    done = counting(monkeypatch)
    with using(folder=tmp_path / "shards"):
        object_types()
        assert len(done) == 8
        design, group = np.ones((4, 2)), np.zeros(4)
        for options in (Options(), Options(seed=1)):
            for matrix in (design, design + 1):
                make = partial(stereotyping_objects._fitter, matrix, group, options)
                list(engine_map(make, [(0, "type", [True] * 4)], "object type", keeps=()))
        assert len(done) == 12
        monkeypatch.setattr(sys.modules["portrayal.engine.plain"], "code", lambda: "other code")
        object_types()
        assert len(done) == 20


def test_what_takes_no_time_is_not_kept_in_this_process(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["portrayal.engine.run"], "WORTH_KEEPING", 60.0)
    with using(folder=tmp_path / "shards"):
        classifiers()
    assert not (tmp_path / "shards").exists()


def test_results_are_read_as_they_were_written() -> None:
    table = pl.DataFrame({"a": [1, None], "b": ["x", None], "c": [0.1, float("nan")]})
    array = np.array([[0.1, np.nan], [np.inf, -0.0]])
    write, read = codec((Estimate, SimpleNamespace))
    result = {"t": (1, 0.1 + 0.2, None), (2, "s"): [True, np.float64(1 / 3), np.int64(4)], "e": Estimate(0.5, n=3)}
    assert repr(read(write(result))) == repr({**result, (2, "s"): [True, 1 / 3, 4]})
    back = read(write([table, array]))
    assert back[0].equals(table) and back[0].schema == table.schema
    assert back[1].tobytes() == array.tobytes() and back[1].dtype == array.dtype and back[1].flags.writeable
    for strange in (object(), np.array([object()]), Path("x"), {1, 2}):
        with pytest.raises(TypeError, match="a result may hold plain data"):
            write(strange)
    with pytest.raises(KeyError):
        codec()[1](write(Estimate()))  # a kind that the reader does not name is not made


def test_fingerprints_tell_work_apart() -> None:
    kinds = [
        1, "1", 1.0, True, None, b"1", [1], (1,), {1: 2}, {"1": 2}, {1}, np.array([1]), np.array([1.0]), np.array([[1]]),
        np.array(["1"], dtype=object), pl.DataFrame({"a": [1]}), pl.DataFrame({"a": ["1"]}), Options(), Options(seed=1),
        Path("1"), fingerprint, partial(fingerprint, 1), partial(fingerprint, 2), [[1], 2], [[1, 2]], [1, 2],
    ]  # fmt: skip
    assert len({fingerprint(kind) for kind in kinds}) == len(kinds)
    assert fingerprint({"b", "a", "c"}) == fingerprint({"c", "b", "a"})
    chunked = pl.concat([pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]})], rechunk=False)
    assert fingerprint(chunked) == fingerprint(pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(TypeError, match="a shard may hold plain data"):
        fingerprint(SimpleNamespace())


KILLED = """
import os, signal, sys
import portrayal
from portrayal.engine.shards import Store
if __name__ == "__main__":
    written, left = Store.write, [3]
    def told(self, shard, result):
        written(self, shard, result)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    Store.write = told
    portrayal.measure(sys.argv[1], engine="local", workers=2)
"""
STUDY = {
    "name": "killed", "audit": "associations",
    "associations": {"tests": ["weat6", "weat7", "weat8", "weat1", "weat2"], "variants": ["words"]},
}  # fmt: skip


def test_a_measure_that_is_killed_goes_on_without_an_engine(tmp_path, monkeypatch) -> None:
    run = portrayal.record(STUDY, tmp_path / "run", quiet=True, systems={"lengths": lambda word: [len(word), 1.0]}).run
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    path = os.pathsep.join(filter(None, sys.path))
    ended = subprocess.run([sys.executable, script, run.folder], env={**os.environ, "PYTHONPATH": path}, check=False)
    assert ended.returncode == -9
    kept = [file for file in (run.folder / "shards").iterdir() if len(file.name) == 64]
    assert (run.folder / "shards" / LEDGER).is_file() and len(kept) == 3
    done = counting(monkeypatch)
    found = portrayal.measure(run.folder).results
    assert len(done) == 2
    assert not (run.folder / "shards").exists()
    assert_frame_equal(portrayal.measure(run.folder).results, found)
