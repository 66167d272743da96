"""Calibration against phantoms: false alarms, planted effects found, coverage of intervals.

A calibration module has `calibrate(runs, seed)`. A simulation module has `SHAPES` of audits, `simulate(shape, seed, effect)` and
`plans()`, planted effects with the power that `portrayal plan` states: whole audits, which go through the flow of real answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

import polars as pl

from portrayal.engine import current_engine, cut, run
from portrayal.engine.run import cores
from portrayal.errors import check_name
from portrayal.stats.decisions.decision import FOUND
from portrayal.stats.intervals.intervals import wilson
from portrayal.study.audit import Evidence, Finding
from portrayal.study.registry import CALIBRATIONS, SIMULATIONS, get_audit
from portrayal.study.research_questions import question_keys
from portrayal.study.study import Study

Result = TypeVar("Result")
WORTH_IT = 20  # below this, starting processes costs more than it saves
SHARDS = 20  # for each worker: few enough to be cheap, enough that none waits long for the last


def over_seeds(function: Callable[[int], Result], seeds: Sequence[int], processes: int | None = None) -> list[Result]:
    """Return the function of each seed, in order."""
    processes = processes or cores()
    if not current_engine().named and (processes < 2 or len(seeds) < WORTH_IT):
        return _each(function, seeds)
    size = max(1, len(seeds) // (SHARDS * (current_engine().workers or processes)))
    make = partial(partial, _each, function)
    finds = {shard.place: results for shard, results in run(make, cut(seeds, size, "runs"), processes, label="runs")}
    return [result for place in sorted(finds) for result in finds[place]]


def _each(function: Callable[[int], Result], seeds: Sequence[int]) -> list[Result]:
    return [function(seed) for seed in seeds]


AUDITS = 400  # simulated audits of a shape at most
LARGE = 4  # times fewer audits of the large shape

# Results and sentences of an audit, from its study and evidence.
Flow = Callable[[Study, Evidence], tuple[pl.DataFrame, Sequence[Finding]]]


@dataclass(frozen=True)
class Simulated:
    """A whole audit that never took place: its study, and what the systems answered."""

    study: Study
    evidence: Evidence
    planted: Mapping[str, Any] | None = None  # columns of the rows that carry an effect, where one was planted


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
    nulls: Sequence[Mapping[str, Any]] = field(default_factory=list)  # whole audits without an effect, by shape
    plans: Sequence[Mapping[str, Any]] = field(default_factory=list)  # with an effect, beside the power that is stated

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def calibrate(stem: str, runs: int, seed: int, flow: Flow) -> Calibration:
    """Run an instrument against phantoms, and whole audits without an effect through the flow."""
    check_name(stem, CALIBRATIONS, "calibration")
    calibration = import_module(CALIBRATIONS[stem]).calibrate(runs, seed)
    if stem not in SIMULATIONS:
        return calibration
    audits = min(runs, AUDITS)
    nulls, plans = (simulated(stem, audits, seed, flow) for simulated in (null_audits, planted_audits))
    false_alarm = sum(cell["found"] for cell in nulls) / sum(cell["questions"] for cell in nulls)
    return replace(calibration, false_alarm=false_alarm, nulls=nulls, plans=plans)


def null_audits(
    stem: str, audits: int | Mapping[str, int], seed: int, flow: Flow, shapes: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Simulate audits without an effect; count research questions of a system with a finding."""
    module = SIMULATIONS[stem]
    if isinstance(audits, Mapping):
        counts = dict(audits)
    else:
        names = shapes or import_module(module).SHAPES
        counts = {shape: max(audits // LARGE, 1) if "large" in shape else audits for shape in names}
    cells = _cells(module, flow, seed, [(shape, 0.0, count) for shape, count in counts.items()])
    return [{name: cell[name] for name in ("shape", "audits", "questions", "found", "share", "high")} for cell in cells]


def planted_audits(stem: str, audits: int, seed: int, flow: Flow, shapes: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Simulate audits with an effect; count those that find it beside the stated power."""
    module = SIMULATIONS[stem]
    plans = import_module(module).plans()  # of a shape one effect with its power, or a list of them
    lists = {shape: one if isinstance(one, list) else [one] for shape, one in plans.items()}
    cases = [(shape, *case) for shape in shapes or lists for case in lists[shape]]
    cells = _cells(module, flow, seed, [(shape, effect, audits) for shape, effect, _ in cases])
    return [{**cell, "stated": stated} for cell, (_, _, stated) in zip(cells, cases, strict=True)]


def _cells(module: str, flow: Flow, seed: int, cases: Sequence[tuple[str, float, int]]) -> Iterator[dict[str, Any]]:
    """Yield how many audits of each case find something; all share one pool."""
    jobs = [(shape, seed + place, effect) for shape, effect, count in cases for place in range(count)]
    hits = iter(over_seeds(partial(_detections, module, flow, jobs), range(len(jobs))))
    for shape, effect, count in cases:
        detections, systems, questions = map(sum, zip(*islice(hits, count), strict=True))
        share = wilson(detections, questions)
        about = {"shape": shape, "effect": effect, "audits": systems, "questions": questions, "found": detections}
        yield {**about, "share": share.value, "low": share.low, "high": share.high}


def _detections(module: str, flow: Flow, jobs: Sequence[tuple[str, int, float]], place: int) -> tuple[int, int, int]:
    """Return the questions with a finding (or the planted one), systems and questions."""
    simulated = import_module(module).simulate(*jobs[place])
    results, findings = flow(simulated.study, simulated.evidence)
    planted = [pl.col(name) == value for name, value in (simulated.planted or {}).items()]
    rows = results.with_row_index("row").filter(pl.col("decision") == FOUND, *planted)
    mine = rows.filter(pl.col("row").is_in([finding.row for finding in findings]))
    if simulated.planted:
        return int(not mine.is_empty()), 1, 1
    questions = get_audit(simulated.study.audit).research_questions
    tested = results["p_adjusted"].is_not_null()
    asked = results.with_columns(question_keys(questions, results)).select("system", "question")
    return asked[mine["row"]].n_unique(), len(simulated.study.systems), asked.filter(tested).n_unique()
