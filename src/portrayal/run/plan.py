"""The plan of a study: its calls, their cost, and the effects it could find."""

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
    """Return a study's calls, their cost and the effects it could find; nothing is called.

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
    calls, dollars = sum(row["calls"] for row in rows), sum(row["dollars"] for row in rows)
    total = f"in all {calls} calls, about ${dollars_text(dollars)}"
    return "\n".join([head, *_table(rows), total, *get_audit(study.audit).power(study, stimuli)])


def _states(study: Study, file: str) -> dict[str, str]:
    """Return the states of an earlier try's questions in the default folder, by key."""
    run = Run(default_folder(study.name))
    if not run.ledger.exists() or other_study(run, study, file, named=False):
        return {}
    with Ledger.reading(run.ledger) as ledger:
        return ledger.states()


def _system_plan(
    system: Any, questions: Mapping[str, Sequence[Question]], states: dict[str, str], study: Study
) -> dict[str, Any]:
    known = [states.get(key, "planned") for key in questions]
    open_states = {"planned"}
    open_states |= {"unknown", "in_flight"} if study.ask_unknown_again else set()
    open_states |= {"failed"} if study.ask_failed_again else set()
    open_states |= {"unreadable"} if study.ask_unreadable_again else set()
    calls = sum(state in open_states for state in known)
    # The mean price of a few questions from the first to the last; a plug-in may know nothing of prices.
    expect = getattr(system, "expected_price", lambda question: system.limits.price)
    keys = list(questions)
    some = keys[:: max(len(keys) // LOOKED_AT, 1)][:LOOKED_AT]
    price = sum(expect(questions[key][0]) for key in some) / len(some) if some else 0.0
    answered = sum(state in ("done", "refused") for state in known)
    counts = {"questions": len(known), "answered already": answered, "calls": calls}
    return {"system": system.name, **counts, "dollars": calls * price}


def _counted(amount: int, noun: str) -> str:
    return f"{amount} {noun}{'' if amount == 1 else 's'}"


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    cells = [list(rows[0]), *([*map(str, list(row.values())[:-1]), dollars_text(row["dollars"])] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
