"""Gate for language: answers that the instrument cannot read are not measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from portrayal.run.silence import ANSWERED, once, questions
from portrayal.stats.decisions.decision import NOT_MEASURABLE
from portrayal.study.audit import Audit, Evidence
from portrayal.tables import check_responses, results
from portrayal.text.languages import are_read, named, names_of, other_languages, share_in

KEYS = ("system", "stimulus", "repeat")
FAULTS = {"system": pl.String, "fault": pl.String, "count": pl.Int64, "example": pl.String}


@dataclass(frozen=True)
class Readable:
    """Answers that the instrument can read, and what was left out."""

    responses: pl.DataFrame  # without the systems below; a single answer in another language is unreadable
    unread: Mapping[str, str]  # systems left out, each with the reason
    faults: pl.DataFrame  # single answers of the others in other languages, counted

    def rows(self, audit: str, responses: pl.DataFrame) -> pl.DataFrame:
        """Return one Results row, without a value, for each system that was left out."""
        posed = once(questions(responses)).filter("asked", pl.col("system").is_in(list(self.unread)))
        counts = {f"n_{name}": (pl.col("status") == name).sum().cast(pl.Int64) for name in (ANSWERED, "refused")}
        counted = posed.group_by("system", maintain_order=True).agg(n=pl.len().cast(pl.Int64), **counts).to_dicts()
        about = {"measure": ANSWERED, "counted": "questions", "unit": "share", "decision": NOT_MEASURABLE}
        return results(({**row, "reason": self.unread[row["system"]], **about} for row in counted), audit=audit)


def readable(audit: Audit, evidence: Evidence, settings: Any) -> Readable:
    """Leave out systems, and single answers of the others, that the instrument cannot read."""
    unread: dict[str, str] = {}
    lost, faults, responses, text = [], [], evidence.responses, audit.text
    if text is not None:
        reads, column = text.languages(settings), pl.col(text.column)
        answered = responses.filter(pl.col("status") == "answered", column.is_not_null())
        joined = answered.group_by(KEYS, maintain_order=True).agg(column.str.join(", "))
        for (system,), part in joined.group_by("system", maintain_order=True):
            others = other_languages(part[text.column].to_list(), reads)
            if not are_read(others):
                share = share_in(others, f"this system's {text.noun}")
                unread[str(system)] = f"{share}; {text.reader} reads {names_of(reads)}"
            elif any(others):
                lost.append(part.filter(pl.Series(others).is_not_null()).select(*KEYS, lost=pl.lit("unparsable")))
                fault = f"{text.noun} that are {named(others)} and count as missing"
                faults.append((system, fault, lost[-1].height, lost[-1]["stimulus"][0]))
    responses = responses.filter(~pl.col("system").is_in(list(unread)))
    unread |= audit.unread(replace(evidence, responses=responses), settings) if responses.height else {}
    responses = responses.filter(~pl.col("system").is_in(list(unread)))
    if lost:
        marked = responses.join(pl.concat(lost), on=KEYS, how="left", maintain_order="left")
        responses = check_responses(marked.with_columns(status=pl.coalesce("lost", "status")).drop("lost"), audit.kind)
    return Readable(responses, unread, pl.DataFrame(faults, schema=FAULTS, orient="row"))
