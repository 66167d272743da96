"""Inputs besides the answers: checks, people left out, shares of occupations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.occupations import read_shares
from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.audits.counterfactuals.stimuli import read_series
from portrayal.audits.counterfactuals.strips import strip_pictures
from portrayal.pictures.series.manifest import CHECKS
from portrayal.study.study import Study


def read_inputs(study: Study) -> Mapping[str, Any]:
    """Read checks, people left out, strips, and the shares that slopes are compared with."""
    from portrayal.pictures.series.amounts import placebo_checks

    stimuli, left_out, checks = read_series(study)
    sizes = placebo_checks(stimuli)
    told = sizes if checks is None else pl.concat([checks.select(*CHECKS), sizes])
    return {
        **references(study),
        "left_out": left_out,
        **({"checks": told} if told.height else {}),
        **strip_pictures(stimuli),
    }


def references(study: Study) -> dict[str, Any]:
    """Return the shares that slopes are compared with, and how often the study asks."""
    from portrayal.audits.counterfactuals.measures.occupations import masculine_shares, shipped_table

    settings: CounterfactualsSettings = study.settings
    return {
        "shares": read_shares(study.folder / settings.shares) if settings.shares else masculine_shares(),
        "search": shipped_table("image_search_gender"),
        "repeats": study.repeats,
    }
