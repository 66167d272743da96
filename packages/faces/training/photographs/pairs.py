"""Families of generated pictures: one person at several values of one cue.

A pair is two pictures of a family. The first is the photograph, whole, so that hair and place go with the face as in real ones;
the second is laid over it inside the parser's mask, so that only the face differs. Directions hold age, the other axis and groups,
and families whose ages are read to drift are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from portrayal.errors import PortrayalError
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.people import years
from portrayal_faces.generator.readings import AGES, LOOKS, with_pairs
from portrayal_faces.generator.readings import places as columns
from portrayal_faces.generator.steering import REACH, Line
from training.generated.likely import likely
from training.generated.networks.readers import read_raw
from training.generated.studio import CROP, GpuStudio
from training.photographs.lines import LINES

SEED, TRUNCATION, DRAWN = 11, 0.85, 4
MEMBERS, CUES = 4, 2  # pictures of a family, and cues a person is varied along
FARTHEST = 7.0  # standard deviations of styles
YOUNGEST, YOUNGEST_READ = 25.0, 30.0  # by the reader that only leaves out, and by those that steer
DRIFT = 0.65  # of 15 years: how far the ages of a family's four pictures, by either reader, may differ at most
Tensor = Any
Say = Callable[[str], None]


@dataclass(frozen=True)
class Families:
    """Pictures (uint8) and masks on the device, rows of families, and their cues."""

    pictures: Tensor
    faces: Tensor
    members: Tensor  # families x MEMBERS
    cues: Tensor  # families


@dataclass(frozen=True)
class Made:
    """Families as they come: styles, cues, readings and pictures."""

    styles: np.ndarray  # families x MEMBERS x 512
    cues: np.ndarray
    readings: np.ndarray
    pictures: Tensor


def read_quick(studio: GpuStudio, pictures: Tensor) -> np.ndarray:
    """Return the readings of COLUMNS, with 0 for those of the parser."""
    side = pictures.shape[-1]
    top, bottom, left, right = (round(share * side) for share in CROP)
    crops = pictures[:, :, top:bottom, left:right].float() / 127.5 - 1
    own, wild = read_raw(studio.nets, crops), studio.wild.read((crops + 1) * 127.5)
    looks = torch.zeros(len(own), len(LOOKS), device=own.device)
    raw = [own[:, :3], (wild[:, :1] - 40) / 15, wild[:, 1:], own[:, 3:], looks]
    return with_pairs(torch.cat(raw, 1).double().cpu().numpy())


def moved(compass: Compass, styles: np.ndarray, start: np.ndarray, line: Line, value: np.ndarray) -> np.ndarray:
    """Return styles with a wanted linear reading of a cue, along its common direction.

    Corrected face by face ways are longer, cost identity and move age; what a step shows is read off it afterwards.
    """
    way = compass.way(line.varied, line.held)
    off = value - start[:, columns([line.varied])[0]]
    return styles + compass.shortened(off[:, None] * way, FARTHEST)


def drawn_values(line: Line, count: int, random: np.random.Generator) -> list[np.ndarray]:
    """Return wanted readings of the later members: one end, the other, and between."""
    reach = REACH[line.varied]
    near, far = random.uniform(0.4, 1.2, (2, count))
    return [-reach * near, reach * far, reach * random.uniform(-0.7, 0.7, count)]


def family_styles(
    studio: GpuStudio, compass: Compass, styles: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return styles and cues of people's families: gender, and a pair of race."""
    pictures = studio.render(styles)
    start = read_quick(studio, pictures)
    # Nobody is moved anywhere before both kinds of readers take them for an adult.
    able = adults(start, studio.years(pictures))
    styles, start = styles[able], start[able]
    cues = np.column_stack([np.zeros(len(styles), int), random.integers(1, len(LINES), len(styles))])
    families = np.repeat(styles[:, None, None], CUES, 1).repeat(MEMBERS, 2)
    for number, line in enumerate(LINES):
        people, place = np.nonzero(cues == number)
        if not len(people):
            continue
        for member, value in enumerate(drawn_values(line, len(people), random), 1):
            families[people, place, member] = moved(compass, styles[people], start[people], line, value)
    return families, cues


def candidates(studio: GpuStudio, compass: Compass, count: int) -> np.ndarray:
    """Return shuffled styles to start from: half likely to be rare and older."""
    mean = torch.tensor(compass.mean, dtype=torch.float32, device=studio.device)
    drawn, _ = studio.styles(DRAWN * count, SEED, TRUNCATION, mean)
    styles = drawn.double().cpu().numpy()
    expected = styles @ compass.slopes
    random = np.random.default_rng(SEED)
    # Most styles are read as White, and the most White of all would have the longest way to go: those are drawn at random.
    rare = likely(expected, count)
    rare = rare[expected[rare][:, columns(["White"])[0]] < np.quantile(expected[:, columns(["White"])[0]], 0.5)]
    age = expected[:, columns(["years"])[0]]
    plain = random.permutation(np.flatnonzero(age >= np.median(age)))[: count - len(rare)]
    return styles[random.permutation(np.union1d(rare, plain))]


