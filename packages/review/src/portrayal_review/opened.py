"""A run as the viewer holds it; read-only, refreshed when measured anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.reporting.answers.answers import answers_of, factors_of, labels_of
from portrayal.reporting.answers.behind import Bases
from portrayal.reporting.page.section import find, read_named
from portrayal.run.contents import MEND, RECORD, read_inputs, study_of
from portrayal.run.folder import Run, existing_run, kept_table, reading
from portrayal.run.reviews import reviews_of
from portrayal.study.audit import Audit, Evidence, Finding, Measured
from portrayal.study.registry import get_audit
from portrayal.tables import check_responses, check_stimuli
from portrayal_review.pictures import picture_key

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class OpenRun:
    """Content of a run at the time of reading."""

    run: Run
    name: str
    seed: int
    audit: Audit
    measured: Measured
    findings: Sequence[Finding]
    stimuli: pl.DataFrame
    answers: pl.DataFrame
    inputs: Mapping[str, Any]
    reviews: pl.DataFrame | None
    stamp: Stamp

    systems: list[str]
    factors: dict[str, list[str]]  # what was varied, with its levels
    labels: list[str]  # what systems answered with, the commonest first
    level_names: Mapping[str, Mapping[str, str]]  # of levels that are codes: the places of a contexts study
    bases: Bases  # the answers behind every row
    by_id: dict[str, dict[str, Any]]  # the stimuli by their ids
    pictures: dict[str, tuple[str, str, str]]  # path, stimulus and hash by the names of addresses


def open_run(folder: Path | str) -> OpenRun:
    """Read a measured run, while nobody writes into it."""
    run = existing_run(folder)
    with reading(run):
        stamp, study = stamp_of(run), study_of(run)
        audit = get_audit(study.audit)
        measured, _, _ = read_named(run)
        if not run.responses.exists():
            raise PortrayalError(f"{run.folder} has no responses.parquet. {MEND}")
        findings, stimuli = find(study, measured), check_stimuli(kept_table(run.stimuli, RECORD))
        answers = answers_of(check_responses(kept_table(run.responses, MEND), audit.kind), audit.kind)
        inputs, reviews = read_inputs(run), reviews_of(run)
    by_id = {row["stimulus"]: row for row in stimuli.iter_rows(named=True)}
    images = [(name, row) for name, row in by_id.items() if row["kind"] == "image"]
    return OpenRun(
        run, study.name, study.seed, audit, measured, findings, stimuli, answers, inputs, reviews, stamp,
        systems=answers["system"].unique(maintain_order=True).to_list(),
        factors=factors_of(stimuli),
        labels=labels_of(answers, audit.kind),
        level_names=audit.level_names(inputs),
        bases=Bases(audit, study.settings, Evidence(stimuli, pl.DataFrame(), inputs)),
        by_id=by_id,
        pictures={picture_key(name): (row["content"], name, row["hash"]) for name, row in images},
    )  # fmt: skip


def stamp_of(run: Run) -> Stamp:
    """Return when the files that measuring writes were written last."""
    files = (run.results, run.responses, run.reviews)
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


class Shelf:
    """The runs that are open, each under its number."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        self._runs = [open_run(folder) for folder in folders]

    def __len__(self) -> int:
        return len(self._runs)

    def run(self, number: int) -> OpenRun | None:
        """Return a run by its number, from 1, refreshed if it changed."""
        if not 1 <= number <= len(self._runs):
            return None
        opened = self._runs[number - 1]
        if opened.run.results.exists() and stamp_of(opened.run) != opened.stamp:
            try:
                opened = self._runs[number - 1] = open_run(opened.run.folder)
            except PortrayalError:
                return opened  # somebody is measuring: what was read before still holds together
        return opened

    def all(self) -> list[tuple[int, OpenRun]]:
        """Return all runs with their numbers."""
        runs = ((number, self.run(number)) for number in range(1, len(self) + 1))
        return [(number, run) for number, run in runs if run is not None]


def raw_answer(opened: OpenRun, system: str, stimulus: str, repeat: int) -> tuple[bytes, str, str]:
    """Return a question's raw answer, media type and state from the ledger."""
    digest = opened.by_id[stimulus]["hash"]
    with Ledger.reading(opened.run.ledger) as ledger:
        return ledger.raw(system, digest, repeat)
