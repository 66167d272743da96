"""The local engine: this process, and processes of this machine."""

from __future__ import annotations

import os
import pickle
from functools import partial

import pytest

from engine import jobs
from portrayal.engine import Shard, ShardFailed, ShardFault, cut, in_order, run, using
from portrayal.engine.pool import Pool, Process
from portrayal.errors import PortrayalError


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_their_contents(workers: int) -> None:
    found = in_order(jobs.squares, list(range(20)), "number", workers)
    assert [square for square, _ in found] == [number * number for number in range(20)]
    made_by = {process for _, process in found}
    assert (made_by == {os.getpid()}) == (workers == 1)


def test_make_is_called_once_in_each_worker(tmp_path) -> None:
    assert in_order(partial(jobs.make_noting, tmp_path), range(30), "number", 2) == list(range(1, 31))
    makers = [path.name.split("-")[1] for path in tmp_path.glob("made-*")]
    assert len(makers) == len(set(makers)) == 2
    done = [path.name.split("-")[1] for path in tmp_path.glob("shard-*")]
    assert sorted(map(int, done)) == list(range(30))


def test_no_shards_start_no_worker() -> None:
    assert list(run(jobs.dying_before_it_is_ready, [], 2)) == []


def test_shards_are_taken_as_they_are_needed() -> None:
    taken = []

    def shards():
        for number in range(1000):
            taken.append(number)
            yield Shard(f"number {number}", number)

    results = run(jobs.squares, shards(), 2)
    next(results)
    assert len(taken) <= 5  # two at work, two to follow, and the one that was asked for
    results.close()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ("mend", ShardFailed, "word 2 of 3: expected a picture, got a poem. Give a picture."),
        ("fault", ShardFault, "word 2 of 3: ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_names_its_shard(workers: int, how: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as raised:
        in_order(jobs.failing, ["a", how, "b"], "word", workers)
    assert str(raised.value).splitlines()[0] == said
    assert ("in _fail" in str(raised.value)) == (how == "fault")  # where it happened, in the worker


def test_a_result_that_cannot_be_sent_names_its_shard() -> None:
    with pytest.raises(ShardFault, match="word 2 of 3: .*[Pp]ickle"):
        in_order(jobs.failing, ["a", "unpicklable", "b"], "word", 2)


def test_a_shard_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(ShardFault, match="word 2 of 2: .*[Pp]ickle"):
        in_order(jobs.failing, ["a", lambda: None], "word", 2)


@pytest.mark.parametrize(("how", "end"), [("die", "killed by SIGKILL"), ("leave", "exit code 3")])
def test_a_shard_that_ends_every_worker_is_named(how: str, end: str) -> None:
    said = rf"word 2 of 3: given to 3 workers, and each ended without an answer \({end}\)"
    with pytest.raises(ShardFailed, match=said):
        in_order(jobs.failing, ["a", how, "b"], "word", 2)


@pytest.mark.parametrize("workers", [2])
def test_a_worker_that_runs_out_of_memory_names_the_shard(workers: int) -> None:
    make = partial(jobs.hungry, 2**28)
    assert in_order(make, [2**20, 2**21], "picture", workers) == [2**20, 2**21]
    with pytest.raises(ShardFailed, match="picture 2 of 2: the worker ran out of memory"):
        in_order(make, [2**20, 2**30], "picture", workers)


def test_a_worker_that_is_lost_is_replaced_and_its_shard_done_again(tmp_path) -> None:
    assert in_order(partial(jobs.die_once, tmp_path), range(8), "number", 2) == list(range(8))
    assert (tmp_path / "died").exists()


def test_what_cannot_be_built_is_said_once() -> None:
    with pytest.raises(ShardFailed, match="no model at weights/. Give a folder."):
        in_order(jobs.unbuildable, ["a", "b", "c"], "word", 2)
    with pytest.raises(ShardFailed, match="no worker could be started: exit code 9"):
        in_order(jobs.dying_before_it_is_ready, ["a", "b", "c"], "word", 2)


def test_work_inside_a_worker_is_not_spread_again() -> None:
    assert in_order(jobs.nested, [1, 2], "number", 2) == [[True, True], [True, True]]


def test_workers_have_one_thread_each_and_the_environment_stays(monkeypatch) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    assert in_order(jobs.threads, [1], "number", 2) == ["1"]
    assert "POLARS_MAX_THREADS" not in os.environ


def test_workers_that_were_chosen_go_before_those_the_caller_thinks_fit() -> None:
    with using("local", workers=1):
        assert {process for _, process in in_order(jobs.squares, [1, 2], "number", 2)} == {os.getpid()}
    with using(workers=2):
        assert os.getpid() not in {process for _, process in in_order(jobs.squares, [1, 2], "number", 1)}


@pytest.mark.parametrize(
    ("engine", "workers", "said"),
    [
        ("rya", None, "no engine 'rya'. Did you mean 'ray'? Known: local, ray."),
        ("local://here", None, "no engine 'local://here'. Expected local, ray, or ray://HOST:PORT."),
        ("ray://", None, "no engine 'ray://'. Expected local, ray, or ray://HOST:PORT."),
        ("local", 0, "workers is 0. Expected 1 or more."),
        (None, -1, "workers is -1. Expected 1 or more."),
    ],
)
def test_a_wrong_choice_is_one_line(engine: str | None, workers: int | None, said: str) -> None:
    with pytest.raises(PortrayalError) as raised, using(engine, workers):
        pass
    assert str(raised.value) == said


def test_the_name_of_a_shard_says_where_it_lies() -> None:
    assert [shard.name for shard in cut(range(4001), 2000, "captions")] == [
        "captions 1 to 2,000 of 4,001",
        "captions 2,001 to 4,000 of 4,001",
        "captions 4,001 to 4,001 of 4,001",
    ]


def test_progress_is_one_bar(capsys, monkeypatch) -> None:
    monkeypatch.setattr("portrayal.edges.console.EVERY", 0.0)
    shards = [Shard(f"number {number}", number) for number in range(4)]
    with using(quiet=False):
        list(run(jobs.squares, shards, 1, label="squares"))
    assert capsys.readouterr().err.splitlines()[-1] == "squares: 3 of 4 done"
    with using(quiet=True):
        list(run(jobs.squares, shards, 1, label="squares"))
    assert capsys.readouterr().err == ""


def test_whoever_stops_waiting_does_not_stop_the_worker() -> None:
    with Pool(partial(Process, pickle.dumps(jobs.squares)), 1) as pool:
        first, second = (pool.submit(Shard(f"number {number}", number)) for number in (2, 3))
        assert not first.cancel()
        assert [future.result().result[0] for future in (first, second)] == [4, 9]