def adults(readings: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Return who is an adult by every reader, steering or judging."""
    own = np.minimum(years(readings, "age"), years(readings, "age again"))
    return (judged >= YOUNGEST) & (own >= YOUNGEST_READ) & (years(readings, "wild age") >= YOUNGEST)


def adult_families(readings: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Return which families show an adult of the same age throughout."""
    adult = adults(readings.reshape(-1, readings.shape[-1]), judged.reshape(-1)).reshape(judged.shape)
    ages = readings[:, :, columns(list(AGES))]
    return adult.all(1) & ((ages.max(1) - ages.min(1)) < DRIFT).all(1)


def make(
    studio: GpuStudio, compass: Compass, people: int, seconds: float, clock: Callable[[], float], say: Say,
    chunk: int = 192,
) -> tuple[Families, np.ndarray]:  # fmt: skip
    """Return families of adults and their styles, made until the time is up."""
    random, begin, everybody = np.random.default_rng(SEED + 1), clock(), candidates(studio, compass, people)
    waiting: list[tuple[Made, Future[np.ndarray]]] = []
    with ThreadPoolExecutor(1) as pool:
        for styles in np.split(everybody, range(chunk, len(everybody), chunk)):
            if waiting and clock() - begin > seconds:
                break
            made = _made(studio, compass, styles, random)
            waiting.append((made, pool.submit(studio.years, made.pictures.flatten(0, 1))))
        parts = [_adults(made, judged.result()) for made, judged in waiting]
    seen = sum(len(made.cues) for made, _ in waiting)
    joined = Made(*(_joined([getattr(part, name) for part in parts]) for name in Made.__dataclass_fields__))
    if not len(joined.cues):
        raise PortrayalError(f"none of {seen} families shows an adult of one age throughout. Ask for more --people.")
    say(f"{len(joined.cues)} of {seen} families show an adult of one age throughout")
    return _families(studio, joined.pictures.flatten(0, 1), joined.cues), joined.styles


def _made(studio: GpuStudio, compass: Compass, styles: np.ndarray, random: np.random.Generator) -> Made:
    families, cues = family_styles(studio, compass, styles, random)
    families = families.reshape(-1, MEMBERS, families.shape[-1])
    pictures = studio.render(families.reshape(-1, families.shape[-1]))
    readings = read_quick(studio, pictures).reshape(*families.shape[:2], -1)
    return Made(families, cues.reshape(-1), readings, pictures.view(-1, MEMBERS, *pictures.shape[1:]))


def _adults(made: Made, judged: np.ndarray) -> Made:
    able = adult_families(made.readings, judged.reshape(made.styles.shape[:2]))
    seen = made.pictures[torch.as_tensor(able, device=made.pictures.device)]
    return Made(made.styles[able], made.cues[able], made.readings[able], seen)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else torch.cat(parts)


def load(studio: GpuStudio, styles: np.ndarray, cues: np.ndarray) -> Families:
    """Render families that an earlier run chose."""
    flat = styles.reshape(-1, styles.shape[-1])
    pictures = [studio.render(part) for part in np.array_split(flat, max(1, len(flat) // 960))]
    return _families(studio, torch.cat(pictures), cues)


def _families(studio: GpuStudio, pictures: Tensor, cues: np.ndarray) -> Families:
    """Parse the faces; everything stays on the device."""
    faces = torch.cat([studio.regions(part) > 0.5 for part in pictures.split(960)])
    members = torch.arange(len(pictures), device=studio.device).view(-1, MEMBERS)
    return Families(pictures, faces, members, torch.as_tensor(cues, device=studio.device))


def keep(path: Path, styles: np.ndarray, cues: np.ndarray) -> None:
    """Write which families there are, so that another run renders the same."""
    np.savez(path, styles=styles.astype(np.float32), cues=cues, allow_pickle=False)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read what `keep` wrote."""
    with np.load(path) as arrays:
        return arrays["styles"].astype(float), arrays["cues"]


def shrunk(families: Families, side: int) -> Families:
    """Return the same at fewer pixels, for trying things out."""
    pictures = functional.interpolate(families.pictures.float(), size=side, mode="area").to(torch.uint8)
    faces = functional.interpolate(families.faces.float()[:, None], size=side, mode="area")[:, 0] > 0.5
    return Families(pictures, faces, families.members, families.cues)
