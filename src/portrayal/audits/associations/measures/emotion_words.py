"""How often captions speak of the emotion a person shows, by condition.

Wolfe et al. (2023), section 5.3 [1]_: occurrences of an emotion's words per 1,000 captions. Beyond the
paper: an interval clustered by person, the difference between conditions tested within persons, and how often
the words turn up for a neutral face (the false-mention rate).

References
----------
.. [1] Wolfe, Yang, Howe, Caliskan (2023), Contrastive Language-Vision AI Models Pretrained on Web-Scraped
   Multimodal Data Exhibit Sexual Objectification Bias, FAccT, doi 10.1145/3593013.3594072.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.people import check_people, differences_table, paired
from portrayal.errors import PortrayalError
from portrayal.reporting.words.words import percent
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED
from portrayal.stats.intervals.rates import clustered_rate, paired_rate_ratio
from portrayal.tables import check, results

CAPTIONS = {
    "system": pl.String,
    "person": pl.String,
    "emotion": pl.String,  # the emotion shown
    "intensity": pl.String,
    "condition": pl.String,
    "status": pl.String,
    "caption": pl.String,
}
CELL = ["system", "emotion", "intensity", "condition", "person"]
FACETS = ("emotion", "intensity")
HINT = "See docs/experiments.md, emotion words in captions."
UNIT = "occurrences per 1,000 captions"
NEVER = "no occurrence; upper end as if captions were independent (Poisson), too low where they are not"


class CaptionCounts(NamedTuple):
    """Captions counted: `cells` has those there and missing for every cell and person, `words` each listed word in them."""

    cells: pl.DataFrame
    words: pl.DataFrame


class EmotionWords(NamedTuple):
    """The Results, every word of the lists with its count and whether it was counted, and the people's differences."""

    results: pl.DataFrame
    words: pl.DataFrame
    differences: pl.DataFrame


def emotion_words(
    captions: Any,
    words: Mapping[str, Sequence[str]],
    minimum: int = 100,
    baseline: str = "nonobjectified",
    neutral: str = "neutral",
    audit: str = "associations",
) -> EmotionWords:
    """Count the words of the emotion shown, per 1,000 captions.

    Returns
    -------
    EmotionWords
        `results` with measures 'emotion_words' (rates), 'emotion_word_difference' (condition less baseline, the mean
        of the persons' differences, p by their sign flips; single intensities are outside the family),
        'emotion_word_ratio' (condition over baseline, described only) and 'false_mention', with the condition as
        `group`, the baseline as `versus`, and facets `emotion` and `intensity`; `words` with columns system,
        emotion, word, occurrences, counted; `differences` for joint flips.
    """
    frame = check(captions, CAPTIONS, "captions", HINT)
    _check_baseline(frame["condition"], baseline)
    check_people(frame, "captions")
    return words_of_counts(count_captions(frame, words), words, minimum, baseline, neutral, audit)


def words_of_counts(
    counts: CaptionCounts,
    words: Mapping[str, Sequence[str]],
    minimum: int,
    baseline: str,
    neutral: str,
    audit: str = "associations",
) -> EmotionWords:
    """Return what `emotion_words` does, from captions that are counted."""
    _check_baseline(counts.cells["condition"], baseline)
    occurrences = count_words(counts, words, minimum)
    counted = _cells(counts, occurrences)
    rows = [
        {"system": system, **row}
        for system in sorted(counted["system"].unique())
        for row in _rows(counted.filter(pl.col("system") == system), list(words), baseline, neutral)
    ]
    differences = differences_table(rows)
    return EmotionWords(results(rows, facets=FACETS, audit=audit), occurrences, differences)


def _check_baseline(conditions: pl.Series, baseline: str) -> None:
    if baseline not in conditions.unique():
        known = ", ".join(sorted(map(str, conditions.unique())))
        raise PortrayalError(f"no caption has condition {baseline!r}. Found: {known}. Set `baseline`.")


