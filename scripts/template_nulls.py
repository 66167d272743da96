"""Count null audits of templated queries that print a finding: `python scripts/template_nulls.py [AUDITS]`.

Lists of the five templates of a job are shared or "apart", judged or not, at 10 to 60 jobs; at most 5% of the audits should print one.
"""

from __future__ import annotations

import sys
from itertools import product

from portrayal.flow import audit_evidence
from portrayal.study.calibration import null_audits

SHAPES = [
    f"templates {jobs}x5{apart}{judged}"
    for jobs, apart, judged in product((10, 20, 60), ("", " apart"), ("", " unjudged"))
]


def main(audits: int = 400) -> None:
    """Print the share of audits with a finding, a line a shape."""
    for shape in SHAPES:
        (cell,) = null_audits("search", {shape: audits}, 0, audit_evidence)
        print(f"{shape:32} {cell['found']:3} of {cell['audits']} ({100 * cell['share']:.1f}%)", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
