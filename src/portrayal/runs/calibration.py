"""Every instrument against phantoms: false alarms, planted effects found, intervals that hold the truth.

A calibration module has `calibrate(runs, seed) -> Calibration`, of the measures. A simulation module makes whole audits:
`SHAPES` (by name: the demo's shape, a small, a clustered and a large one) and `simulate(shape, seed, effect)`, which gives
a study and the answers of two systems. They go through the flow that real answers take, which is handed in by whoever
runs the calibration, and what counts is whether a sentence is printed that something was found. Published figures use
seed 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.runs.audit import Evidence, Finding
from portrayal.runs.parallel import over_seeds
from portrayal.runs.study import Study
from portrayal.stats.decision import FOUND
from portrayal.stats.intervals import wilson

CALIBRATIONS = {
    "associations": "portrayal.audits.associations.calibration",
    "search": "portrayal.audits.search.calibration",
    "contexts": "portrayal.audits.contexts.calibration",
    "counterfactuals": "portrayal.audits.counterfactuals.calibration",
    "captions": "portrayal.audits.captions.calibration",
    "experiments": "portrayal.audits.associations.experiments.calibration",
}
SIMULATIONS: dict[str, str] = {
    "contexts": "portrayal.audits.contexts.simulation",
    "counterfactuals": "portrayal.audits.counterfactuals.simulation",
    "associations": "portrayal.audits.associations.simulation",
    "experiments": "portrayal.audits.associations.experiments.simulation",
    "captions": "portrayal.audits.captions.simulation",
    "search": "portrayal.audits.search.simulation",
}
AUDITS = 400  # simulated audits of a shape at most
LARGE = 4  # times fewer audits of the large shape

# Results and sentences of an audit, from its study and evidence.
Flow = Callable[[Study, Evidence], tuple[pl.DataFrame, Sequence[Finding]]]


@dataclass(frozen=True)
class Simulated:
    """A whole audit that never took place: its study, and what the systems answered."""

    study: Study
    evidence: Evidence
    planted: Mapping[str, Any] | None = (
        None  # what was planted, where there is an effect: columns of the rows that carry it
    )


@dataclass(frozen=True)
class Calibration:
    """The headline figures of one instrument, and one row per condition behind them."""

    stem: str
    false_alarm: float  # share of null phantoms rejected at 5%
    power: float  # share of planted effects found at 5%, for the size named in `conditions`
    coverage: float  # share of 95% intervals that hold the planted value
    runs: int
    seed: int
    conditions: Sequence[Mapping[str, Any]] = field(default_factory=list)
    nulls: Sequence[Mapping[str, Any]] = field(
        default_factory=list
    )  # whole audits without an effect, by shape

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def calibrate(stem: str, runs: int, seed: int, flow: Flow) -> Calibration:
    """Run an instrument against phantoms, and whole audits without an effect through the flow."""
    if stem not in CALIBRATIONS:
        raise PortrayalError(
            f"no calibration {stem!r}.{nearest(stem, CALIBRATIONS)} Known: {', '.join(CALIBRATIONS)}."
        )
    calibration = import_module(CALIBRATIONS[stem]).calibrate(runs, seed)
    nulls = null_audits(stem, min(runs, AUDITS), seed, flow) if stem in SIMULATIONS else []
    audits = sum(cell["audits"] for cell in nulls)
    if not audits:
        return calibration
    return replace(calibration, false_alarm=sum(cell["found"] for cell in nulls) / audits, nulls=nulls)


def null_audits(
    stem: str, audits: int, seed: int, flow: Flow, shapes: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Simulate audits without an effect in each shape, and count those that print a finding."""
    module = SIMULATIONS[stem]
    counts = {
        shape: max(audits // LARGE, 1) if "large" in shape else audits
        for shape in shapes or import_module(module).SHAPES
    }
    jobs = [(shape, seed + place) for shape, count in counts.items() for place in range(count)]
    # All shapes in one pool: a process that starts has much to import.
    found = over_seeds(partial(_finds_job, module, flow, jobs), range(len(jobs)))
    cells = []
    for shape, count in counts.items():
        hits = sum(hit for hit, (of, _) in zip(found, jobs, strict=True) if of == shape)
        share = wilson(hits, count)
        cells.append(
            {"shape": shape, "audits": count, "found": hits, "share": share.value, "high": share.high}
        )
    return cells


def _finds_job(module: str, flow: Flow, jobs: Sequence[tuple[str, int]], place: int) -> bool:
    shape, seed = jobs[place]
    return _finds(module, shape, flow, seed)


def _finds(module: str, shape: str, flow: Flow, seed: int) -> bool:
    """Tell whether a simulated audit without an effect prints a finding."""
    simulated = import_module(module).simulate(shape, seed, 0.0)
    results, findings = flow(simulated.study, simulated.evidence)
    return any(results["decision"][finding.row] == FOUND for finding in findings)


def planted_audits(stem: str, shape: str, effect: float, audits: int, seed: int, flow: Flow) -> float:
    """Return the share of simulated audits that find the planted effect, for comparison with what `plan` states."""
    found = over_seeds(
        partial(_finds_planted, SIMULATIONS[stem], shape, effect, flow), range(seed, seed + audits)
    )
    return sum(found) / audits


def _finds_planted(module: str, shape: str, effect: float, flow: Flow, seed: int) -> bool:
    """Tell whether a row that carries the planted effect was found, and a sentence says so."""
    simulated = import_module(module).simulate(shape, seed, effect)
    results, findings = flow(simulated.study, simulated.evidence)
    rows = results.with_row_index("row").filter(
        pl.col("decision") == FOUND,
        *(pl.col(name) == item for name, item in (simulated.planted or {}).items()),
    )
    return bool(set(rows["row"]) & {finding.row for finding in findings})
