"""A gate: rules about a run's results, held or broken, for continuous integration (docs/gate.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import polars as pl

from portrayal.edges.sizes import read_toml
from portrayal.edges.writing import refuse_foreign_file, write_text
from portrayal.errors import PortrayalError, check_name
from portrayal.run.contents import read_results
from portrayal.run.measurement import wanted
from portrayal.settings import Settings, validate
from portrayal.stats.decisions.decision import DECISIONS
from portrayal.tables import reads
from portrayal.waves.changes import moved
from portrayal.waves.waves import read_waves

SHOWN = 3  # rows named in the line of a broken rule


class Rule(Settings):
    """A condition on the rows that `where` picks; bounds are inclusive."""

    name: str
    where: dict[str, str | list[str]] = {}
    never: list[str] = []  # decisions that no row may have
    always: list[str] = []  # decisions of which every row must have one
    value_least: float | None = None
    value_most: float | None = None
    low_least: float | None = None  # the lower end of the interval
    high_most: float | None = None  # the upper end
    may_be_absent: bool = False  # else a rule that no row answers to is broken: what looks at nothing must not be green
    drift: bool = False  # about changes since an earlier run, not about the run's own rows


class Rules(Settings):
    """The rules of a gate."""

    rules: list[Rule]


@dataclass(frozen=True)
class Verdict:
    """Outcome of a rule: whether it holds, over how many rows, and what broke it."""

    rule: str
    holds: bool
    rows: int
    reason: str = ""

    def line(self) -> str:
        """Return the verdict in one line."""
        outcome, reason = "held" if self.holds else "BROKEN", f": {self.reason}" if self.reason else ""
        return f"{outcome}: {self.rule} ({self.rows:,} row{'' if self.rows == 1 else 's'}){reason}"


def gate(
    folder: Path | str, rules: Path | str, junit: Path | str | None = None, against: Path | str | None = None
) -> list[Verdict]:
    """Hold a measured run against the rules of a file.

    Parameters
    ----------
    folder
        The run.
    rules
        A TOML file with `[[rules]]`.
    junit
        A file to write the verdicts to as well, as JUnit's XML.
    against
        An earlier run of the same study, for rules with `drift = true`.

    Returns
    -------
    list of Verdict
        One for each rule, in the order of the file: `rule`, `holds`, `rows`, `reason`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from portrayal import audit, example_study, gate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = audit(example_study(), f"{folder}/run", quiet=True)
    ...     rules = Path(folder, "gate.toml")
    ...     _ = rules.write_text('[[rules]]\\nname = "nothing found"\\nnever = ["found"]')
    ...     [verdict.line() for verdict in gate(f"{folder}/run", rules)]
    ['held: nothing found (2 rows)']
    """
    all_rules = read_rules(Path(rules))
    results = read_results(folder)
    drift = results
    if any(rule.drift for rule in all_rules):
        if against is None:
            raise PortrayalError("a rule has drift = true, and no earlier run was given. Add --against RUN.")
        drift = moved(read_waves([against, folder]))
    verdicts = [judge(rule, drift if rule.drift else results) for rule in all_rules]
    if junit is not None:
        refuse_foreign_file(Path(junit), (b"<?xml", b"<testsuite"), "a file of verdicts")
        write_text(Path(junit), as_junit(verdicts))
    return verdicts


@reads("the rules of a gate")
def read_rules(path: Path) -> Sequence[Rule]:
    """Read the rules of a file."""
    data = read_toml(path)
    rules = validate(Rules, data, path.name).rules
    for rule in rules:
        for decision in (*rule.never, *rule.always):
            check_name(decision, DECISIONS, "decision")
        if not rule.model_fields_set - {"name", "where", "may_be_absent", "drift"}:
            raise PortrayalError(
                f"{path.name}: rule {rule.name!r} asks for nothing. Add never, always, value_least, value_most, low_least or high_most."
            )
    return rules


def judge(rule: Rule, results: pl.DataFrame) -> Verdict:
    """Hold all rows that a rule speaks of against it."""
    rows = results.filter(*wanted(results, rule.where))
    if rows.is_empty():
        reason = "no row of the results answers to it"
        return Verdict(rule.name, rule.may_be_absent, 0, "" if rule.may_be_absent else reason)
    broken = []
    for row in rows.iter_rows(named=True):
        if why := _broken(rule, row):
            about = (str(row[name]) for name in ("system", "measure", "group", "versus") if row.get(name))
            broken.append(f"{', '.join(about)} {why}")
    more = f" and {len(broken) - SHOWN:,} more" if len(broken) > SHOWN else ""
    return Verdict(rule.name, not broken, rows.height, "; ".join(broken[:SHOWN]) + more)


def _broken(rule: Rule, row: Mapping[str, Any]) -> str:
    """Say which part of a rule a row breaks; an absent number breaks every bound."""
    if row["decision"] in rule.never or (rule.always and row["decision"] not in rule.always):
        return f"is {row['decision']}"
    for column, bound, word in (
        ("value", rule.value_least, "under"),
        ("value", rule.value_most, "over"),
        ("low", rule.low_least, "under"),
        ("high", rule.high_most, "over"),
    ):
        number = row[column]
        if bound is not None and (number is None or number != number):
            return f"has no {column}"
        if bound is not None and (number < bound if word == "under" else number > bound):
            return f"has {column} {number:.4g}, {word} {bound:g}"
    return ""


def as_junit(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as JUnit's XML, which build servers read."""
    broken = sum(not verdict.holds for verdict in verdicts)
    suite = Element("testsuite", name="portrayal gate", tests=str(len(verdicts)), failures=str(broken))
    for verdict in verdicts:
        case = SubElement(suite, "testcase", classname="gate", name=_writable(verdict.rule))
        if not verdict.holds:
            SubElement(case, "failure", message=_writable(verdict.reason)).text = _writable(verdict.line())
    indent(suite, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suite, "unicode")}\n'


def _writable(text: str) -> str:
    """Leave out what XML cannot hold; names in a run are anybody's."""
    return "".join(letter for letter in text if letter in "\t\n" or (letter >= " " and letter not in "\ufffe\uffff"))
