"""Made-up waves: a tagger asked about people who answer as they do, partly by chance, and who are refused by a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import FOUND
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.study.audit import Evidence, Measured
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.tables import results
from portrayal.waves.changes import moved
from portrayal.waves.waves import Wave, measure_waves

STUDY = make_study(
    {"name": "waves", "audit": "counterfactuals", "systems": [{"name": "tagger", "use": "local"}],
     "counterfactuals": {"series": "series"}}
)  # fmt: skip
LABELS = 8
Refusal = Callable[[np.ndarray, int], np.ndarray]  # people's values and the wave: who is refused


def nobody(values: np.ndarray, wave: int) -> np.ndarray:
    return np.zeros(len(values), dtype=bool)


def a_quarter_shared(values: np.ndarray, wave: int) -> np.ndarray:
    """Refuse three in eight people a wave, others each time: a quarter answers in both waves."""
    place = np.arange(len(values)) * 8 // len(values)
    return (place < 3) if wave % 2 else (place >= 5)


def a_fifth_by_score(values: np.ndarray, wave: int) -> np.ndarray:
    return values[:, 0] > np.quantile(values[:, 0], 0.8)


def evidence(
    wave: int, seed: int, change: float = 0.0, refused: Refusal = nobody, people: int = 24, everybody: float = 0.0
) -> Evidence:
    """Return one wave's answers; `change` is added to the first label of each half, `everybody` to all labels of all."""
    theirs = np.random.default_rng(seed).normal(0, 1, (people, LABELS))
    values = theirs + np.random.default_rng([seed, wave]).normal(0, 1, (people, LABELS)) + everybody
    values += change * (np.arange(LABELS) % (LABELS // 2) == 0)
    silent = refused(values, wave)
    rows = [
        {"system": "tagger", "stimulus": f"p{person}", "repeat": 0, "status": "refused" if silent[person] else "answered",
         "tag": None if silent[person] else f"label {label}",
         "confidence": None if silent[person] else values[person, label]}
        for person in range(people)
        for label in range(1 if silent[person] else LABELS)
    ]  # fmt: skip
    names = [f"p{person}" for person in range(people)]
    about = {"stimulus": names, "person": names, "hash": names, "condition": "edited", "attribute": "gender"}
    poles = [-1.0 if person % 2 else 1.0 for person in range(people)]
    stimuli = pl.DataFrame({**about, "start": ["woman" if pole > 0 else "man" for pole in poles], "value": poles})
    return Evidence(stimuli, pl.DataFrame(rows, infer_schema_length=None))


def measure(study: Study, evidence: Evidence) -> Measured:
    """Measure each label's mean; half of the labels by person, the first of the others as a level that is described."""
    rows, differences = [], []
    answers = evidence.responses.filter(pl.col("status") == "answered")
    for place in range(LABELS):
        mine = answers.filter(pl.col("tag") == f"label {place}")
        measure = "described" if place == LABELS - 1 else "raw_slope"
        rows.append(
            clustered_mean(mine["confidence"].to_numpy()).row(
                measure, system="tagger", label=f"label {place}", counted="people"
            )
        )
        if place < LABELS // 2:
            pairs = mine.select("stimulus", "confidence").iter_rows()
            differences += [{"row": place, "unit": unit, "difference": value} for unit, value in pairs]
    table = results(rows, facets=("label",), audit="counterfactuals", unit="score")
    return Measured(table, differences=pl.DataFrame(differences))


def waves(*evidences: Evidence) -> list[Wave]:
    names = ["january", "may", "june"][: len(evidences)]
    return measure_waves(names, [STUDY] * len(evidences), evidences)


def found(table: pl.DataFrame) -> list[str]:
    rows = table.filter(pl.col("decision") == FOUND).iter_rows(named=True)
    return [f"{row['measure']} {row['label'] or ''}".strip() for row in rows]


def rates(refused: Refusal, pairs: int, count: int = 2, first: int = 0, people: int = 24) -> dict[str, float]:
    """Return how many unchanged pairs show a change, and how many 95% intervals hold no change, by person and apart."""
    shown, held = 0, {"paired by person": [0, 0], "apart": [0, 0]}
    for seed in range(first, first + pairs):
        table = moved(waves(*(evidence(wave, seed, refused=refused, people=people) for wave in range(1, count + 1))))
        shown += bool(found(table))
        of_labels = table.filter(pl.col("measure").is_in(["raw_slope", "described"])).drop_nulls("low")
        for low, high, how in of_labels.select("low", "high", "compared").iter_rows():
            counts = held["paired by person" if how == "paired by person" else "apart"]
            counts[0] += low <= 0 <= high
            counts[1] += 1
    return {"shown": shown / pairs, **{how: inside / max(tested, 1) for how, (inside, tested) in held.items()}}


def names_of(rules: Sequence[Refusal]) -> list[str]:
    return [rule.__name__ for rule in rules]
