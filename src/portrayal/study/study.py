"""A study: its audit, the systems it asks, the family of tests, settings."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from portrayal.settings import Settings
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import fewest_who_differ
from portrayal.systems.core.settings import SystemSettings


class Family(Settings):
    """The declared family of tests and its correction."""

    method: Literal["holm", "bonferroni", "benjamini-hochberg", "none"] = "holm"
    measures: list[str] | None = None  # None: those the audit declares
    # Tests that are corrected together: one system's of one research question, all of a system, or all of the study.
    of: Literal["question", "system", "study"] = "question"


class Hypothesis(Settings):
    """Rows of the results that a study tests, named before anything is asked."""

    name: str
    where: dict[str, str | list[str]] = Field(min_length=1)


class Study(Settings):
    """A whole study. `settings` are the audit's own, typed by the audit."""

    name: str = Field(min_length=1)
    audit: str
    seed: int = 0
    repeats: int = Field(default=1, ge=1)
    ask_unknown_again: bool = False  # calls that went out and never came back may be billed twice
    ask_failed_again: bool = False
    ask_unreadable_again: bool = False  # answers not of the promised form: they came and were paid for
    unanswered_tolerance: float = Field(0.1, gt=0, lt=1)  # share of questions that a system may leave unanswered
    systems: list[SystemSettings] = Field(min_length=1)
    family: Family = Family()
    hypotheses: list[Hypothesis] = []  # where there are any, they alone are confirmatory
    hypotheses_late: bool = False  # written after answers had come; no key of the file
    settings: Any = None
    folders: list[str] = []  # where pictures named in tables may lie, besides the study's folder and the table's own
    secrets_file: str | None = None  # NAME=value lines; what it holds is never written anywhere
    not_secret: list[str] = []  # values that look like a key and are none
    folder: Path = Path()  # relative paths in the study start here

    def corrected_together(self, tests: int, of_question: int | None = None) -> int:
        """Return the tests in a family, from those of a system and of one question."""
        if self.family.of == "question":
            return tests if of_question is None else of_question
        return tests * (len(self.systems) if self.family.of == "study" else 1)

    def correction(self, tests: int) -> str:
        """Say for a plan what correcting a family of so many tests costs."""
        if tests < 2 or self.family.method == "none":
            return "nothing is corrected: p under .05 is found"
        company = "adding a system costs " + ("more" if self.family.of == "study" else "nothing")
        first = f"{LEVEL / tests:.1g}".removeprefix("0")
        return (
            f"about {tests} tests are corrected together: the strongest must have p under {first}, where one test alone would need"
            f" .05; {company}"
        )

    def reach(self, people: int, tests: int, level: float = LEVEL) -> str:
        """Say for a plan how many people must differ for a test to be found."""
        fewest, who = fewest_who_differ(people, tests, level), f"{people} people" if people != 1 else "1 person"
        family = f" in a family of {tests}" if tests > 1 else ""
        if fewest is None:
            return f"with {who} no test of their differences could reach the level{family}"
        return f"a test in which fewer than {fewest} of {who} differ could not reach the level{family}"

    def picture_folders(self) -> list[Path]:
        """Return the folders that pictures named in a table may lie in, beside its own."""
        return [self.folder, *(self.folder / name for name in self.folders)]
