"""How large an effect a comparison of two groups can find.

For planning only: a two-sample t-test stands in for the audit's own test, which it approximates well from
about eight a side on.
"""

from __future__ import annotations

import numpy as np


def power_of_two_groups(d: float, n_x: int, n_y: int, alpha: float = 0.05, two_sided: bool = False) -> float:
    """Return the chance to find a standardised difference `d` between groups of `n_x` and `n_y`.

    Examples
    --------
    >>> round(power_of_two_groups(0.8, 20, 20), 2)
    0.8
    """
    from scipy import stats

    freedom = n_x + n_y - 2
    shift = d * np.sqrt(n_x * n_y / (n_x + n_y))
    critical = stats.t.ppf(1 - alpha / (2 if two_sided else 1), freedom)
    found = stats.nct.sf(critical, freedom, shift)
    return float(found + stats.nct.cdf(-critical, freedom, shift)) if two_sided else float(found)


def smallest_difference(
    n_x: int, n_y: int, power: float = 0.8, alpha: float = 0.05, two_sided: bool = False
) -> float:
    """Return the smallest standardised difference found with the given power."""
    from scipy import optimize

    if min(n_x, n_y) < 2:
        return float("inf")
    return float(
        optimize.brentq(
            lambda d: power_of_two_groups(d, n_x, n_y, alpha, two_sided) - power, 0.0, 20.0, xtol=1e-4
        )
    )
