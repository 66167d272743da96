"""Index and search beside bm25s with numba, in one run, printed as ratios.

100,000 documents of 200 words (Zipf over 200,000 terms, seed 0) and 250 queries at depth 1,000; then 528,000
documents end to end, streamed. Every part runs in a process of its own, so that its peak memory is its own. bm25s
and numba go into a virtual environment under build/.

    python benchmarks/search.py                      all parts
    python benchmarks/search.py --documents 20000    smaller; leaves the 528,000 out
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

import search_gsr
from search_texts import DEPTH, QUERIES, WORDS, documents, queries

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "build" / "peers"
LARGE = 528_000


def ours(count: int) -> dict[str, float]:
    from portrayal.systems.rankers.lexical import bm25
    from portrayal.text.index import build_index

    texts = list(documents(count))
    named = [(str(number), text) for number, text in enumerate(texts)]
    made = []
    # bm25s weighs words while it indexes, so weighing counts here too
    indexed = _best_of(lambda: made.append(bm25(build_index(named))), 1)
    asked = dict(enumerate(queries(texts)))
    return _rates(count, indexed, _best_of(lambda: made[0].search(asked, DEPTH)))


def peer(count: int) -> dict[str, float]:
    import bm25s

    texts = list(documents(count))
    ranker = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    indexed = _best_of(
        lambda: ranker.index(bm25s.tokenize(texts, show_progress=False), show_progress=False), 1
    )
    asked = queries(texts)

    def search() -> None:
        tokens = bm25s.tokenize(asked, show_progress=False)
        ranker.retrieve(tokens, k=DEPTH, show_progress=False)

    search()  # numba compiles here
    return _rates(count, indexed, _best_of(search))


def large(count: int) -> dict[str, float]:
    from portrayal.systems.rankers.lexical import bm25
    from portrayal.text.index import build_index

    start = time.perf_counter()
    index = build_index((str(number), text) for number, text in enumerate(documents(LARGE)))
    ranker = bm25(index)
    asked = dict(enumerate(queries(documents(QUERIES))))
    found = ranker.search(asked, DEPTH)
    results = sum(len(hits.numbers) for hits in found.values())
    return {"seconds": time.perf_counter() - start, "documents": LARGE, "results": results}


PARTS: dict[str, Callable[[int], dict[str, float]]] = {
    "ours": ours,
    "peer": peer,
    "gsr": search_gsr.gsr,
    "large": large,
}


def run(part: str, count: int) -> dict[str, float]:
    """Run one part in a process of its own; bm25s and numba are only in the peers' environment."""
    python = _peer_python() if part == "peer" else sys.executable
    command = [python, __file__, "--part", part, "--documents", str(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{part} failed: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--part", choices=PARTS)
    options = parser.parse_args()
    if options.part:
        found = PARTS[options.part](options.documents)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps({**found, "peak_gb": peak}))
        return
    mine, theirs = run("ours", options.documents), run("peer", options.documents)
    print(f"{options.documents:,} documents of {WORDS} words, {QUERIES} queries at depth {DEPTH:,}")
    for what, unit in (("index", "documents/s"), ("search", "queries/s")):
        ratio, processor = (mine[name] / theirs[name] for name in (what, f"{what}_processor"))
        print(
            f"{what:8} portrayal {mine[what]:10,.0f}  bm25s+numba {theirs[what]:10,.0f} {unit}  ratio {ratio:.2f}, "
            f"of processor time {processor:.2f}"
        )
    print(f"memory   portrayal {mine['peak_gb']:10.2f}  bm25s+numba {theirs['peak_gb']:10.2f} GB at the peak")
    lists = run("gsr", options.documents)
    print(
        f"GSR      {QUERIES} lists of {DEPTH:,} in {lists['seconds']:.1f} s ({lists['with_words']:.1f} s with reading the words, "
        f"{lists['processor']:.1f} s of processor time, "
        f"{lists['peak_gb']:.2f} GB at the peak); a loop over documents {lists['loop']:,.0f} s, ratio "
        f"{lists['loop'] / lists['with_words']:.0f}, apart by {lists['apart']:.0e}"
    )
    if options.documents >= 100_000:
        whole = run("large", LARGE)
        print(
            f"large    {LARGE:,} documents end to end in {whole['seconds']:.0f} s, {whole['peak_gb']:.2f} GB at the peak"
        )


def _best_of(work: Callable[[], object], times: int = 5) -> tuple[float, float]:
    """Return the shortest of several timings by the clock and in processor time: others measure other work."""
    taken = []
    for _ in range(times):
        start = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return min(clock for clock, _ in taken), min(processor for _, processor in taken)


def _rates(count: int, indexed: tuple[float, float], searched: tuple[float, float]) -> dict[str, float]:
    """Return documents and queries per second, by the clock and per second of processor time."""
    return {
        "index": count / indexed[0],
        "index_processor": count / indexed[1],
        "search": QUERIES / searched[0],
        "search_processor": QUERIES / searched[1],
    }


def _peer_python() -> str:
    """Return the interpreter that has bm25s and numba, made on first use."""
    python = PEERS / "bin" / "python"
    if not (PEERS / "ready").exists():
        venv.create(PEERS, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "bm25s", "numba", "scipy"], check=True)
        (PEERS / "ready").touch()
    return str(python)


if __name__ == "__main__":
    main()
