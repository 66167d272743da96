"""An audit that counts how many tags are shouted at each person."""

from __future__ import annotations

import hashlib

import polars as pl

from portrayal.settings import Settings
from portrayal.study.audit import Audit, Evidence, Finding, Measured
from portrayal.study.study import Study
from portrayal.tables import check_stimuli, results


class LoudnessSettings(Settings):
    """The `[loudness]` table of a study."""

    texts: list[str]


def _stimuli(study: Study) -> pl.DataFrame:
    about = {"kind": "text", "source": "made up", "license": "CC0-1.0", "consent": "none shown"}
    rows = [
        {"stimulus": text, "content": text, "hash": hashlib.sha256(text.encode()).hexdigest(), **about}
        for text in study.settings.texts
    ]
    return check_stimuli(rows)


def _measure(evidence: Evidence, settings: LoudnessSettings) -> Measured:
    counts = evidence.responses.group_by("system").agg(pl.col("tag").str.to_uppercase().eq(pl.col("tag")).sum())
    rows = [
        {"audit": "loudness", "system": system, "measure": "shouted", "value": float(count), "low": float(count),
         "high": float(count), "n": evidence.stimuli.height, "n_missing": 0, "unit": "tags"}
        for system, count in counts.iter_rows()
    ]  # fmt: skip
    return Measured(results(rows))


AUDIT = Audit(
    stem="loudness",
    title="Who is shouted at",
    question="How many tags are shouted?",
    kind="tagger",
    settings=LoudnessSettings,
    stimuli=_stimuli,
    measure=_measure,
    charts=lambda measured, settings: [],
    findings=lambda measured, settings: [
        Finding(f"{row['system']} shouts {row['value']:.0f} tags.", place)
        for place, row in enumerate(measured.results.iter_rows(named=True))
    ],
    validity=("It counts capitals and nothing else.",),
)
