"""Every instrument against phantoms: false alarms, planted effects found, intervals that hold the truth.

A calibration module has `calibrate(runs, seed) -> Calibration`. Published figures use seed 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from portrayal.errors import PortrayalError, nearest

CALIBRATIONS = {
    "associations": "portrayal.audits.associations.calibration",
    "search": "portrayal.audits.search.calibration",
    "contexts": "portrayal.audits.contexts.calibration",
    "counterfactuals": "portrayal.audits.counterfactuals.calibration",
    "captions": "portrayal.audits.captions.calibration",
    "experiments": "portrayal.audits.associations.experiments.calibration",
}


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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def calibrate(stem: str, runs: int = 1000, seed: int = 0) -> Calibration:
    """Run an instrument against phantoms: simulated systems with a planted effect of known size, and with none.

    Parameters
    ----------
    stem
        An audit, or 'experiments' for those of the associations audit.
    runs
        Simulated audits per condition.
    seed
        Random seed; published figures use 0.

    Returns
    -------
    Calibration
        `false_alarm` (share of phantoms without an effect that are called found), `power` (share of planted effects
        found), `coverage` (share of 95% intervals that hold the planted value), and `conditions` behind them.

    Examples
    --------
    >>> from portrayal import calibrate
    >>> found = calibrate("experiments", runs=2)
    >>> found.stem, found.runs, 0 <= found.false_alarm <= 1
    ('experiments', 2, True)
    """
    if stem not in CALIBRATIONS:
        raise PortrayalError(
            f"no calibration {stem!r}.{nearest(stem, CALIBRATIONS)} Known: {', '.join(CALIBRATIONS)}."
        )
    return import_module(CALIBRATIONS[stem]).calibrate(runs, seed)
