"""What `portrayal plan` says can be found is found as often as it says, through the path that real answers take."""

from __future__ import annotations

import pytest

from audits.planned_power import assert_plans_are_kept


@pytest.mark.parametrize("stem", ["associations", "experiments"])
def test_the_plan_is_kept(stem: str) -> None:
    assert_plans_are_kept(stem, 30)
