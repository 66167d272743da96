"""Answers that a row of the results rests on, as its audit declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from portrayal.reporting.answers.answers import Chosen
from portrayal.run.silence import ANSWERED, TESTS, UNANSWERED
from portrayal.study.audit import Audit, Basis, Evidence
from portrayal.text.formatting import plain


@dataclass(frozen=True)
class Behind:
    """Answers that a row rests on, and in words what narrowed them down."""

    chosen: Chosen
    narrowed_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bases:
    """The answers behind every row of a measured run."""

    audit: Audit
    settings: Any
    evidence: Evidence

    def behind(self, row: Mapping[str, Any]) -> Behind:
        """Return the answers that a row rests on."""
        silent = row["measure"] in (ANSWERED, UNANSWERED, *TESTS)
        basis = self._silence(row) if silent else self.audit.basis(row, self.evidence, self.settings)
        systems = [str(name) for name in (row.get("system"), *basis.systems) if name]
        chosen = Chosen(systems, label=basis.label, factors=basis.factors, stimuli=basis.stimuli)
        return Behind(chosen, tuple(f"{plain(name)}: {row[name]}" for name in basis.columns))

    @cached_property
    def _groups(self) -> pl.DataFrame:
        return self.audit.groups(self.evidence, self.settings)

    def _silence(self, row: Mapping[str, Any]) -> Basis:
        """Return the questions about the groups whose silence a row compares."""
        if not row.get("axis"):
            return Basis()
        mine = self._groups.filter(axis=row["axis"])
        compared = [row["group"], row["versus"] or row["group"]]
        if set(compared) <= set(mine["group"]):
            mine = mine.filter(pl.col("group").is_in(compared))
        if row.get("within"):
            mine = mine.filter(within=row["within"])
        columns = tuple(name for name in ("axis", "group", "versus", "within") if row.get(name))
        return Basis(columns, stimuli=mine["stimulus"].unique(maintain_order=True).to_list())
