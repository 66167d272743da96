"""Finished shards are kept by the driver, and a job goes on from them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine import jobs
from portrayal.engine import Shard, ShardFailed, Store, run
from portrayal.engine.shards import LEDGER, NOT_THERE, forget
from portrayal.errors import PortrayalError


def kept_in(folder: Path, job: str = "numbers") -> Store:
    """Open a folder of numbers."""
    return Store(folder, job, lambda result: json.dumps(result).encode(), json.loads)


def shards_done(folder: Path) -> list[int]:
    """Return the shards that were really done, once for each time."""
    return sorted(int(path.name.split("-")[1]) for path in folder.glob("shard-*"))


def test_finished_shards_are_not_done_again(tmp_path) -> None:
    make = partial(jobs.make_noting, tmp_path)
    kept = kept_in(tmp_path / "kept")
    shards = [Shard(f"number {number}", number) for number in range(10)]
    first = {shard.content: result for shard, result in run(make, shards[:6], 2, kept)}
    kept.close()
    kept = kept_in(tmp_path / "kept")
    whole = {shard.content: result for shard, result in run(make, shards, 1, kept)}
    kept.close()
    assert first == {number: number + 1 for number in range(6)}
    assert whole == {number: number + 1 for number in range(10)}
    assert shards_done(tmp_path) == list(range(10))


def test_a_shard_is_known_by_its_content_and_its_job(tmp_path) -> None:
    kept, other = kept_in(tmp_path / "kept"), kept_in(tmp_path / "kept", "other numbers")
    kept.write(Shard("captions 1 to 2", ["a", "b"]), 5)
    assert kept.read(Shard("a name is no content", ["a", "b"], 7)) == 5
    assert kept.read(Shard("captions 1 to 2", ["a", "c"])) is NOT_THERE
    assert other.read(Shard("captions 1 to 2", ["a", "b"])) is NOT_THERE
    kept.close(), other.close()


def test_keys_tell_contents_apart() -> None:
    contents = [1, "1", [1], (2,), b"1", {"a": 1}, np.array([1, 2]), np.array([1.0, 2.0]), range(3), Path("a")]
    keys = [Shard("x", content).key("job") for content in contents]
    assert len(set(keys)) == len(keys)
    with pytest.raises(TypeError, match="a shard may hold plain data"):
        Shard("x", object()).key("job")


@pytest.mark.parametrize("harm", ["cut", "gone", "link"])
def test_a_file_that_does_not_match_its_row_is_done_again(tmp_path, harm: str) -> None:
    make = partial(jobs.make_noting, tmp_path)
    kept = kept_in(tmp_path / "kept")
    shard = Shard("number 1", 1)
    list(run(make, [shard], 1, kept))
    file = tmp_path / "kept" / shard.key("numbers")
    if harm == "cut":
        file.write_bytes(b"")
    else:
        file.unlink()
    if harm == "link":
        (tmp_path / "elsewhere").write_bytes(b"2")
        file.symlink_to(tmp_path / "elsewhere")
    assert [result for _, result in run(make, [shard], 1, kept)] == [2]
    kept.close()
    assert shards_done(tmp_path) == [1, 1]
    assert not file.is_symlink() and file.read_bytes() == b"2"


def test_good_shards_are_kept_when_one_fails(tmp_path) -> None:
    kept = kept_in(tmp_path / "kept", "words")
    words = [Shard(f"word {word}", word) for word in ("a", "b", "mend", "c")]
    with pytest.raises(ShardFailed, match="word mend: expected a picture"):
        list(run(jobs.failing, words, 1, kept))
    assert [kept.read(word) for word in words] == ["a", "b", NOT_THERE, NOT_THERE]
    kept.close()


def test_a_foreign_file_is_refused_in_one_line(tmp_path) -> None:
    (tmp_path / LEDGER).write_bytes(b"a diary, not a database" * 50)
    with pytest.raises(PortrayalError, match="cannot be read .* Remove the folder"):
        kept_in(tmp_path)


def test_what_was_kept_is_forgotten_but_nothing_behind_a_link(tmp_path) -> None:
    kept_in(tmp_path / "kept").close()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    forget(tmp_path / "link")
    assert (tmp_path / "kept" / LEDGER).exists()
    forget(tmp_path / "kept")
    forget(tmp_path / "never there")
    assert not (tmp_path / "kept").exists()


DRIVER = """
import sys
from functools import partial
from pathlib import Path
from engine import jobs
from engine.test_kept import kept_in
from portrayal.engine import Shard, run, using
folder, engine, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if __name__ == "__main__":
    kept = kept_in(folder / "kept")
    shards = [Shard(f"number {number}", number) for number in range(count)]
    with using(engine, 2):
        found = {shard.content: result for shard, result in run(partial(jobs.make_noting, folder), shards, 2, kept)}
    print(sorted(found.values()) == list(range(1, count + 1)))
"""


def driver(folder: Path, engine: str, count: int) -> subprocess.Popen:
    """Start a job in a process of its own, which can be killed."""
    script = folder / "driver.py"
    script.write_text(DRIVER)
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[1])])
    return subprocess.Popen(
        [sys.executable, script, folder, engine, str(count)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_in_the_middle(folder: Path, engine: str, count: int) -> int:
    """Start a job, kill its driver once some shards are finished, and return how many are."""
    process = driver(folder, engine, count)
    deadline = time.monotonic() + 240
    while len(finished(folder)) < 8 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    wait_for_workers(folder)
    return len(finished(folder))


def wait_for_workers(folder: Path, still: float = 3.0) -> None:
    """Wait until what a dead driver's workers had in hand is done: on a busy machine that takes longer than any fixed while."""
    done, since = len(shards_done(folder)), time.monotonic()
    while time.monotonic() - since < still:
        time.sleep(0.05)
        if len(shards_done(folder)) != done:
            done, since = len(shards_done(folder)), time.monotonic()


def finished(folder: Path) -> list[str]:
    """Return the shards whose file a row vouches for: a driver killed between the two leaves a file that counts for nothing."""
    ledger = folder / "kept" / LEDGER
    if not ledger.exists():
        return []
    with closing(sqlite3.connect(ledger)) as opened:
        try:
            rows = opened.execute("SELECT key FROM finished").fetchall()
        except sqlite3.OperationalError:  # the driver has not made its table yet
            return []
    return [key for (key,) in rows if (folder / "kept" / key).exists()]


def test_a_killed_driver_goes_on_without_doing_finished_shards_again(tmp_path) -> None:
    before = kill_in_the_middle(tmp_path, "local", 120)
    assert 8 <= before < 120
    done = len(shards_done(tmp_path))
    assert done - before <= 5  # in hand when the driver died: two at work, two to follow, one being written
    process = driver(tmp_path, "local", 120)
    said, _ = process.communicate()
    assert said == "True\n"
    assert len(finished(tmp_path)) == 120
    assert len(shards_done(tmp_path)) == done + (120 - before)
