"""A harm that is a plain count, tested exactly against a tolerance: whether it occurs in more cases than would be let pass.

References
----------
.. [1] Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial,
   Biometrika 26, 404-413.
"""

from __future__ import annotations

from portrayal.stats.estimate import Estimate


def over_tolerance(hits: int, n: int, tolerance: float) -> Estimate:
    """Return the share of cases, its exact interval [1]_ and the exact one-sided p of a share above the tolerance.

    Examples
    --------
    >>> found = over_tolerance(2, 10, 0.005)
    >>> found.value, round(found.low, 3), round(found.high, 3), round(found.p, 4)
    (0.2, 0.025, 0.556, 0.0011)
    """
    from scipy import special

    if n == 0:
        return Estimate(n=0, null=tolerance)
    low = float(special.betaincinv(hits, n - hits + 1, 0.025)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
    p = float(special.betainc(hits, n - hits + 1, tolerance)) if hits else 1.0
    return Estimate(hits / n, low, high, p, n, null=tolerance, p_floor=tolerance**n)
