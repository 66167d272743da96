"""A run as the viewer holds it; read-only, refreshed when measured anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.reporting.answers.answers import answers_of, factors_of, labels_of
from portrayal.reporting.answers.behind import Bases, level_names
from portrayal.reporting.page.measured_run import find
from portrayal.reporting.page.systems import shown_names
from portrayal.review.pictures import picture_key
from portrayal.run.contents import MEND, RECORD, read_inputs, read_measured, study_of
from portrayal.run.folder import Run, existing_run, kept_json, kept_table, reading
from portrayal.run.reviews import reviews_of
from portrayal.study.audit import Audit, Evidence, Finding, Measured
from portrayal.study.registry import get_audit
from portrayal.tables import check_responses, check_stimuli

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class OpenRun:
    """Content of a run at the time of reading."""

    run: Run
    name: str
    seed: int
    audit: Audit
    settings: Any
    measured: Measured
    findings: Sequence[Finding]
    stimuli: pl.DataFrame
    answers: pl.DataFrame
    inputs: Mapping[str, Any]
    reviews: pl.DataFrame | None
    stamp: Stamp

    @cached_property
    def systems(self) -> list[str]:
        """Return the systems that were asked."""
        return self.answers["system"].unique(maintain_order=True).to_list()

    @cached_property
    def factors(self) -> dict[str, list[str]]:
        """Return what was varied, with its levels."""
        return factors_of(self.stimuli)

    @cached_property
    def labels(self) -> list[str]:
        """Return what systems answered with, the commonest first."""
        return labels_of(self.answers, self.audit.kind)

    @cached_property
    def level_names(self) -> dict[str, dict[str, str]]:
        """Return what levels are called where they are codes: the places of a contexts study."""
        return level_names(self.inputs)

    @cached_property
    def bases(self) -> Bases:
        """Return the answers behind every row."""
        return Bases(self.audit, self.settings, Evidence(self.stimuli, pl.DataFrame(), self.inputs))

    @cached_property
    def shown(self) -> dict[str, dict[str, Any]]:
        """Return the stimuli by their ids."""
        return {row["stimulus"]: row for row in self.stimuli.iter_rows(named=True)}

    @cached_property
    def pictures(self) -> dict[str, tuple[str, str, str]]:
        """Return path, stimulus and hash of every picture, by its name in addresses."""
        return {
            picture_key(row["stimulus"]): (row["content"], row["stimulus"], row["hash"])
            for row in self.shown.values()
            if row["kind"] == "image"
        }


def open_run(folder: Path | str) -> OpenRun:
    """Read a measured run, while nobody writes into it."""
    run = existing_run(folder)
    with reading(run):
        return _read(run)


def _read(run: Run) -> OpenRun:
    stamp, study = stamp_of(run), study_of(run)
    audit = get_audit(study.audit)
    manifest: dict[str, Any] = kept_json(run.manifest, dict, RECORD)
    systems = [one for one in manifest.get("systems") or [] if isinstance(one, dict)]
    measured = replace(read_measured(run), shown_names=shown_names(systems))
    if not run.responses.exists():
        raise PortrayalError(f"{run.folder} has no responses.parquet. {MEND}")
    return OpenRun(
        run,
        study.name,
        study.seed,
        audit,
        study.settings,
        measured,
        find(study, measured),
        check_stimuli(kept_table(run.stimuli, RECORD)),
        answers_of(check_responses(kept_table(run.responses, MEND), audit.kind), audit.kind),
        read_inputs(run),
        reviews_of(run),
        stamp,
    )


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
        held = self._runs[number - 1]
        if held.run.results.exists() and stamp_of(held.run) != held.stamp:
            try:
                held = self._runs[number - 1] = open_run(held.run.folder)
            except PortrayalError:
                return held  # somebody is measuring: what was read before still holds together
        return held

    def all(self) -> list[tuple[int, OpenRun]]:
        """Return all runs with their numbers."""
        runs = ((number, self.run(number)) for number in range(1, len(self) + 1))
        return [(number, run) for number, run in runs if run is not None]


def raw_answer(opened: OpenRun, system: str, stimulus: str, repeat: int) -> tuple[bytes, str, str]:
    """Return a question's raw answer, media type and state from the ledger."""
    digest = opened.shown[stimulus]["hash"]
    with Ledger.reading(opened.run.ledger) as ledger:
        return ledger.raw(system, digest, repeat)
