"""What a design can find."""

from __future__ import annotations

import polars as pl

from portrayal.runs.study import Study


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say."""
    return []
