"""Emotion words: occurrences of words for the emotion shown, per 1,000 captions, by condition.

Wolfe et al. (2023), section 5.3 [1]_. Beyond the paper: an interval clustered by person, the difference between conditions
tested within persons, and how often the words turn up for a neutral face (the false-mention rate).

References
----------
.. [1] Wolfe, Yang, Howe, Caliskan (2023), Contrastive Language-Vision AI Models Pretrained on Web-Scraped
   Multimodal Data Exhibit Sexual Objectification Bias, FAccT, doi 10.1145/3593013.3594072.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.datasets.sobem import emotion_lexicon
from portrayal.audits.associations.measures.people import check_people, differences_table, paired
from portrayal.errors import PortrayalError
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED
from portrayal.stats.intervals.intervals import clustered_rate, paired_rate_ratio
from portrayal.tables import check, results
from portrayal.tables.batches import ROWS, Source, batches
from portrayal.tables.folds import Fold, Known, TableSums, run_folds
from portrayal.text.formatting import percent

CAPTIONS = {
    "system": pl.String,
    "person": pl.String,
    "emotion": pl.String,  # the emotion shown
    "intensity": pl.String,
    "condition": pl.String,
    "status": pl.String,
    "caption": pl.String,
}
CELL = ("system", "emotion", "intensity", "condition", "person")
FACETS = ("emotion", "intensity")
UNIT = "occurrences per 1,000 captions"
NEVER = "no occurrence; upper end as if captions were independent (Poisson), too low where they are not"


class EmotionWords(NamedTuple):
    """Results, every listed word with its count, and the people's differences."""

    results: pl.DataFrame
    words: pl.DataFrame  # system, emotion, word, occurrences, counted
    differences: pl.DataFrame


