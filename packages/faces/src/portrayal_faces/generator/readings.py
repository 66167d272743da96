"""Readings of a face to steer by; names and order are those of the file."""

from __future__ import annotations

import numpy as np

from portrayal_faces.series.attributes import RACES

GROUPS = ("White", "Black", "East Asian")
PAIRS = (("White", "Black"), ("White", "East Asian"), ("Black", "East Asian"))
LOOKS = ("yaw", "pitch", "mouth width", "mouth open", "glasses", "background")
# What readers give; races as log probabilities. The wild ones are of a network that learnt from other pictures.
READ = ("gender", "age", "age again", "wild age", "wild gender", *RACES, *LOOKS)
CONTRASTS = tuple(f"{first} to {second}" for first, second in PAIRS)
PAIR_LEVELS = tuple(f"{first} or {second}" for first, second in PAIRS)
BOTH = "gender, both"  # the mean of two readings of gender: its zero is nearer to what a third calls neutral
WILD_WEIGHS = 0.92  # log odds of the other network in units of ours: what both spread over generated adults
COLUMNS = (*READ, "years", BOTH, *CONTRASTS, *PAIR_LEVELS)
# Two readings of age that hardly differ would, held both, call for long moves: their mean is held.
AGES = ("years", "wild age")
# What a series of each cue holds. Along race the pair's own level is steered too, to the same for everybody.
HELD = {"gender": (*AGES, *GROUPS, *LOOKS), "race": ("gender", "wild gender", *AGES, *LOOKS)}
PLACEBO_HELD = ("gender", "wild gender", *AGES, *GROUPS, *LOOKS)


def with_pairs(read: np.ndarray) -> np.ndarray:
    """Add means of two readers, contrasts of pairs and log odds of pairs to READ."""
    races = {name: read[:, READ.index(name)] for name in RACES}
    contrasts = [races[second] - races[first] for first, second in PAIRS]
    shares = [np.exp(races[first]) + np.exp(races[second]) for first, second in PAIRS]
    levels = [np.log(share / np.maximum(1 - share, 1e-6)) for share in shares]
    years = (read[:, READ.index("age")] + read[:, READ.index("age again")]) / 2
    genders = (read[:, READ.index("gender")] + WILD_WEIGHS * read[:, READ.index("wild gender")]) / 2
    return np.column_stack([read, years, genders, *contrasts, *levels])


def places(names: tuple[str, ...] | list[str]) -> list[int]:
    """Return where columns lie."""
    return [COLUMNS.index(name) for name in names]
