"""A declared test: the stimuli and names of its sets X, Y, A, B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from portrayal.audits.associations.stimulus_sets import Item

SETS = ("x", "y", "a", "b")
FACETS = ("test", "attribute", "other_attribute", "harm", "sided")


@dataclass(frozen=True)
class AssociationTest:
    """One test. Without `y` it is the single-category test of X against A and B."""

    name: str  # what it compares, in words
    x: Sequence[Item]
    y: Sequence[Item]
    a: Sequence[Item]
    b: Sequence[Item]
    x_name: str
    y_name: str
    a_name: str
    b_name: str
    harm: str = ""  # of which harm, to whom, X going with A is a sign; empty for checks of the instrument
    in_study: str = ""  # what the study calls it

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return "eat" if self.y else "scweat"

    @property
    def about(self) -> dict[str, str | None]:
        """The columns that say whom and what a row of this test compares."""
        return {
            "test": self.name,
            "group": self.x_name,
            "versus": self.y_name if self.y else None,
            "attribute": self.a_name,
            "other_attribute": self.b_name,
            "harm": self.harm or None,
        }

    def items(self, name: str) -> Sequence[Item]:
        """Return the members of one of the sets x, y, a, b."""
        return {"x": self.x, "y": self.y, "a": self.a, "b": self.b}[name]


def declared_test(plain: Mapping[str, Any]) -> AssociationTest:
    """Return a test from plain data, as a run keeps it."""
    sets = {name: [Item(**item) for item in plain[name]] for name in SETS}
    return AssociationTest(**{**plain, **sets})


class TestSettings(Protocol):
    """Settings of a study that measures of declared tests read."""

    alternative: str
    permutations: int | None
    ddof: Literal[0, 1]
    article: str
    variants: Sequence[Any]
    unpaired: bool
    too_few: str
    procedure: str
