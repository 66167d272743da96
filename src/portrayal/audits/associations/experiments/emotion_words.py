"""Emotion words in captions: `audit = "associations/emotion_words"`.

[associations]
recorded = "captions.jsonl.gz"   # captions somebody recorded, with use = "sobem_captions"
# or: photographs = "SOBEM"      # your copy of the database, with any captioner
"""

from __future__ import annotations

from typing import Any

import polars as pl
from pydantic import Field

from portrayal.audits.associations.datasets import sobem
from portrayal.audits.associations.measures.emotion_words import emotion_words
from portrayal.errors import PortrayalError
from portrayal.report.words import interval, number
from portrayal.runs.audit import Audit, Chart, Evidence, Finding, Measured, ReportTable, say_each
from portrayal.runs.study import Study
from portrayal.settings import Settings
from portrayal.stats.multiplicity import is_significant

FACTORS = ("stimulus", "person", "emotion", "intensity", "condition")
VALIDITY = (
    "A word counts wherever it stands: 'a sad wall' and 'not smiling' count, a synonym outside the lists does not.",
    "Frowning, serious and unhappy stand in the lists of anger and of sadness, so the two are not independent.",
    "Ten women of one database, photographed in one place: nothing here speaks of men, of other women or of other "
    "clothing. The emotion is the one a model was told to show, not one that somebody saw.",
    "A captioner that never names emotions shows no difference; look at the rates, not at the ratio alone.",
)


class EmotionWordsSettings(Settings):
    """`[associations]` of this experiment."""

    recorded: str | None = None
    photographs: str | None = None
    consent: str = ""
    minimum: int = Field(default=100, ge=0)
    baseline: str = "nonobjectified"
    neutral: str = "neutral"
    words: dict[str, list[str]] | None = None


def _stimuli(study: Study) -> pl.DataFrame:
    own: EmotionWordsSettings = study.settings
    if (own.recorded is None) == (own.photographs is None):
        raise PortrayalError("[associations] needs either recorded or photographs. Name one of them.")
    if own.photographs is not None:
        return sobem.photographs(study.folder / own.photographs, own.consent)
    return sobem.caption_stimuli(sobem.recorded_captions(study.folder / str(own.recorded)))


def _measure(evidence: Evidence, settings: EmotionWordsSettings) -> Measured:
    captions = evidence.responses.join(evidence.stimuli.select(FACTORS), on="stimulus")
    found = emotion_words(
        captions,
        settings.words or sobem.emotion_lexicon(),
        settings.minimum,
        settings.baseline,
        settings.neutral,
    )
    return Measured(found.results, {"words": found.words})


def _charts(measured: Measured, settings: EmotionWordsSettings) -> list[Chart]:
    """Draw the paper's figure: words of the emotion shown per 1,000 captions, by condition."""
    from portrayal.report.charts import bars_with_intervals

    drawn: list[Chart] = []
    rates = measured.results.filter(pl.col("measure") == "emotion_words")
    for system in rates["system"].unique(maintain_order=True):
        rows = _split(rates.filter(pl.col("system") == system))
        drawn.append(
            Chart(
                f"emotion_words_{len(drawn) + 1}",
                f"Words for the emotion shown: {system}",
                "Occurrences per 1,000 captions with 95% intervals over the persons shown, by emotion, "
                "intensity and condition.",
                bars_with_intervals(
                    rows, label="shown", color="condition", axis="occurrences per 1,000 captions"
                ),
            )
        )
    return drawn


def _split(rows: pl.DataFrame) -> pl.DataFrame:
    """Part 'anger, high, objectified' into what is shown and the condition; keep intensities where there are some."""
    parts = pl.col("group").str.split(", ")
    split = rows.with_columns(
        condition=parts.list.last(), shown=parts.list.head(parts.list.len() - 1).list.join(", ")
    )
    finer = split.filter(pl.col("shown").str.contains(", "))
    return split if finer.is_empty() else finer


def _findings(measured: Measured, settings: EmotionWordsSettings) -> list[Finding]:
    over_all = ~pl.col("group").str.contains(", ")  # not of one intensity
    return say_each(measured, _sentence, pl.col("measure") == "emotion_word_ratio", over_all)


def _sentence(row: dict[str, Any]) -> str:
    condition, _, baseline = row["contrast"].partition(" / ")
    figures = f"{number(row['value'], 2)} times as often {interval(row['value'], row['low'], row['high'])}"
    who = f"people in the {condition} condition"
    if not is_significant(row):
        return f"{row['system']}: no evidence that it names the {row['group']} of {who} more or less often ({figures})."
    way = "less" if row["value"] < 1 else "more"
    return f"{row['system']} speaks {way} of the {row['group']} that {who} show: {figures} as in {baseline}."


def _tables(measured: Measured, settings: EmotionWordsSettings) -> list[ReportTable]:
    text = "Words that occur too rarely over all captions of a system are listed and not counted."
    return [ReportTable("words", "The words counted", text, measured.tables["words"])]


AUDIT = Audit(
    stem="associations",
    title="Whose emotions captions name",
    question="Do captions name the emotions of some people less often than those of others?",
    kind="captioner",
    settings=EmotionWordsSettings,
    stimuli=_stimuli,
    measure=_measure,
    charts=_charts,
    findings=_findings,
    validity=VALIDITY,
    family=("emotion_word_ratio",),
    tables=_tables,
)
