"""Labels of generated images: `audit = "associations/labels"`. Works from recorded tables only.

[associations]
table = "labels.csv"
validation = "raters.csv"   # what raters said of the detector; see portrayal.audits.associations.measures.undercount
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import polars as pl

from portrayal.audits.associations.datasets.label_tables import label_stimuli, label_table
from portrayal.audits.associations.measures.sexualisation import SEXUALISED, flagged_shares
from portrayal.audits.associations.shipped import experiment, titled
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import smallest_share_difference
from portrayal.stats.raters import agreement
from portrayal.study.audit import Chart, Evidence, Measured
from portrayal.study.study import Study
from portrayal.tables import read_table
from portrayal.text.formatting import percent

RATES = ("sexualised_rate", "sexualised_rate_corrected", "blocked_rate", "no_face_rate")
USUAL = 0.1  # the share of sexualised images that power is stated against


class LabelSettings(Settings):
    """`[associations]` of this experiment."""

    table: str
    validation: str | None = None
    sexualised: list[str] = list(SEXUALISED)
    baseline: str | None = None


def _stimuli(study: Study) -> pl.DataFrame:
    if any(system.use != "label_table" for system in study.systems):
        raise PortrayalError(
            "sexualised output is measured from recorded labels only, never by prompting for it. "
            'Use use = "label_table" for every system.'
        )
    return label_stimuli(label_table(study.folder / study.settings.table))


def _inputs(study: Study) -> Mapping[str, Any]:
    named = study.settings.validation
    return {"validation": read_table(study.folder / named) if named else None}


def _measure(evidence: Evidence, settings: LabelSettings) -> Measured:
    answers = evidence.responses.join(evidence.stimuli.select("stimulus", "group", "age", "seed"), on="stimulus")
    faces = pl.col("label").str.starts_with("face:").fill_null(False)
    seen = answers.filter(faces).select("system", "stimulus", face=pl.col("label") == "face:yes")
    images = answers.filter(~faces).join(seen, on=["system", "stimulus"], how="left")
    # A table without ages or faces has neither column, so that nothing is said of them.
    empty = [name for name in ("age", "face") if images[name].is_null().all()]
    judged = evidence.inputs.get("validation")
    table = flagged_shares(images.drop(empty), settings.sexualised, settings.baseline, judged)
    return Measured(pl.concat([table, *_agreements(evidence.reviews)], how="diagonal"))


def _power(study: Study, stimuli: pl.DataFrame) -> Sequence[str]:
    """Return the share that each pair of groups can tell from a usual one."""
    sizes = dict(stimuli.group_by("group").len().sort("group").iter_rows())
    pairs = [pair for pair in permutations(sizes, 2) if pair[1] == (study.settings.baseline or min(pair))]
    trends = 0 if stimuli["age"].is_null().all() else len(sizes)
    tests = study.corrected_together(len(pairs) + trends)
    return [study.correction(tests), *(_line(sizes, *pair, LEVEL / tests) for pair in pairs)]


def _line(sizes: Mapping[str, int], group: str, base: str, alpha: float) -> str:
    n, base_n = sizes[group], sizes[base]
    images = f"{group} and {base}: {n} and {base_n} images"
    gap = smallest_share_difference(USUAL, n, base_n, alpha, fisher=True)
    if USUAL + gap > 1:
        return f"{images} are too few to find anything under this correction"
    return f"{images} tell {percent(USUAL + gap)} sexualised from {percent(USUAL)} with 80% power"


def _agreements(reviews: pl.DataFrame | None) -> list[pl.DataFrame]:
    """Return the raters' agreement on each question that at least two of them judged."""
    judged = None if reviews is None else reviews.drop_nulls(["judgment", "question"])
    if judged is None:
        return []
    return [
        agreement(part, str(question), audit="associations").with_columns(system=pl.lit("raters"))
        for (question,), part in judged.sort("question", maintain_order=True).group_by("question", maintain_order=True)
        if part["reviewer"].n_unique() > 1
    ]


def _charts(measured: Measured, settings: LabelSettings) -> list[Chart]:
    from portrayal.reporting.charts.charts import bars_with_intervals, lines_with_band

    rates = measured.results.filter(pl.col("measure").is_in(RATES) & pl.col("value").is_not_null())
    label = pl.format("{}: {}", "group", pl.col("measure").str.replace_all("_", " "))
    overall = rates.filter(pl.col("age").is_null()).with_columns(label=label)
    bars = bars_with_intervals(overall, label="label", axis="share")
    drawn = [Chart("labels", *titled("labels"), bars, of=RATES, main=True)]
    ages = rates.drop_nulls("age").with_columns(
        age=pl.col("age").cast(pl.Float64), prompted=pl.format("{}, {}", "system", "group")
    )
    if not ages.is_empty():
        lines = lines_with_band(
            ages, x="age", y="value", low="low", high="high", color="prompted", x_axis="age", y_axis="share"
        )
        drawn.append(Chart("labels_by_age", *titled("labels_by_age"), lines, of=RATES))
    return drawn


AUDIT = experiment(
    "labels", settings=LabelSettings, stimuli=_stimuli, measure=_measure, charts=_charts, inputs=_inputs, power=_power
)
