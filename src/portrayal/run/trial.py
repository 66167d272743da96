"""Trying a study: a few questions asked of each system, shown with the raw answer and how it was read. Nothing is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.edges.secrets import read_secrets_file
from portrayal.recorder.ledger import Entry, Ledger
from portrayal.recorder.responses import read_entry
from portrayal.run.recording import ask, write_questions
from portrayal.study.questions import make_stimuli, plan_work, refuse_without_consent
from portrayal.study.study import Study
from portrayal.study.study_file import GivenStudy, GivenSystems, given_study
from portrayal.study.trust import code_lines, refuse_untrusted
from portrayal.systems.core.base import Question, System

QUESTIONS = 3
LONGEST = 300  # characters shown of a question or an answer
LARGEST = 64 * 1024  # bytes looked at of an answer
SHOWN = 5  # tags, results or labels shown of one answer
Say = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class Tried:
    """One question, what came back, and what was made of it."""

    system: str
    use: str
    question: str
    raw: str
    status: str  # answered, empty, refused, unparsable, failed or unknown
    reading: str

    def lines(self) -> list[str]:
        """Return it for a person to read."""
        return [f"  asked    {self.question}", f"  answered {self.raw}", f"  read as  {self.reading}"]


def try_study(
    study: GivenStudy,
    questions: int = QUESTIONS,
    untrusted: bool = False,
    systems: GivenSystems | None = None,
    say: Say = lambda messages: None,
) -> list[Tried]:
    """Ask a few questions of each system and show how the answers are read; nothing is kept, and what is billed is billed.

    Parameters
    ----------
    study
        The path of a study in TOML, a dict of the same shape, or a `Study`.
    questions
        How many are asked of each system: the first, the last and others between.
    untrusted
        Refuse a study that would run code or send secrets of its choice.
    systems
        Further systems by name, as `audit` takes them.
    say
        Told which code of the study is about to run, and why a system was stopped.

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
    chosen = given_study(study, systems).study
    if untrusted:
        refuse_untrusted(chosen)
    if chosen.secrets_file:
        read_secrets_file(chosen.folder / chosen.secrets_file)
    stimuli = make_stimuli(chosen)
    work = [(system, _some(table, questions)) for system, table in plan_work(chosen, stimuli)]
    refuse_without_consent(work, stimuli)
    say(code_lines(chosen, [system.name for system, _ in work]))
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
        write_questions(ledger, work)
        say(ask(ledger, work, tell=lambda line: say([line])).messages)
        entries = {entry.key: entry for entry in ledger.entries()}
    return [one for system, table in work for one in _tried(chosen, system, table, entries)]


def tried_text(tried: Sequence[Tried]) -> str:
    """Return what was tried, system by system, for a person to read.

    Parameters
    ----------
    tried
        What `try_study` gives.

    Returns
    -------
    str
        For each question what was asked, what came back, and how it was read.

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
        if place == 0 or tried[place - 1].system != one.system:
            lines += ["", f"{one.system} ({one.use})"] if lines else [f"{one.system} ({one.use})"]
        else:
            lines.append("")
        lines += one.lines()
    return "\n".join(lines)


def _some(table: Mapping[str, Sequence[Question]], count: int) -> dict[str, Sequence[Question]]:
    """Return a few questions, evenly from the first to the last."""
    keys = list(table)
    places = {round(step * (len(keys) - 1) / max(count - 1, 1)) for step in range(min(count, len(keys)))}
    return {keys[place]: table[keys[place]] for place in sorted(places)}


def _tried(
    study: Study, system: System, table: Mapping[str, Sequence[Question]], entries: Mapping[str, Entry]
) -> list[Tried]:
    use = next(one.use for one in study.systems if one.name == system.name)
    return [_one(system, use, same[0], entries[key]) for key, same in table.items()]


def _one(system: System, use: str, question: Question, entry: Entry) -> Tried:
    status, reason, rows = read_entry(entry)
    asked = f"the {question.kind} {question.content}" if question.kind == "image" else _asked(question)
    reading = _READINGS[system.kind](rows) if status == "answered" and rows else _unread(status, reason)
    return Tried(system.name, use, _cut(asked), _raw(entry), status, reading)


def _asked(question: Question) -> str:
    return f'the {question.kind} "{question.content}"'


def _raw(entry: Entry) -> str:
    if entry.answer is None:
        return "nothing"
    return _cut(entry.answer.raw[:LARGEST].decode("utf-8", "replace")) or "nothing (0 bytes)"


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


def _unread(status: str, reason: str | None) -> str:
    said = _STATUS.get(status, status)
    return f"{said}: {_cut(reason)}" if reason else said


def _tags(rows: Sequence[Mapping[str, Any]]) -> str:
    return _listed("tag", [_scored(row["tag"], row.get("confidence")) for row in rows])


def _captions(rows: Sequence[Mapping[str, Any]]) -> str:
    return _listed("caption", [f'"{_cut(str(row["caption"]))}"' for row in rows])


def _vector(rows: Sequence[Mapping[str, Any]]) -> str:
    vector = list(rows[0]["embedding"])
    more = ", ..." if len(vector) > SHOWN else ""
    return f"a vector of {len(vector)} numbers: {', '.join(str(number) for number in vector[:SHOWN])}{more}"


def _documents(rows: Sequence[Mapping[str, Any]]) -> str:
    return _listed("result", [_scored(row["doc"], row.get("score")) for row in rows])


def _labels(rows: Sequence[Mapping[str, Any]]) -> str:
    return _listed("label", [_scored(row["label"], row.get("score")) for row in rows])


def _scored(name: Any, score: Any) -> str:
    return f"{name}" if score is None else f"{name} ({score:.3g})"


def _listed(noun: str, items: Sequence[str]) -> str:
    more = ", ..." if len(items) > SHOWN else ""
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}: {', '.join(items[:SHOWN])}{more}"


# How the rows of each kind of system are told.
_READINGS: dict[str, Callable[[Sequence[Mapping[str, Any]]], str]] = {
    "tagger": _tags,
    "captioner": _captions,
    "encoder": _vector,
    "ranker": _documents,
    "generator": _labels,
}