def emotion_word_shares(
    captions: Source,
    words: Mapping[str, Sequence[str]] | None = None,
    minimum: int = 100,
    baseline: str = "nonobjectified",
    neutral: str = "neutral",
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure how often captioners name the emotion that a person shows, by condition.

    Parameters
    ----------
    captions
        A table, a lazy table or a folder of Parquet files larger than memory: system, person, emotion (shown), intensity,
        condition, status and caption, one row per caption, in any order.
    words
        The words of each emotion; the paper's lists by default.
    minimum
        A word that occurs fewer times over all of a system's captions is left out.
    baseline
        The condition the others are compared with.
    neutral
        The `emotion` of photographs that show none.
    rows
        Read at a time; memory grows with it and with the number of people, not with the number of captions.

    Returns
    -------
    polars.DataFrame
        Results with measures 'emotion_words' (rates), 'emotion_word_difference' (condition less baseline, the mean of the
        persons' differences, p by their sign flips; single intensities are outside the family), 'emotion_word_ratio' (condition
        over baseline, described only) and 'false_mention', with the condition as `group`, the baseline as `versus`, and facets
        `emotion` and `intensity`.

    Raises
    ------
    PortrayalError
        When a column is missing, a row does not say who is shown, or no caption has the baseline's condition.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import emotion_word_shares
    >>> captions = {"system": "s", "person": ["a", "a", "b"], "emotion": "anger", "intensity": "", "condition": ["x", "y", "y"],
    ...     "status": "answered", "caption": ["An angry person.", "A wall", "A person"]}
    >>> shares = emotion_word_shares(pl.DataFrame(captions), {"anger": ["angry"]}, minimum=1, baseline="x")
    >>> shares.filter(measure="emotion_words").select("group", "value", "n").rows()
    [('x', 1000.0, 1), ('y', 0.0, 2)]
    """
    return emotion_words(captions, words, minimum, baseline, neutral, rows).results


def emotion_words(
    captions: Source,
    words: Mapping[str, Sequence[str]] | None = None,
    minimum: int = 100,
    baseline: str = "nonobjectified",
    neutral: str = "neutral",
    rows: int = ROWS,
) -> EmotionWords:
    """Return what `emotion_word_shares` does, with the words counted and the differences for joint flips."""
    lists = emotion_lexicon() if words is None else words
    listed = sorted({word.lower() for own in lists.values() for word in own})
    needs = tuple(CAPTIONS)
    folds = [Fold("cells", _count_captions, _total, needs), Fold("words", partial(_count_words, listed), _total, needs)]
    done = run_folds(folds, lambda: _checked(captions, rows))
    cells, conditions = done["cells"], done["cells"]["condition"].unique()
    if len(conditions) and baseline not in conditions:  # without any caption nothing is compared
        known = ", ".join(sorted(map(str, conditions)))
        raise PortrayalError(f"no caption has condition {baseline!r}. Found: {known}. Set `baseline`.")
    occurrences = _occurrences(cells, done["words"], lists, minimum)
    counted = _hits(cells, done["words"], occurrences)
    of_systems = [
        {"system": system, **row}
        for system in sorted(counted["system"].unique())
        for row in _rows(counted.filter(system=system), lists, baseline, neutral)
    ]
    differences = differences_table(of_systems)
    return EmotionWords(results(of_systems, facets=FACETS, audit="associations"), occurrences, differences)


def _checked(captions: Source, rows: int) -> Iterator[pl.DataFrame]:
    earlier = 0
    for batch in chain([pl.DataFrame(schema=CAPTIONS)], batches(captions, list(CAPTIONS), rows, "captions")):
        frame = check(batch, CAPTIONS, "captions", "See docs/associations_captions.md.")
        check_people(frame, "captions", earlier)
        earlier += frame.height
        yield frame


def _total(sums: TableSums, _: Known) -> pl.DataFrame:
    return sums.total()


def _count_captions(captions: pl.DataFrame, _: Known) -> TableSums:
    answered = pl.col("status") == "answered"
    counts = {"captions": answered.sum(), "missing": (~answered).sum()}
    return TableSums(CELL, (captions.group_by(CELL).agg(**counts).cast({pl.UInt32: pl.Int64}),))


def _count_words(listed: Sequence[str], captions: pl.DataFrame, _: Known) -> TableSums:
    """Count listed words, split at spaces as the authors did: lower case, no full stops."""
    split = pl.col("caption").str.to_lowercase().str.replace_all(r"[.,]", "").str.split(" ")
    tokens = captions.lazy().filter(status="answered").select(*CELL, split.alias("word")).explode("word")
    counts = tokens.filter(pl.col("word").is_in(listed)).collect().group_by([*CELL, "word"]).len("count")
    return TableSums((*CELL, "word"), (counts.cast({pl.UInt32: pl.Int64}),))


def _occurrences(
    cells: pl.DataFrame, words: pl.DataFrame, lists: Mapping[str, Sequence[str]], minimum: int
) -> pl.DataFrame:
    """Return each listed word's occurrences in a system's captions, and whether they reach the minimum."""
    pairs = [(emotion, word.lower()) for emotion, own in lists.items() for word in own]
    listed = pl.DataFrame(pairs, schema={"emotion": pl.String, "word": pl.String}, orient="row")
    occurring = words.group_by("system", "word").agg(pl.col("count").sum().alias("occurrences"))
    table = cells.select("system").unique().join(listed, how="cross").join(occurring, on=["system", "word"], how="left")
    return (
        table.with_columns(pl.col("occurrences").fill_null(0).cast(pl.Int64))
        .with_columns(counted=pl.col("occurrences") >= minimum)
        .sort("system", "emotion", "word")
    )


def _hits(cells: pl.DataFrame, words: pl.DataFrame, occurrences: pl.DataFrame) -> pl.DataFrame:
    """Return captions, missing captions and each list's occurrences for every cell and person."""
    counted = occurrences.filter("counted").select("system", "word", list="emotion")
    hits = words.join(counted, on=["system", "word"]).group_by([*CELL, "list"]).agg(pl.col("count").sum())
    lists = occurrences.select(list="emotion").unique()
    table = cells.join(lists, how="cross").join(hits, on=[*CELL, "list"], how="left", nulls_equal=True)
    return table.with_columns(pl.col("count").fill_null(0))


def _rows(cells: pl.DataFrame, emotions: Iterable[str], baseline: str, neutral: str) -> Iterator[dict[str, Any]]:
    for emotion in emotions:
        of_list = cells.filter(list=emotion)
        of_emotion = of_list.filter(emotion=emotion)
        levels = sorted(level for level in of_emotion["intensity"].unique().drop_nulls() if level)
        for intensity in [None, *levels] if len(levels) > 1 else [None]:
            chosen = of_emotion if intensity is None else of_emotion.filter(intensity=intensity)
            # Single intensities are a closer look at people who are in the test already.
            family = {} if intensity is None else {"family": EXPLORATORY, "differences": None}
            for row in _compare(chosen, baseline):
                yield {"emotion": emotion, "intensity": intensity, **row, **family}
        for row in _rates(of_list.filter(emotion=neutral), "false_mention"):
            yield {"emotion": emotion, **row}


def _compare(cells: pl.DataFrame, baseline: str) -> Iterator[dict[str, Any]]:
    yield from _rates(cells, "emotion_words")
    base = _by_person(cells, baseline)
    for condition in sorted(cells["condition"].unique().drop_nulls()):
        if condition != baseline:
            both = _by_person(cells, condition).join(base, on="person", suffix="_base")
            own = cells.filter(pl.col("condition").is_in([condition, baseline]))
            for row in (_difference(own, both), _ratio(own, both)):
                yield {"group": condition, "versus": baseline, **row}


def _rates(cells: pl.DataFrame, measure: str) -> Iterator[dict[str, Any]]:
    for condition in sorted(cells["condition"].unique().drop_nulls()):
        people = _by_person(cells, condition)
        rate = clustered_rate(people["count"].to_numpy(), people["captions"].to_numpy())
        note = f"{int(people['count'].sum())} occurrences; interval over {len(people)} persons"
        yield rate.map(lambda end: 1000 * end).row(
            measure,
            group=condition,
            counted="captions",
            n_missing=int(cells.filter(condition=condition)["missing"].sum()),
            unit=UNIT,
            note=note if people["count"].sum() else NEVER,
        )


def _difference(cells: pl.DataFrame, both: pl.DataFrame) -> dict[str, Any]:
    """Return the mean over persons of their rates' difference, with the differences themselves."""
    count, captions, base, base_captions = _columns(both)
    rates = 1000 * (count / captions - base / base_captions)
    # Where all persons differ by the same, as if two more stood one occurrence a caption above and below them.
    error = 1000 * np.sqrt(2) / (len(both) + 2)
    silent = not len(both) or not (count.sum() + base.sum())
    never = {"decision": NOT_TESTED, "reason": "its captions never use words for it"} if silent and len(both) else {}
    return paired(rates, 0.0 if silent else float(error)).row(
        "emotion_word_difference",
        differences=dict(zip(both["person"].to_list(), rates.tolist(), strict=True)),
        n_missing=cells["person"].n_unique() - len(both),
        unit=UNIT,
        note="mean of the persons' differences; t interval over persons; p two-sided, sign flips of the persons"
        + _lone_person(both),
        **never,
    )


def _ratio(cells: pl.DataFrame, both: pl.DataFrame) -> dict[str, Any]:
    """Return the ratio of rates, which is described only: the difference is tested."""
    ratio = paired_rate_ratio(*_columns(both))
    note = f"paired within {len(both)} persons{_lone_person(both)}"
    if np.isnan(ratio.low):
        note += "; one condition has no occurrence, so the ratio has no interval"
    about = {"counted": "captions", "null": 1.0, "unit": "ratio", "note": note}
    return ratio.row("emotion_word_ratio", n_missing=int(cells["missing"].sum()), **about)


def _columns(both: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    count, captions, base, base_captions = (
        both[f"{name}{end}"].cast(pl.Float64).to_numpy() for end in ("", "_base") for name in ("count", "captions")
    )
    return count, captions, base, base_captions


def _lone_person(both: pl.DataFrame) -> str:
    """Return a note where one person has more than half of a side's occurrences."""
    for column in ("count", "count_base"):
        counts = both[column].to_numpy()
        if counts.any() and counts.max() > counts.sum() / 2:
            return f"; one person has {percent(counts.max() / counts.sum())} of the occurrences of one condition"
    return ""


def _by_person(cells: pl.DataFrame, condition: str) -> pl.DataFrame:
    sums = cells.filter(condition=condition).group_by("person").agg(pl.col("count", "captions").sum())
    return sums.filter(pl.col("captions") > 0).sort("person")
