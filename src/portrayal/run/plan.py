"""Plan (calls, cost, effects) and trial of a study, before it is recorded."""

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.console import aligned
from portrayal.recorder.ledger import Entry, Ledger
from portrayal.recorder.responses import read_entry, read_responses
from portrayal.run.folder import Run, default_folder, file_of, other_study
from portrayal.run.languages import readable
from portrayal.run.recording import Say, ask, dollars_text, wanted_again, write_questions
from portrayal.study.audit import Evidence
from portrayal.study.questions import make_stimuli, plan_work, refuse_without_consent
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import AnyStudy, MoreSystems, read_any_study, read_study
from portrayal.study.trust import admit, code_lines
from portrayal.systems.core.base import Question, System
from portrayal.tables import NOUNS, ROWS, check_responses
from portrayal.text.formatting import percent

TOLD_BY = 1000  # answers of an earlier try whose language is told
LOOKED_AT = 20  # questions of each system whose price is guessed, where it goes by tokens
Questions = Mapping[str, Sequence[Question]]


def plan_text(study_file: Path | str, untrusted: bool = False) -> str:
    """Return a study's calls, their cost and the effects it could find; nothing is called.

    Parameters
    ----------
    study_file
        A study in TOML.
    untrusted
        Refuse a study that would run code or send secrets of its choice.

    Examples
    --------
    >>> from portrayal import example_study, plan_text
    >>> "in all 32 calls, about $0.00" in plan_text(example_study())
    True
    """
    study = read_study(study_file)
    admit(study, untrusted)
    stimuli = make_stimuli(study, planned=True)
    (states, entries), work = _before(study, file_of(study_file)), plan_work(study, stimuli)
    for system, _ in work:
        getattr(system, "check_ready", lambda: None)()  # a plug-in may know nothing of it
    rows = [_system_plan(system, questions, states, study) for system, questions in work]
    times, systems = _counted(study.repeats, "time"), _counted(len(rows), "system")
    head = f"{study.name}: {len(stimuli)} stimuli, {times} each, {systems}"
    calls, dollars = sum(row["calls"] for row in rows), sum(row["dollars"] for row in rows)
    total = f"in all {calls} calls, about ${dollars_text(dollars)}"
    table = [list(rows[0]), *([*map(str, list(row.values())[:-1]), dollars_text(row["dollars"])] for row in rows)]
    gate = [f"{system} is not measurable: {why}" for system, why in _unread(study, entries, stimuli).items()]
    gate.append(f"silence: up to {percent(study.unanswered_tolerance)} of a system's questions may stay unanswered")
    return "\n".join([head, *aligned(table), total, *gate, *get_audit(study.audit).power(study, stimuli)])


def _before(study: Study, file: str) -> tuple[dict[str, str], list[Entry]]:
    """Return the states by key, and some answers, of an earlier try."""
    run = Run(default_folder(study.name))
    if not run.ledger.exists() or other_study(run, study, file, named=False):
        return {}, []
    with Ledger.reading(run.ledger) as ledger:
        return ledger.states(), list(islice((one for one in ledger.entries() if one.answer is not None), TOLD_BY))


def _system_plan(system: Any, questions: Questions, states: dict[str, str], study: Study) -> dict[str, Any]:
    known = [states.get(key, "planned") for key in questions]
    again = {"planned", *wanted_again(study)} | ({"in_flight"} if study.ask_unknown_again else set())
    calls = sum(state in again for state in known)
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


QUESTIONS = 3
LONGEST = 300  # characters shown of a question or an answer
LARGEST = 64 * 1024  # bytes looked at of an answer
SHOWN = 5  # tags, results or labels shown of one answer


@dataclass(frozen=True)
class Tried:
    """One question, what came back, and what was made of it."""

    system: str
    use: str
    question: str
    raw: str
    status: str  # answered, empty, refused, unparsable, failed or unknown
    reading: str
    unread: str = ""  # why nothing that this system says is measured

    def lines(self) -> list[str]:
        """Return it for a person to read."""
        return [f"  asked    {self.question}", f"  answered {self.raw}", f"  read as  {self.reading}"]


