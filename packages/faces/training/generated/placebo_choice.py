"""Choice of placebos: adults at every step, and no reading moves over all people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.pictures.series.values import steps
from portrayal_faces.generator.people import LEAST, grown, years
from portrayal_faces.generator.readings import BOTH, CONTRASTS, places

VALUES = [round(value, 4) for value in steps("race").tolist()]
MIDDLE = len(VALUES) // 2
# How much a person's own movement weighs beside that of all together. With none, people who move much cancel by our readers and not
# by the judges: see the set's CARD.md.
OWN = 2.0


@dataclass(frozen=True)
class Candidate:
    """A variant of a placebo: styles, and pictures and readings at each step."""

    styles: np.ndarray
    pictures: np.ndarray
    readings: np.ndarray
    years: np.ndarray
    set_readings: dict[str, float]  # what the set's own readers said of the centre

    def below(self, upper: Candidate) -> Candidate:
        """Return a placebo with this lower side and another's upper one."""
        return Candidate(
            np.concatenate([self.styles[:MIDDLE], upper.styles[MIDDLE:]]),
            np.concatenate([self.pictures[:MIDDLE], upper.pictures[MIDDLE:]]),
            np.concatenate([self.readings[:MIDDLE], upper.readings[MIDDLE:]]),
            np.concatenate([self.years[:MIDDLE], upper.years[MIDDLE:]]),
            self.set_readings,
        )

    @property
    def corrected(self) -> np.ndarray:
        """The readings as the set's readers would give them.

        The small reader was taught by them and is off by a year or two on some faces: by how much is known at the centre.
        """
        read, at = self.readings.copy(), places(list(self.set_readings))
        read[:, at] += np.array(list(self.set_readings.values())) - self.readings[MIDDLE, at]
        older = self.set_readings["years"] - self.readings[MIDDLE, places(["years"])[0]]
        read[:, places(["age", "age again"])] += older
        return read

    @property
    def adult(self) -> bool:
        """Return whether every step shows an adult, by every reader of age."""
        wild = years(self.corrected, "wild age") >= LEAST
        return bool((grown(self.corrected, self.years) & wild).all())

    @property
    def shift(self) -> np.ndarray:
        """Return the readings' change from end to end, as probabilities."""
        shares = 1 / (1 + np.exp(-self.readings[:, places([BOTH, *CONTRASTS])]))
        return np.asarray(shares[-1] - shares[0])


def chosen(variants: Sequence[Sequence[np.ndarray]], rounds: int = 20) -> list[int]:
    """Choose everybody's placebo so that readings cancel over people and stay small.

    Readings are those the placebos were steered by, not the judges'. That OWN is not 0, the judges did decide.

    Examples
    --------
    >>> chosen([[np.array([0.2])], [np.array([0.3]), np.array([-0.2])]])
    [0, 1]
    >>> chosen([[np.array([0.2])], [np.array([0.01]), np.array([-0.9])]])
    [0, 0]
    """
    taken = [0] * len(variants)
    for _ in range(rounds):
        for person, several in enumerate(variants):
            others = sum(
                (each[taken[at]] for at, each in enumerate(variants) if at != person), np.zeros_like(several[0])
            )
            moved = [np.sum((others + one) ** 2) + OWN * np.sum(one**2) for one in several]
            taken[person] = int(np.argmin(moved))
    return taken
