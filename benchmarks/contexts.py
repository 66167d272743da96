"""Composing against a per-pixel Python loop; counting 27 million tag rows against plain polars.

    python benchmarks/contexts.py [rows]

Both sides do the same work and their results are compared. Prints one line each with the ratio of wall times, the ratio of
processor times (which a busy machine does not disturb) and, for the rows, the peak memory of our process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 27_000_000
SIZE = (2444, 1718)  # of the Chicago Face Database


def person_before_white(size: tuple[int, int] = SIZE):
    """A drawn person before a white backdrop."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, (250, 250, 250))
    draw = ImageDraw.Draw(image)
    width, height = size
    draw.ellipse((width * 0.36, height * 0.1, width * 0.64, height * 0.62), fill=(150, 110, 90))
    draw.rectangle((width * 0.2, height * 0.6, width * 0.8, height), fill=(110, 112, 118))
    return image


def loop_compose(person, background, tolerance: int = 24):
    """Flood from the top corners and paste, one pixel at a time, as a script without numpy would."""
    pixels, width, height = person.load(), *person.size
    reached = [[False] * width for _ in range(height)]
    for start in ((0, 0), (width - 1, 0)):
        base, queue = pixels[start], deque([start])
        while queue:
            x, y = queue.popleft()
            if reached[y][x] or max(abs(a - b) for a, b in zip(pixels[x, y], base, strict=True)) > tolerance:
                continue
            reached[y][x] = True
            queue.extend(
                (a, b)
                for a, b in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
                if 0 <= a < width and 0 <= b < height
            )
    canvas = background.copy()
    out = canvas.load()
    for y in range(height):
        for x in range(width):
            if not reached[y][x]:
                out[x, y] = pixels[x, y]
    return canvas


def compose_ours(person, background):
    """The same with the package: cut out, clean the fringe, paste at the bottom, centred."""
    from portrayal.vision.compose import place
    from portrayal.vision.cutout import cut_out

    return place(cut_out(person).image, background).image


def composing() -> str:
    from concurrent.futures import ThreadPoolExecutor
    from os import cpu_count

    from PIL import Image

    person, background = person_before_white(), Image.new("RGB", SIZE, (60, 120, 80))
    compose_ours(person, background)  # imports
    pictures = 4 * (cpu_count() or 1)
    start, busy = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(cpu_count()) as pool:
        found = list(pool.map(lambda _: compose_ours(person, background), range(pictures))).pop()
    ours, ours_busy = (time.perf_counter() - start) / pictures, (time.process_time() - busy) / pictures
    start, busy = time.perf_counter(), time.process_time()
    expected = loop_compose(person, background)
    theirs, theirs_busy = time.perf_counter() - start, time.process_time() - busy
    differ = (np.abs(np.asarray(found, int) - np.asarray(expected, int)).max(axis=2) > 24).mean()
    return (
        f"composing {SIZE[0]} x {SIZE[1]}: ours {ours:.3f} s a picture on {cpu_count()} cores, per-pixel loop {theirs:.2f} s,"
        f" ratio {theirs / ours:.0f}; processor time {ours_busy:.3f} s and {theirs_busy:.2f} s, ratio"
        f" {theirs_busy / ours_busy:.0f} (pixels that differ: {differ:.2%})"
    )


def write_tags(path: Path, rows: int) -> None:
    """Write tags of pictures with 30 tags each, both columns as categories."""
    from portrayal.text.typology import load_typology

    random = np.random.default_rng(0)
    words = load_typology()["tag"].unique().sort().sample(4000, seed=0)
    weights = 1 / np.arange(1, len(words) + 1) ** 0.8
    codes = random.choice(len(words), size=rows, p=weights / weights.sum())
    images = pl.Series(np.arange(rows // 30 + 1)).cast(pl.String)
    frame = pl.DataFrame(
        {
            "image_id": images.cast(pl.Categorical).gather(np.arange(rows) // 30),
            "tag": words.cast(pl.Categorical).gather(codes),
        }
    )
    frame.write_parquet(path, row_group_size=3_000_000)


def count_ours(path: Path) -> pl.DataFrame:
    from portrayal.audits.contexts.measures.recorded_counts import count_recorded
    from portrayal.text.typology import load_context_tags, load_typology

    return count_recorded(path, load_typology(), load_context_tags())


def count_plain(path: Path) -> pl.DataFrame:
    """A plain polars query: join each row to its tag's clusters, sum by image."""
    from portrayal.audits.contexts.measures.pictures import membership
    from portrayal.text.typology import load_context_tags, load_typology

    rows = pl.scan_parquet(path)
    names = rows.select(pl.col("tag").unique()).collect(engine="streaming")["tag"]
    lookup = membership(names.cast(pl.String).to_list(), load_typology(), load_context_tags())
    columns = [*(f"in {name}" for name in lookup.clusters), *(f"place {name}" for name in lookup.contexts)]
    flags = pl.DataFrame({"tag": names} | {name: lookup.member[:, at] for at, name in enumerate(columns)})
    joined = rows.join(flags.lazy(), on="tag", how="left").group_by("image_id")
    return joined.agg(*(pl.col(name).sum() for name in columns), pl.len().alias("tags")).collect(
        engine="streaming"
    )


def alone(what: str, path: Path) -> tuple[float, ...]:
    """Run one side in its own process: wall seconds, processor seconds, gigabytes at the peak, and a checksum."""
    printed = subprocess.run(
        [sys.executable, __file__, what, str(path)], check=True, capture_output=True, text=True
    ).stdout
    return tuple(map(float, printed.split()))


def one_side(what: str, path: Path) -> None:
    """Count, and print wall seconds, processor seconds, gigabytes and a checksum."""
    start, busy = time.perf_counter(), time.process_time()
    table = {"ours": count_ours, "plain": count_plain}[what](path)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    checksum = sum(
        float(table[name].sum()) * (place + 1)
        for place, name in enumerate(sorted(set(table.columns) - {"image_id"}))
    )
    print(seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, checksum)


def counting(rows: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tags.parquet"
        write_tags(path, rows)
        ours = min(alone("ours", path) for _ in range(3))
        plain = min(alone("plain", path) for _ in range(2))
    if ours[3] != plain[3]:
        raise SystemExit("the two counts differ")
    return (
        f"counting {rows:,} tag rows: ours {ours[0]:.2f} s at {ours[2]:.2f} GB, plain polars {plain[0]:.2f} s at"
        f" {plain[2]:.2f} GB, ratio {plain[0] / ours[0]:.1f}; processor time {ours[1]:.2f} s and {plain[1]:.2f} s,"
        f" ratio {plain[1] / ours[1]:.1f}"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one_side(sys.argv[1], Path(sys.argv[2]))
    else:
        print(composing())
        print(counting(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