def try_study(
    study: AnyStudy,
    questions: int = QUESTIONS,
    untrusted: bool = False,
    systems: MoreSystems | None = None,
    say: Say = lambda messages: None,
) -> list[Tried]:
    """Ask a few questions of each system and show how the answers are read.

    Parameters
    ----------
    questions
        How many are asked of each system: the first, the last and others between.
    study, untrusted, systems, say
        As `audit` takes them.

    Returns
    -------
    list of Tried
        Each with `system`, `question`, `raw`, `status` and `reading`.

    Examples
    --------
    >>> from portrayal import example_study, try_study
    >>> tried = try_study(example_study(), systems={"mine": lambda word: [len(word), 1.0]})
    >>> tried[3].system, tried[3].question, tried[3].reading
    ('mine', 'the text "John"', 'a vector of 2 numbers: 4.0, 1.0')
    """
    chosen = read_any_study(study, systems).study
    admit(chosen, untrusted)
    stimuli = make_stimuli(chosen)
    work = [(system, _some(table, questions)) for system, table in plan_work(chosen, stimuli)]
    refuse_without_consent(work, stimuli)
    say(code_lines(chosen, [system.name for system, _ in work]))
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
        write_questions(ledger, work)
        say(ask(ledger, work, tell=lambda line: say([line])).messages)
        entries = {entry.key: entry for entry in ledger.entries()}
    uses = {system.name: system.use for system in chosen.systems}
    unread = _unread(chosen, entries.values(), stimuli)
    return [
        _tried(system, uses[system.name], same[0], entries[key], chosen, unread.get(system.name, ""))
        for system, table in work
        for key, same in table.items()
    ]


def _unread(study: Study, entries: Collection[Entry], stimuli: pl.DataFrame) -> Mapping[str, str]:
    """Return the systems whose answers so far the audit cannot read, each with the reason."""
    audit = get_audit(study.audit)
    responses = check_responses(read_responses(entries, stimuli, audit.kind), audit.kind)
    return readable(audit, Evidence(stimuli, responses), study.settings).unread if entries else {}


def tried_text(tried: Sequence[Tried]) -> str:
    """Return what `try_study` gave, for a person: questions, answers and their readings.

    Examples
    --------
    >>> from portrayal import tried_text, try_study
    >>> words = {"name": "words", "audit": "associations", "associations": {"tests": ["weat6"]}}
    >>> tried = try_study(words, 1, systems={"mine": lambda word: [len(word), 1.0]})
    >>> print(tried_text(tried))
    mine (function:mine)
      asked    the text "John"
      answered [4, 1.0]
      read as  a vector of 2 numbers: 4.0, 1.0
    """
    lines: list[str] = []
    for place, one in enumerate(tried):
        is_first = place == 0 or tried[place - 1].system != one.system
        lines += ["", *([f"{one.system} ({one.use})"] if is_first else []), *one.lines()]
        is_last = place + 1 == len(tried) or tried[place + 1].system != one.system
        lines += ["", f"{one.system} is not measurable: {one.unread}"] if is_last and one.unread else []
    return "\n".join(lines[1:])


def _some(table: Questions, count: int) -> Questions:
    """Return a few questions, evenly from the first to the last."""
    keys = list(table)
    places = {round(step * (len(keys) - 1) / max(count - 1, 1)) for step in range(min(count, len(keys)))}
    return {keys[place]: table[keys[place]] for place in sorted(places)}


def _tried(system: System, use: str, question: Question, entry: Entry, study: Study, unread: str) -> Tried:
    status, reason, rows = read_entry(entry)
    shown_content = question.content if question.kind == "image" else f'"{question.content}"'
    raw = "nothing"
    if entry.answer is not None:
        raw = _cut(entry.answer.raw[:LARGEST].decode("utf-8", "replace")) or "nothing (0 bytes)"
    if status == "answered" and rows:
        details = () if unread else get_audit(study.audit).reading(rows, study.settings)
        reading = "\n           ".join([_reading(system.kind, rows), *details])
    else:
        reading = _STATUS.get(status, status) + (f": {_cut(reason)}" if reason else "")
    return Tried(system.name, use, _cut(f"the {question.kind} {shown_content}"), raw, status, reading, unread)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)"


_STATUS = {
    "empty": "an answer with nothing in it",
    "answered": "an answer with nothing in it",
    "refused": "a refusal",
    "unparsable": "no answer of this kind",
    "failed": "a failure",
    "unknown": "unknown: it went out and never came back",
    "planned": "not asked",
}


def _reading(kind: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of an answer in words."""
    if kind == "encoder":
        vector = list(rows[0]["embedding"])
        return f"a vector of {len(vector)} numbers: {_first(list(map(str, vector)))}"
    name, *others = ROWS[kind]
    if kind == "captioner":
        items = [f'"{_cut(str(row[name]))}"' for row in rows]
    else:
        scores = [row.get(others[-1]) for row in rows]
        items = [f"{row[name]}" + ("" if s is None else f" ({s:.3g})") for row, s in zip(rows, scores, strict=True)]
    return f"{len(items)} {NOUNS[kind]}{'' if len(items) == 1 else 's'}: {_first(items)}"


def _first(items: Sequence[str]) -> str:
    return ", ".join(items[:SHOWN]) + (", ..." if len(items) > SHOWN else "")
