"""The engine `ray` on a cluster of two nodes on this machine: the same results, and losses that cost time only."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from benchmarks.engine import captions

from engine import jobs, test_resumed
from engine.test_kept import driver, finished, kept_in, kill_in_the_middle, shards_done
from portrayal.engine import Shard, ShardFailed, ShardFault, in_order, pool, run, using
from portrayal.engine.ray_pool import import_ray
from portrayal.errors import PortrayalError
from portrayal.text.captions import parsing

CAPTIONS = int(os.environ.get("PORTRAYAL_TEST_CAPTIONS", "2000"))
SHARD = 100  # captions
NO_WARNINGS = pytest.mark.filterwarnings("ignore")  # of Ray's own code


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start two nodes with a processor each, and join them."""
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    import_ray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        both = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        both.add_node(num_cpus=1)
        both.wait_for_nodes()
        with using(f"ray://{both.address}") as choice:
            assert choice.session.size() == 2
            yield both
        both.shutdown()


@NO_WARNINGS
def test_captions_give_the_same_scene_graphs_as_the_local_engine(cluster, monkeypatch) -> None:
    texts = captions(CAPTIONS)
    monkeypatch.setattr(parsing, "BATCH", SHARD)
    monkeypatch.setattr(parsing, "CACHED", 0)
    with using(f"ray://{cluster.address}"):
        on_ray = parsing.scene_graphs(texts)
    monkeypatch.setattr(parsing, "_CACHE", {})
    with using("local", 2):
        here = parsing.scene_graphs(texts)
    assert len(on_ray) == CAPTIONS and on_ray == here
    assert all(graph.objects for graph in here)


@NO_WARNINGS
def test_make_is_called_once_in_each_worker(cluster, tmp_path) -> None:
    make = partial(jobs.make_noting, tmp_path)
    assert in_order(make, range(60), "number") == list(range(1, 61))
    makers = [path.name.split("-")[1] for path in tmp_path.glob("made-*")]
    assert len(makers) == len(set(makers)) <= 2
    assert shards_done(tmp_path) == list(range(60))


@NO_WARNINGS
def test_a_worker_that_runs_out_of_memory_names_the_shard(cluster) -> None:
    with pytest.raises(ShardFailed, match="picture 2 of 2: the worker ran out of memory"):
        in_order(partial(jobs.hungry, 2**28), [2**20, 2**30], "picture")


@NO_WARNINGS
def test_an_error_names_its_shard(cluster) -> None:
    with pytest.raises(ShardFault, match="word 2 of 3: ZeroDivisionError: division by zero") as raised:
        in_order(jobs.failing, ["a", "fault", "b"], "word")
    assert "in _fail" in str(raised.value)


@NO_WARNINGS
def test_a_shard_that_ends_every_worker_is_named(cluster) -> None:
    with pytest.raises(ShardFailed, match="word 2 of 3: given to 3 workers, and each ended without an answer"):
        in_order(jobs.failing, ["a", "die", "b"], "word")


@NO_WARNINGS
def test_a_cluster_without_room_is_not_waited_for_in_silence(cluster, monkeypatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 2.0)
    said = "no worker could be started: the cluster has 2 processors, .* of them free, and had no room for one"
    with pytest.raises(ShardFailed, match=said):
        list(run(jobs.squares, [Shard("number 1", 1)], gpus=1.0))  # there is none


@NO_WARNINGS
@pytest.mark.parametrize(("killed", "resumed"), [("ray", "local"), ("local", "ray")])
def test_a_killed_driver_goes_on_with_the_other_engine(cluster, tmp_path, killed: str, resumed: str) -> None:
    names = {"ray": f"ray://{cluster.address}", "local": "local"}
    before = kill_in_the_middle(tmp_path, names[killed], 150)
    assert 8 <= before < 150
    done = len(shards_done(tmp_path))
    assert done - before <= 5  # in hand when the driver died
    said, _ = driver(tmp_path, names[resumed], 150).communicate()
    assert said == "True\n"
    assert len(finished(tmp_path)) == 150
    assert len(shards_done(tmp_path)) == done + (150 - before)


@NO_WARNINGS
@pytest.mark.parametrize(("first", "then"), [("ray", "local"), ("local", "ray")])
def test_association_tests_go_on_with_the_other_engine(cluster, tmp_path, monkeypatch, first, then) -> None:
    names = {"ray": f"ray://{cluster.address}", "local": "local"}
    expected = test_resumed.association_tests()
    with using(names[first], 2, tmp_path / "shards"):
        test_resumed.stopped(monkeypatch, test_resumed.association_tests, 2)
    done = test_resumed.counting(monkeypatch)
    with using(names[then], 2, tmp_path / "shards"):
        found = test_resumed.association_tests()
    assert len(done) == 10 and repr(found) == repr(expected)  # of twelve


@NO_WARNINGS
def test_a_node_killed_in_the_middle_costs_no_result(cluster, tmp_path) -> None:
    """Last, because one node is left afterwards."""
    kept = kept_in(tmp_path / "kept")
    shards = [Shard(f"number {number}", number) for number in range(80)]
    killer = Thread(target=_kill_second_node, args=(cluster, tmp_path))
    killer.start()
    with using(f"ray://{cluster.address}", 2):
        found = {
            shard.content: result for shard, result in run(partial(jobs.make_noting, tmp_path, 0.2), shards, store=kept)
        }
    killer.join()
    kept.close()
    assert found == {number: number + 1 for number in range(80)}
    assert len(finished(tmp_path)) == 80
    assert len(cluster.list_all_nodes()) == 1


def _kill_second_node(cluster: Any, folder: Path) -> None:
    """Kill a node once the workers of both have finished something."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        workers = {path.name.split("-")[2] for path in folder.glob("shard-*")}
        if len(workers) == 2:
            break
        time.sleep(0.05)
    cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)


def test_without_ray_one_line_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PortrayalError) as raised, using("ray"):
        in_order(jobs.squares, [1], "number")
    assert str(raised.value) == (
        "the engine 'ray' needs an extra that is not installed. Run: pip install 'portrayal-audit[ray]'"
    )


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "127.0.0.1:many", "127.0.0.1:99999"])
def test_an_address_where_nobody_listens_is_one_line(address: str, monkeypatch) -> None:
    ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    began = time.monotonic()
    with (
        pytest.raises(PortrayalError, match=f"no Ray cluster answers at '{address}'. Expected HOST:PORT"),
        using(f"ray://{address}"),
    ):
        in_order(jobs.squares, [1], "number")
    assert time.monotonic() - began < 10