def count_captions(frame: pl.DataFrame, words: Mapping[str, Sequence[str]]) -> CaptionCounts:
    """Count the captions of every cell and person, and the listed words in them; counts of tables add up."""
    answered = pl.col("status") == "answered"
    asked = frame.group_by(CELL).agg(captions=answered.sum(), missing=(~answered).sum())
    said = emotion_tokens(frame, words).group_by([*CELL, "word"]).len("count")
    return CaptionCounts(asked.cast({pl.UInt32: pl.Int64}), said.cast({pl.UInt32: pl.Int64}))


def emotion_tokens(frame: pl.DataFrame, words: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return the listed words in the captions, one row an occurrence.

    Captions are split as the authors did: lower case, full stops and commas removed, split at spaces.
    """
    listed = sorted({word.lower() for given in words.values() for word in given})
    split = pl.col("caption").str.to_lowercase().str.replace_all(r"[.,]", "").str.split(" ")
    answered = frame.lazy().filter(pl.col("status") == "answered")
    return answered.select(*CELL, split.alias("word")).explode("word").filter(pl.col("word").is_in(listed)).collect()


def count_words(counts: CaptionCounts, words: Mapping[str, Sequence[str]], minimum: int) -> pl.DataFrame:
    """Return each listed word's occurrences in a system's captions, and whether they reach `minimum`."""
    listed = pl.DataFrame(
        [{"emotion": emotion, "word": word.lower()} for emotion, given in words.items() for word in given]
    )
    found = counts.words.group_by("system", "word").agg(pl.col("count").sum().alias("occurrences"))
    table = counts.cells.select("system").unique().join(listed, how="cross")
    table = table.join(found, on=["system", "word"], how="left").with_columns(
        pl.col("occurrences").fill_null(0).cast(pl.Int64)
    )
    return table.with_columns(counted=pl.col("occurrences") >= minimum).sort("system", "emotion", "word")


def _cells(counts: CaptionCounts, occurrences: pl.DataFrame) -> pl.DataFrame:
    """Return captions, missing captions and each list's occurrences for every cell and person."""
    counted = occurrences.filter("counted").rename({"emotion": "list"})
    hits = counts.words.join(counted.select("system", "word", "list"), on=["system", "word"])
    table = hits.group_by([*CELL, "list"]).agg(pl.col("count").sum())
    lists = occurrences.select(pl.col("emotion").alias("list")).unique()
    return (
        counts.cells.join(lists, how="cross")
        .join(table, on=[*CELL, "list"], how="left", nulls_equal=True)
        .with_columns(pl.col("count").fill_null(0))
    )


def _rows(cells: pl.DataFrame, emotions: list[str], baseline: str, neutral: str) -> Iterator[dict[str, Any]]:
    for emotion in emotions:
        of_list = cells.filter(pl.col("list") == emotion)
        shown = of_list.filter(pl.col("emotion") == emotion)
        for intensity in _levels(shown):
            chosen = shown if intensity is None else shown.filter(pl.col("intensity") == intensity)
            # Single intensities are a closer look at people who are in the test already.
            family = {} if intensity is None else {"family": EXPLORATORY, "differences": None}
            for row in _compare(chosen, baseline):
                yield {"emotion": emotion, "intensity": intensity, **row, **family}
        for row in _rates(of_list.filter(pl.col("emotion") == neutral), "false_mention"):
            yield {"emotion": emotion, **row}


def _levels(shown: pl.DataFrame) -> list[str | None]:
    """All intensities together (None), then each where there are several."""
    levels = sorted(level for level in shown["intensity"].unique().drop_nulls() if level)
    return [None, *levels] if len(levels) > 1 else [None]


def _compare(cells: pl.DataFrame, baseline: str) -> Iterator[dict[str, Any]]:
    yield from _rates(cells, "emotion_words")
    base = _by_person(cells, baseline)
    for condition in sorted(cells["condition"].unique().drop_nulls()):
        if condition != baseline:
            both = _by_person(cells, condition).join(base, on="person", suffix="_base")
            yield _difference(cells, both, condition, baseline)
            yield _ratio(cells, both, condition, baseline)


def _rates(cells: pl.DataFrame, measure: str) -> Iterator[dict[str, Any]]:
    for condition in sorted(cells["condition"].unique().drop_nulls()):
        people = _by_person(cells, condition)
        rate = clustered_rate(people["count"].to_numpy(), people["captions"].to_numpy())
        note = f"{int(people['count'].sum())} occurrences; interval over {len(people)} persons"
        yield rate.map(lambda end: 1000 * end).row(
            measure,
            group=condition,
            counted="captions",
            n_missing=_missing(cells, condition),
            unit=UNIT,
            note=note if people["count"].sum() else NEVER,
        )


def _difference(cells: pl.DataFrame, both: pl.DataFrame, condition: str, baseline: str) -> dict[str, Any]:
    """Return the mean over persons of their rates' difference, with the differences themselves."""
    count, captions, base, base_captions = _columns(both)
    rates = 1000 * (count / captions - base / base_captions)
    # Where all persons differ by the same, as if two more stood one occurrence a caption above and below them.
    error = 1000 * np.sqrt(2) / (len(both) + 2)
    silent = not len(both) or not (count.sum() + base.sum())
    never = {"decision": NOT_TESTED, "reason": "its captions never use words for it"} if silent and len(both) else {}
    people = cells.filter(pl.col("condition").is_in([condition, baseline]))["person"].n_unique()
    return paired(rates, 0.0 if silent else float(error)).row(
        "emotion_word_difference",
        group=condition,
        versus=baseline,
        differences=dict(zip(both["person"].to_list(), rates.tolist(), strict=True)),
        n_missing=people - len(both),
        unit=UNIT,
        note="mean of the persons' differences; t interval over persons; p two-sided, sign flips of the persons"
        + _lone_person(both),
        **never,
    )


def _ratio(cells: pl.DataFrame, both: pl.DataFrame, condition: str, baseline: str) -> dict[str, Any]:
    """Return how many times as often; described only, since the difference is tested and a ratio over none is none."""
    ratio = paired_rate_ratio(*_columns(both))
    note = f"paired within {len(both)} persons{_lone_person(both)}"
    if np.isnan(ratio.low):
        note += "; one condition has no occurrence, so the ratio has no interval"
    return ratio.row(
        "emotion_word_ratio",
        group=condition,
        versus=baseline,
        counted="captions",
        null=1.0,
        n_missing=_missing(cells, condition, baseline),
        unit="ratio",
        note=note,
    )


def _columns(both: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    count, captions, base, base_captions = (
        both[f"{name}{end}"].cast(pl.Float64).to_numpy() for end in ("", "_base") for name in ("count", "captions")
    )
    return count, captions, base, base_captions


def _lone_person(both: pl.DataFrame) -> str:
    """Say so where one person has more than half of a side's occurrences: the ratio is then about that person."""
    for column in ("count", "count_base"):
        if both[column].sum() and both[column].to_numpy().max() > both[column].to_numpy().sum() / 2:
            share = both[column].to_numpy().max() / both[column].to_numpy().sum()
            return f"; one person has {percent(share)} of the occurrences of one condition"
    return ""


def _by_person(cells: pl.DataFrame, condition: str) -> pl.DataFrame:
    chosen = cells.filter(pl.col("condition") == condition).group_by("person")
    sums = chosen.agg(pl.col("count", "captions").sum())
    return sums.filter(pl.col("captions") > 0).sort("person")


def _missing(cells: pl.DataFrame, *conditions: str) -> int:
    """Count the captions that are missing, also those of people who have no caption at all."""
    return int(cells.filter(pl.col("condition").is_in(conditions))["missing"].sum())
