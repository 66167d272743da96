"""Putting a person into a place, with the share of pixels, beside a per-pixel loop with Pillow."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from benchmarks.shape import Benchmark, Peer

WIDE, HIGH = 2444, 1718  # of the Chicago Face Database
TOLERANCE = 24
PICTURES = 4


class Pair(NamedTuple):
    """A person before a white backdrop, and a place."""

    person: Any
    place: Any


class Made(NamedTuple):
    """A composite, and the share of its pixels that show the person."""

    image: Any
    share: float


def prepare(size: int) -> Pair:
    """Draw a person in so many pixels."""
    from PIL import Image, ImageDraw

    factor = (size / (WIDE * HIGH)) ** 0.5
    width, height = max(32, round(WIDE * factor)), max(24, round(HIGH * factor))
    image = Image.new("RGB", (width, height), (250, 250, 250))
    draw = ImageDraw.Draw(image)
    draw.ellipse((width * 0.36, height * 0.1, width * 0.64, height * 0.62), fill=(150, 110, 90))
    draw.rectangle((width * 0.2, height * 0.6, width * 0.8, height), fill=(110, 112, 118))
    return Pair(image, Image.new("RGB", (width, height), (60, 120, 80)))


def ours(pair: Pair) -> Made:
    """Compose several pictures on all cores, as an audit does."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compose, [pair] * PICTURES)).pop()


def compose(pair: Pair) -> Made:
    """Cut out, clean the fringe, paste at the bottom, centred."""
    from portrayal.pictures.compose import cut_out, place

    found = place(cut_out(pair.person).image, pair.place)
    return Made(found.image, found.person_share)


def loop(pair: Pair) -> Made:
    """Flood from the top corners, paste and count, one pixel at a time, as a script without numpy would."""
    pixels, (width, height) = pair.person.load(), pair.person.size
    reached = _flooded(pixels, width, height)
    canvas = pair.place.copy()
    out, shown = canvas.load(), 0
    for y in range(height):
        for x in range(width):
            if not reached[y][x]:
                out[x, y] = pixels[x, y]
                shown += 1
    return Made(canvas, shown / (width * height))


def _flooded(pixels: Any, width: int, height: int) -> list[list[bool]]:
    reached = [[False] * width for _ in range(height)]
    for start in ((0, 0), (width - 1, 0)):
        base, queue = pixels[start], deque([start])
        while queue:
            x, y = queue.popleft()
            if reached[y][x] or max(abs(a - b) for a, b in zip(pixels[x, y], base, strict=True)) > TOLERANCE:
                continue
            reached[y][x] = True
            for a, b in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if 0 <= a < width and 0 <= b < height:
                    queue.append((a, b))
    return reached


def equal(pair: Pair, found: Made, theirs: Made) -> str:
    """Compare pixels and shares; ours softens the edge, so a thin line of pixels may differ."""
    apart = np.abs(np.asarray(found.image, int) - np.asarray(theirs.image, int)).max(axis=2) > TOLERANCE
    edge = 6 * sum(pair.person.size) / (pair.person.width * pair.person.height)
    if apart.mean() > edge or abs(found.share - theirs.share) > edge:
        return f"{apart.mean():.2%} of the pixels differ, shares {found.share:.3f} and {theirs.share:.3f}"
    return ""


def check(pair: Pair, found: Made) -> str:
    """Hold the share against the drawn ellipse and rectangle, counted on a grid."""
    width, height = pair.person.size
    y, x = np.mgrid[0:height, 0:width] / np.array([height, width])[:, None, None]
    head = ((x - 0.5) / 0.14) ** 2 + ((y - 0.36) / 0.26) ** 2 <= 1
    body = (y >= 0.6) & (x >= 0.2) & (x <= 0.8)
    drawn, edge = (head | body).mean(), 6 * (width + height) / (width * height)
    return "" if abs(found.share - drawn) < edge else f"share {found.share:.3f}, drawn {drawn:.3f}"


def limit(pair: Pair) -> dict[str, float]:
    """Both pictures are read and one written, three bytes a pixel."""
    return {"memory": 9 * PICTURES * pair.person.width * pair.person.height}


BENCHMARK = Benchmark(
    name="composing",
    work="composing 4 pictures of 2444 x 1718 with the share of pixels, on all cores",
    size=WIDE * HIGH,
    unit="pixels a picture",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "per-pixel Pillow loop",
            60,
            "PIL",
            run=loop,
            equal=equal,
            scale=lambda pair: PICTURES,
            scaled="timed on one picture, scaled to 4",
        ),
    ),
    check=check,
    limit=limit,
    smallest=20_000,
)
