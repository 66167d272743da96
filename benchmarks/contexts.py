"""Composing against a per-pixel Python loop.

    python benchmarks/contexts.py

Both sides do the same work and their results are compared. Prints one line with the ratio of wall times and the ratio of
processor times (which a busy machine does not disturb).
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np

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


if __name__ == "__main__":
    print(composing())
