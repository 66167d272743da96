"""Style vectors of a set: centre and ends, as steps lie on straight ways.

One array a kind of series, people in the order of `people`: centres in half precision, ways to the ends in bytes, whose largest number is
127 of their own `scale` (what is lost is about a hundredth of a way). A placebo's centre is its axis' own and is not kept twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

WAYS, SCALE, PEOPLE = " ways", " scale", "people"
Styles = dict[str, dict[str, np.ndarray]]  # by series and person: low end, centre, high end (3 x 512)


def save_styles(path: Path, styles: Styles) -> None:
    """Write the styles of a set; everybody has every series."""
    people = list(next(iter(styles.values())))
    arrays: dict[str, np.ndarray] = {PEOPLE: np.array(people)}
    for title, mine in styles.items():
        each = np.stack([mine[name] for name in people])
        ways = each[:, [0, 2]] - each[:, [1]]
        scale = np.maximum(np.abs(ways).max(axis=2), 1e-9) / 127
        arrays[title + WAYS] = np.rint(ways / scale[:, :, None]).astype(np.int8)
        arrays[title + SCALE] = scale.astype(np.float32)
        if axis_of(title) == title:
            arrays[title] = each[:, 1].astype(np.float16)
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_styles(path: Path) -> Styles:
    """Read a file of `save_styles`, or an earlier one with an array a series."""
    with np.load(path) as arrays:
        if PEOPLE not in arrays:
            return _loaded_before({key: arrays[key].astype(float) for key in arrays.files})
        titles = [key.removesuffix(WAYS) for key in arrays.files if key.endswith(WAYS)]
        return {title: dict(zip(arrays[PEOPLE].tolist(), _ends(arrays, title), strict=True)) for title in titles}


def axis_of(title: str) -> str:
    """Return the axis a placebo stands beside; an axis is its own.

    Examples
    --------
    >>> axis_of("placebo"), axis_of("placebo-White-Black"), axis_of("gender")
    ('gender', 'race-White-Black', 'gender')
    """
    if title == "placebo":
        return "gender"
    return title.replace("placebo-", "race-", 1)


def _ends(arrays: np.lib.npyio.NpzFile, title: str) -> np.ndarray:
    centre = arrays[axis_of(title)].astype(float)[:, None]
    ways = arrays[title + WAYS].astype(float) * arrays[title + SCALE][:, :, None]
    return np.concatenate([centre + ways[:, :1], centre, centre + ways[:, 1:]], axis=1)


def _loaded_before(arrays: dict[str, np.ndarray]) -> Styles:
    styles: Styles = {}
    for key, values in arrays.items():
        name, title = key.split(" ", 1)
        styles.setdefault(title, {})[name] = values
    return styles
