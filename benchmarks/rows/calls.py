"""Recorded calls to a local server, beside Inspect AI's eval loop with as many connections to the same server."""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.recording import BODY, record, serve
from benchmarks.shape import Benchmark, Peer

CONNECTIONS = 64
FEWER = 10  # Inspect is timed on a tenth of the calls


@dataclass(frozen=True)
class Served:
    """So many calls, and the server that answers them."""

    calls: int
    port: int
    server: Any


def prepare(size: int) -> Served:
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    return Served(size, here.recv(), server)


def ours(data: Served) -> dict[str, Any]:
    """Write the plan, ask, and keep every raw answer on disk before the next step."""
    import sqlite3

    with tempfile.TemporaryDirectory() as folder:
        told = record(data.calls, data.port, CONNECTIONS, Path(folder))
        with sqlite3.connect(Path(folder) / "ledger.sqlite") as ledger:
            tables = [name for (name,) in ledger.execute("select name from sqlite_master where type = 'table'")]
        size = (Path(folder) / "ledger.sqlite").stat().st_size
    return {"done": told["done"], "bytes": size, "tables": tables}


def check(data: Served, found: dict[str, Any]) -> str:
    return "" if found["done"] == data.calls else f"{found['done']} of {data.calls} calls are done"


def timed_on(data: Served) -> int:
    """Return how many calls Inspect is timed on."""
    return max(1, data.calls // FEWER)


def give(data: Served, folder: Path) -> None:
    given = {"calls": timed_on(data), "port": data.port, "connections": CONNECTIONS, "body": BODY.decode()}
    (folder / "given.json").write_text(json.dumps(given))


def equal(data: Served, found: dict[str, Any], theirs: dict[str, np.ndarray]) -> str:
    answered = int(theirs["answered"])
    return "" if answered == timed_on(data) else f"{answered} of {timed_on(data)} calls were answered"


def limit(data: Served) -> dict[str, float]:
    """A commit for every round of as many calls as there are connections, twice: asked, and answered."""
    return {"commits": 2 * data.calls / CONNECTIONS, "disk": data.calls * 600}


BENCHMARK = Benchmark(
    name="recorded calls",
    work="10,000 recorded calls to a local server, 64 connections",
    size=10_000,
    unit="calls",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "Inspect AI's eval loop",
            2,
            "inspect_ai",
            script="inspect_calls",
            environment="bench_inspect",
            give=give,
            equal=equal,
            scale=lambda data: data.calls / timed_on(data),
            scaled="timed on 1,000 calls, scaled to 10,000",
        ),
    ),
    check=check,
    limit=limit,
    close=lambda data: data.server.kill(),
    smallest=100,
)
