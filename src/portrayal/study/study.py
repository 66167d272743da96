"""A study: its audit, the systems it asks, the family of tests, settings."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from portrayal.settings import Settings
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.systems.core.settings import SystemSettings


class Family(Settings):
    """The declared family of tests and its correction."""

    method: Literal["holm", "bonferroni", "benjamini-hochberg", "none"] = "holm"
    measures: list[str] | None = None  # None: those the audit declares
    of: Literal["system", "study"] = "system"  # whose tests are corrected together: one system's, or those of all


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
    systems: list[SystemSettings] = Field(min_length=1)
    family: Family = Family()
    hypotheses: list[Hypothesis] = []  # where there are any, they alone are confirmatory
    hypotheses_late: bool = False  # written after answers had come; no key of the file
    settings: Any = None
    folders: list[str] = []  # where pictures named in tables may lie, besides the study's folder and the table's own
    secrets_file: str | None = None  # NAME=value lines; what it holds is never written anywhere
    not_secret: list[str] = []  # values that look like a key and are none
    folder: Path = Path()  # relative paths in the study start here

    def corrected_together(self, tests: int) -> int:
        """Return the number of tests in a family, from that of one system."""
        return tests * (len(self.systems) if self.family.of == "study" else 1)

    def correction(self, tests: int) -> str:
        """Say for a plan what correcting a family of so many tests costs."""
        if tests < 2 or self.family.method == "none":
            return "nothing is corrected: p under .05 is found"
        company = "adding a system costs nothing" if self.family.of == "system" else "adding a system costs more"
        first = f"{LEVEL / tests:.1g}".removeprefix("0")
        return (
            f"about {tests} tests are corrected together: the strongest must have p under {first}, where one test alone would need"
            f" .05; {company}"
        )

    def picture_folders(self) -> list[Path]:
        """Return the folders that pictures named in a table may lie in, beside its own."""
        return [self.folder, *(self.folder / name for name in self.folders)]
