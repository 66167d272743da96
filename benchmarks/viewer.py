"""Fifty reviewers judge at once: how long each waits from pressing a key until the next item is there, with fsync in between.

    python benchmarks/viewer.py [RUN] [--reviewers 50] [--each 20] [--pause 1.0]

RUN is a measured run with pictures, of which a copy is judged; without it one is made. A reviewer thinks for `pause`
seconds on average, which is quick.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1]))  # without a run, the tests' own is made

MOST = 0.2  # seconds that the slowest hundredth may take


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def reviewing(run: Path, reviewers: int = 50, each: int = 20, pause: float = 1.0) -> list[float]:
    """Return the seconds that every judgment took, the next item included."""
    names = [f"reviewer {number}" for number in range(reviewers)]
    words = [word for name in names for word in ("--reviewer", name)]
    process = subprocess.Popen(
        [sys.executable, "-m", "portrayal", "view", str(run), *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    try:
        lines = [process.stderr.readline() for _ in range(reviewers + 1)]
        links = [line.partition(": ")[2].strip() for line in lines[1:]]
        return asyncio.run(_all(links, each, pause))
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


async def _all(links: list[str], each: int, pause: float) -> list[float]:
    times = await asyncio.gather(*(_one(link, each, pause, seed) for seed, link in enumerate(links)))
    return [time for some in times for time in some]


async def _one(link: str, each: int, pause: float, seed: int) -> list[float]:
    draw, times = random.Random(seed), []
    async with httpx2.AsyncClient(base_url=link.partition("/enter/")[0], timeout=30) as client:
        await client.post(link)
        text = (await client.get("/review/1/pictures")).text
        for _ in range(each):
            await asyncio.sleep(draw.uniform(0, 2 * pause))
            form = re.search(r'name="token" value="(\w+)".*?name="item" value="(\w+)"', text, re.S)
            assert form
            given = {"token": form[1], "item": form[2], "judgment": "usable"}
            began = time.perf_counter()
            answer = await client.post("/review/1/pictures", data=given, follow_redirects=True)
            times.append(time.perf_counter() - began)
            assert answer.status_code == 200
            text = answer.text
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", nargs="?", type=Path)
    for name, kind, value in (("reviewers", int, 50), ("each", int, 20), ("pause", float, 1.0)):
        parser.add_argument(f"--{name}", type=kind, default=value)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        if asked.run is None:
            from tests.viewer.made_runs import captions_run

            run = captions_run(Path(folder) / "made")
        else:
            shutil.copytree(asked.run, run)
        times = reviewing(run, asked.reviewers, asked.each, asked.pause)
    slow = quantile(times, 0.99)
    print(
        f"{asked.reviewers} reviewers, {len(times)} judgments: median {1000 * quantile(times, 0.5):.0f} ms,"
        f" p99 {1000 * slow:.0f} ms, slowest {1000 * max(times):.0f} ms (p99 at most {1000 * MOST:.0f} ms)"
    )
    sys.exit(0 if slow < MOST else 1)


if __name__ == "__main__":
    main()
