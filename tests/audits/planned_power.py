"""The power that `portrayal plan` states against whole audits with the planted effect, through the flow."""

from __future__ import annotations

from scipy import stats

from portrayal.flow import audit_evidence
from portrayal.study.calibration import planted_audits


def assert_plans_are_kept(stem: str, audits: int, shapes: tuple[str, ...] = ()) -> None:
    """Fewer or more audits than these find the effect in under 1 case of 500; `make calibrate` runs 400."""
    for cell in planted_audits(stem, audits, 0, audit_evidence, shapes):
        assert 0.1 < cell["stated"] < 0.97, cell
        low, high = stats.binom.interval(0.998, audits, cell["stated"])
        assert low <= cell["found"] <= high, cell
