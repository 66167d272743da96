"""Calls a second through recorder, ledger and HTTP, against a local server that answers at once.

    python benchmarks/recording.py [--calls 100000] [--concurrency 64]

The server runs in a process of its own. Prints calls a second, processor time a call of ours, memory at one tenth of
the calls and at the end, and seconds and memory of measuring and of resuming what is finished.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BODY = b'["woman", "tree", "street", "smile", "dress"]'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)


class Server(asyncio.Protocol):
    """Answers every request at once; requests are short and come one at a time on a connection."""

    def connection_made(self, transport: Any) -> None:
        """Begin a conversation."""
        self.transport, self.held = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            head = self.held[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.held) < end + 4 + length:
                return
            self.held = self.held[end + 4 + length :]
            self.transport.write(HEAD + BODY)


def serve(ready: Any) -> None:
    """Run the server until the process is ended; tells its port."""

    async def serving() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serving())


def memory() -> float:
    """Return the memory of this process now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def record(calls: int, port: int, concurrency: int, folder: Path) -> dict[str, float]:
    """Record so many calls to one system; return what it took."""
    from portrayal.recorder.ledger import Ledger
    from portrayal.run.recording import ask, write_questions
    from portrayal.systems.core.base import Question
    from portrayal.systems.core.registry import open_system
    from portrayal.systems.core.settings import SystemSettings

    use = {"name": "local", "use": f"http://127.0.0.1:{port}/tags", "limits": {"concurrency": concurrency}}
    system = open_system(SystemSettings(**use), folder, "tagger")
    questions = {f"k{n}": [Question(f"s{n}", "text", f"picture {n}", f"h{n}", 0)] for n in range(calls)}
    seen: dict[str, float] = {"done": 0}

    def listen(name: str, state: str, count: int, dollars: float) -> None:
        seen[state] = seen.get(state, 0) + count
        if seen["done"] == calls // 10:
            seen["memory_early"] = memory()

    with Ledger(folder / "ledger.sqlite") as ledger:
        write_questions(ledger, [(system, questions)])
        wall, cpu = time.perf_counter(), time.process_time()
        ask(ledger, [(system, questions)], listen)
        seen |= {"seconds": time.perf_counter() - wall, "processor": time.process_time() - cpu}
    return {**seen, "memory_late": memory()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        told = record(options.calls, ours.recv(), options.concurrency, Path(folder))
    server.kill()
    print(line(options.calls, told))


def line(calls: int, told: Mapping[str, float]) -> str:
    """Say what recording took."""
    return (
        f"recording: {calls:,} calls, {told['done']:,.0f} done, {calls / told['seconds']:,.0f} a second,"
        f" {1000 * told['processor'] / calls:.2f} ms of processor time a call;"
        f" memory {told['memory_early']:.0f} MB after a tenth, {told['memory_late']:.0f} MB at the end"
    )


if __name__ == "__main__":
    main()
