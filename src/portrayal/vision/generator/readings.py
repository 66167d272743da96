"""What is read of a face to steer by: the cues, what is held, and the poles of race; names and order are the file's."""

from __future__ import annotations

import numpy as np

from portrayal.vision.faces.attributes import RACES

GROUPS = ("White", "Black", "East Asian")
PAIRS = (("White", "Black"), ("White", "East Asian"), ("Black", "East Asian"))
LOOKS = ("yaw", "pitch", "mouth width", "mouth open", "glasses", "background")
READ = ("gender", "age", "age again", *RACES, *LOOKS)  # what a reader gives; races as log probabilities
CONTRASTS = tuple(f"{first} to {second}" for first, second in PAIRS)
PAIR_LEVELS = tuple(f"{first} or {second}" for first, second in PAIRS)
COLUMNS = (*READ, *CONTRASTS, *PAIR_LEVELS)
AGES = ("age", "age again")
# What a series of each cue holds. Along race the pair's own level is steered too, to the same for everybody.
HELD = {"gender": (*AGES, *GROUPS, *LOOKS), "race": ("gender", *AGES, *LOOKS)}
PLACEBO_HELD = ("gender", *AGES, *GROUPS, *LOOKS)


def with_pairs(read: np.ndarray) -> np.ndarray:
    """Add to the columns of READ the contrast of each pair of groups, and the log odds of being read as one of the two."""
    races = {name: read[:, READ.index(name)] for name in RACES}
    contrasts = [races[second] - races[first] for first, second in PAIRS]
    shares = [np.exp(races[first]) + np.exp(races[second]) for first, second in PAIRS]
    levels = [np.log(share / np.maximum(1 - share, 1e-6)) for share in shares]
    return np.column_stack([read, *contrasts, *levels])


def places(names: tuple[str, ...] | list[str]) -> list[int]:
    """Return where columns lie."""
    return [COLUMNS.index(name) for name in names]
