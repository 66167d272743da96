"""A declared test: the stimuli and names of its sets X, Y, A, B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.audits.associations.stimulus_sets import Item

SETS = ("x", "y", "a", "b")
CHECK = "a check of the instrument"
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
    harm: str = ""  # of which harm, to whom, X going with A is a sign; `CHECK`; or empty
    in_study: str = ""  # what the study calls it

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
        items: Sequence[Item] = getattr(self, name)
        return items

    def called(self, name: str) -> str:
        """Return the name of one of the sets."""
        return str(getattr(self, f"{name}_name"))


def declared_test(plain: Mapping[str, Any]) -> AssociationTest:
    """Return a test from plain data, as a run keeps it."""
    sets = {name: [Item(**item) for item in plain[name]] for name in SETS}
    return AssociationTest(**{**plain, **sets})
