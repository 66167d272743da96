"""Kill the viewer (`kill -9`) after random judgments: those that were acknowledged must be on disk, the reviewer at the same place.

    python benchmarks/kills.py [--kills 50] [--seed 0]

A made run is judged; after one to three judgments the process is killed and started again, and the same
browser goes on without a new link. Every other kill comes while a further judgment is on its way: it may be kept or not, but
what was acknowledged must be there.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx2

from portrayal.run.reviews import read_judgments

sys.path.insert(0, str(Path(__file__).parents[1]))

QUEUE = "/review/1/pictures"
JUDGMENTS = ("usable", "flawed", "cannot tell")
Kept = list[tuple[str, str]]


class Server:
    """`portrayal view` in a process of its own, and Ann's browser, which may bring its cookies from an earlier one."""

    def __init__(self, run: Path, cookies: httpx2.Cookies | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "portrayal", "view", str(run), *(() if cookies else ("--reviewer", "Ann"))],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr
        lines = [self.process.stderr.readline() for _ in range(2)]
        self.address = lines[0].partition(": ")[2].partition("/enter/")[0]
        self.client = httpx2.Client(base_url=self.address, cookies=cookies, timeout=30)
        if not cookies:
            assert self.client.post(re.sub(r"^Ann: ", "", lines[1]).strip()).status_code == 303

    def shown(self) -> dict[str, str]:
        """Return what the form carries: the item to judge, or, where all are judged, the last one, to take it back."""
        page = self.client.get(QUEUE)
        assert page.status_code == 200, page.text[:200]
        forms = re.findall(r"<form [^>]*method=\"post\".*?</form>", page.text, re.S)
        judging = [form for form in forms if "data-judges" in form]
        held = dict(re.findall(r'type="hidden" name="(token|item)" value="([^"]*)"', (judging or forms)[0]))
        return held if judging else {**held, "act": "undo"}

    def judge(self, judgment: str) -> tuple[str, str]:
        """Judge the item that shows; return what must be on disk from now on."""
        held = self.shown()
        assert self.client.post(QUEUE, data={**held, "judgment": judgment}).status_code == 303
        return held["item"], "" if "act" in held else judgment

    def kill(self) -> None:
        """End the process at once."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.client.close()
        assert self.process.stderr
        self.process.stderr.close()


def on_disk(run: Path) -> Kept:
    """Return the acts of the journal: item and judgment, empty of one that was taken back."""
    acts = read_judgments(run / "judgments.jsonl")
    return [(act["item"], act["rows"][0]["judgment"] if act.get("rows") else "") for act in acts]


def kill_often(run: Path, kills: int, seed: int = 0) -> tuple[int, int]:
    """Judge and kill; return how many judgments were acknowledged and how many of them a kill lost."""
    draw, acknowledged, lost, cookies = random.Random(seed), Kept(), 0, None
    for number in range(kills):
        server = Server(run, cookies)
        for _ in range(draw.randint(1, 3)):
            acknowledged.append(server.judge(draw.choice(JUDGMENTS)))
        cookies = server.client.cookies
        if number % 2:
            acknowledged += _killed_while_judging(server, draw)
        else:
            server.kill()
        kept = on_disk(run)
        lost += sum(one != other for one, other in zip(acknowledged, kept, strict=False))
        lost += max(len(acknowledged) - len(kept), 0)
        assert len(kept) <= len(acknowledged) + 1
        acknowledged = kept
    return len(acknowledged), lost


def _killed_while_judging(server: Server, draw: random.Random) -> Kept:
    """Kill while a judgment is on its way; return it where it was acknowledged all the same."""
    done: Kept = []

    def judging() -> None:
        with suppress(httpx2.HTTPError, RuntimeError):  # the process was gone first
            done.append(server.judge("usable"))

    thread = threading.Thread(target=judging)
    thread.start()
    time.sleep(draw.uniform(0, 0.05))
    os.kill(server.process.pid, signal.SIGKILL)
    thread.join()
    server.kill()
    return done


def main() -> None:
    """Print what 50 kills lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    from tests.viewer.made_runs import captions_run

    with tempfile.TemporaryDirectory() as folder:
        judged, lost = kill_often(captions_run(Path(folder)), asked.kills, asked.seed)
    print(f"{asked.kills} kills, {judged} judgments on disk: {lost} lost; one link, one browser throughout")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
