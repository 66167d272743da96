"""Emotion words in captions: `audit = "associations/emotion_words"`.

[associations]
recorded = "captions.jsonl.gz"   # captions somebody recorded, with use = "sobem_captions"
# or: photographs = "SOBEM"      # your copy of the database, with any captioner
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from portrayal.audits.associations.datasets import sobem
from portrayal.audits.associations.measures.emotion_words import emotion_words
from portrayal.audits.associations.measures.people import paired_power
from portrayal.audits.associations.shipped import experiment, titled
from portrayal.audits.associations.stimulus_sets import sees_pictures
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.study.audit import Chart, Evidence, Measured, ReportTable, Text
from portrayal.study.study import Study
from portrayal.text.languages import Languages

NAME = "emotion_words"
FACTORS = ("stimulus", "person", "emotion", "intensity", "condition")


class EmotionWordsSettings(Settings):
    """`[associations]` of this experiment."""

    recorded: str | None = None
    photographs: str | None = None
    consent: str = ""
    minimum: int = Field(default=100, ge=0)
    baseline: str = "nonobjectified"
    neutral: str = "neutral"
    words: dict[str, list[str]] | None = None
    languages: Languages = ["en"]  # of these words


def _stimuli(study: Study) -> pl.DataFrame:
    own: EmotionWordsSettings = study.settings
    if (own.recorded is None) == (own.photographs is None):
        raise PortrayalError("[associations] needs either recorded or photographs. Name one of them.")
    if own.photographs is not None:
        return sobem.photographs(study.folder / own.photographs, own.consent, sees_pictures(study.systems))
    return sobem.caption_stimuli(sobem.recorded_captions(study.folder / str(own.recorded)))


def _measure(evidence: Evidence, settings: EmotionWordsSettings) -> Measured:
    captions = evidence.responses.join(evidence.stimuli.select(FACTORS), on="stimulus")
    counted = emotion_words(captions, settings.words or None, settings.minimum, settings.baseline, settings.neutral)
    return Measured(counted.results, {"words": counted.words}, differences=counted.differences)


def _power(study: Study, stimuli: pl.DataFrame) -> Sequence[str]:
    emotions = set(study.settings.words or sobem.emotion_lexicon()) & set(stimuli["emotion"])
    return paired_power(study, stimuli, "condition", len(emotions))


def _charts(measured: Measured, settings: EmotionWordsSettings) -> list[Chart]:
    """Draw the paper's figure: words of the emotion shown per 1,000 captions, by condition."""
    from portrayal.reporting.charts.charts import bars_with_intervals

    rates, axis = measured.results.filter(pl.col("measure") == NAME), "occurrences per 1,000 captions"
    named = pl.concat_str(["emotion", "intensity"], separator=", ", ignore_nulls=True)
    drawn = []
    for number, system in enumerate(rates["system"].unique(maintain_order=True), start=1):
        rows = rates.filter(pl.col("system") == system)
        finer = rows.filter(pl.col("intensity").is_not_null())
        bars = (rows if finer.is_empty() else finer).with_columns(shown=named)
        chart, words = bars_with_intervals(bars, label="shown", color="group", axis=axis), titled(NAME, system=system)
        drawn.append(Chart(f"{NAME}_{number}", *words, chart, of=(NAME,), system=system))
    return drawn


AUDIT = experiment(
    NAME,
    settings=EmotionWordsSettings,
    stimuli=_stimuli,
    measure=_measure,
    charts=_charts,
    tables=lambda measured, _: [ReportTable("words", *titled("words"), measured.tables["words"])],
    power=_power,
    text=Text("caption", "captions", "the list of words", lambda settings: settings.languages),
)
