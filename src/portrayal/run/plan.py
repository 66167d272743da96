"""What a study would ask, what it would cost, and what it could find; nothing is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from portrayal.edges.secrets import read_secrets_file
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.progress import dollars_text
from portrayal.run.folder import Run, default_folder, file_of, other_study
from portrayal.study.questions import make_stimuli, plan_work
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import read_study
from portrayal.study.trust import refuse_untrusted
from portrayal.systems.core.base import Question

LOOKED_AT = 20  # questions of each system whose price is guessed, where it goes by tokens


def plan_text(study_file: Path | str, untrusted: bool = False) -> str:
    """Return what a study would ask, what that would cost and what it could find; nothing is called.

    Parameters
    ----------
    study_file
        A study in TOML.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

    Returns
    -------
    str
        A line for each system, the sum, and the effects the design could find.

    Examples
    --------
    >>> from portrayal import example_study, plan_text
    >>> "in all 32 calls, about $0.00" in plan_text(example_study())
    True
    """
    study = read_study(study_file)
    if untrusted:
        refuse_untrusted(study)
    stimuli = make_stimuli(study, planned=True)
    if study.secrets_file:
        read_secrets_file(study.folder / study.secrets_file)
    states, work = _states(study, file_of(study_file)), plan_work(study, stimuli)
    for system, _ in work:
        getattr(system, "check_ready", lambda: None)()  # a plug-in may know nothing of it
    rows = [_system_plan(system, questions, states, study) for system, questions in work]
    head = (
        f"{study.name}: {len(stimuli)} stimuli, {_counted(study.repeats, 'time')} each, {_counted(len(rows), 'system')}"
    )
    return "\n".join([head, *_table(rows), *_total(rows), *_power(study, stimuli)])


def _states(study: Study, file: str) -> dict[str, str]:
    """Return the state of each question of an earlier try, by key, if there is one in the default folder."""
    run = Run(default_folder(study.name))
    if not run.ledger.exists() or other_study(run, study, file, named=False):
        return {}
    with Ledger.reading(run.ledger) as ledger:
        return ledger.states()


def _system_plan(
    system: Any, questions: Mapping[str, Sequence[Question]], states: dict[str, str], study: Study
) -> dict[str, Any]:
    known = [states.get(key, "planned") for key in questions]
    asked = {"planned"}
    if study.ask_unknown_again:
        asked |= {"unknown", "in_flight"}
    if study.ask_failed_again:
        asked |= {"failed"}
    if study.ask_unreadable_again:
        asked |= {"unreadable"}
    calls = sum(state in asked for state in known)
    return {
        "system": system.name,
        "questions": len(known),
        "answered already": sum(state in ("done", "refused") for state in known),
        "calls": calls,
        "dollars": calls * _price(system, questions),
    }


def _price(system: Any, questions: Mapping[str, Sequence[Question]]) -> float:
    """Return the mean price of a question, expected of a few from the first to the last."""
    expect = getattr(system, "expected_price", lambda question: system.limits.price)  # a plug-in may know nothing of it
    keys = list(questions)
    some = keys[:: max(len(keys) // LOOKED_AT, 1)][:LOOKED_AT]
    return sum(expect(questions[key][0]) for key in some) / len(some) if some else 0.0


def _counted(amount: int, noun: str) -> str:
    return f"{amount} {noun}{'' if amount == 1 else 's'}"


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    columns = list(rows[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cell(value: Any) -> str:
    return dollars_text(value) if isinstance(value, float) else str(value)


def _total(rows: Sequence[dict[str, Any]]) -> list[str]:
    calls, dollars = sum(row["calls"] for row in rows), sum(row["dollars"] for row in rows)
    return [f"in all {calls} calls, about ${dollars_text(dollars)}"]


def _power(study: Study, stimuli: Any) -> list[str]:
    """Return what the audit says about the effects this design could find."""
    return list(get_audit(study.audit).power(study, stimuli))
