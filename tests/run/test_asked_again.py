"""Questions asked again: left by a killed process of a free system, or by changed code."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal import flow

LOCAL = """
name = "names"
audit = "associations"

[[systems]]
name = "local"
use = "{use}"
{more}

[associations]
tests = ["weat6"]
variants = []
"""


def states(folder: Path) -> dict[str, int]:
    with sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True) as ledger:
        return dict(ledger.execute("SELECT state, count(*) FROM questions WHERE current GROUP BY state"))


def kill(folder: Path, count: int) -> None:
    """Leave questions in flight, as a killed process does."""
    with sqlite3.connect(folder / "ledger.sqlite") as ledger:
        ledger.execute(
            "UPDATE questions SET state = 'in_flight', raw = NULL WHERE key IN (SELECT key FROM questions LIMIT ?)",
            (count,),
        )


def test_what_a_killed_local_run_left_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(LOCAL.format(use="phantom:associations", more=""))
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    kill(tmp_path / "run", 10)
    assert states(tmp_path / "run") == {"done": 22, "in_flight": 10}
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    assert states(tmp_path / "run") == {"done": 32}


def write_function(folder: Path, value: str) -> None:
    folder.joinpath("encoder_of_test.py").write_text(
        f"def encode(text):\n    return [{value}, float(len(text)), float(ord(text[0]))]\n"
    )


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch):
    """Forget the study's module, as another process would."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions of one second would share a cache
    yield lambda: sys.modules.pop("encoder_of_test", None)
    sys.modules.pop("encoder_of_test", None)


def test_a_function_is_not_asked_again_of_itself(tmp_path: Path, fresh) -> None:
    """It may call a paid service: whether it did is not known."""
    write_function(tmp_path, "1.0")
    (tmp_path / "study.toml").write_text(LOCAL.format(use="python:encoder_of_test:encode", more=""))
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    kill(tmp_path / "run", 10)
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    assert states(tmp_path / "run") == {"done": 22, "unknown": 10}


def test_mended_code_is_asked_again_when_told_to(tmp_path: Path, fresh) -> None:
    """An encoder that answered NaN is mended: what it says now counts, and no old answer is mixed in."""
    (tmp_path / "study.toml").write_text(LOCAL.format(use="python:encoder_of_test:encode", more=""))
    write_function(tmp_path, "float('nan')")
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    assert states(tmp_path / "run") == {"unreadable": 32}
    fresh()
    write_function(tmp_path, "2.0")
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True, again=["changed"])
    assert states(tmp_path / "run") == {"done": 32}
    vectors = pl.read_parquet(tmp_path / "run" / "responses.parquet")["embedding"]
    assert np.array(vectors.to_list())[:, 0].tolist() == [2.0] * 32


def test_a_version_of_the_studys_own_stays(tmp_path: Path, fresh) -> None:
    more = 'version = "of mine"'
    (tmp_path / "study.toml").write_text(LOCAL.format(use="python:encoder_of_test:encode", more=more))
    write_function(tmp_path, "1.0")
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    fresh()
    write_function(tmp_path, "2.0")
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    vectors = pl.read_parquet(tmp_path / "run" / "responses.parquet")["embedding"]
    assert np.array(vectors.to_list())[:, 0].tolist() == [1.0] * 32
