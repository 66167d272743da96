"""Saliency of encoders for an emotion: `audit = "associations/saliency"`.

    [associations]
    table = "sobem:SOBEM"
    factor = "emotion"
    prompts = { anger = "a photo of an angry person", sadness = "a photo of a sad person" }

Each picture is held against the prompt of its own value of `factor`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.people import paired_power
from portrayal.audits.associations.measures.saliency import FACETS, average_map, saliency
from portrayal.audits.associations.picture_sets import picture_table
from portrayal.audits.associations.shipped import experiment, titled
from portrayal.audits.associations.stimulus_sets import check_person, picture_hash, sees_pictures
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.study.audit import Chart, Evidence, Measured
from portrayal.study.questions import BETWEEN, prompted_hash
from portrayal.study.study import Study
from portrayal.tables import check_stimuli, results

# Section 4.2 of the paper.
PROMPTS = {
    emotion: f"a photo of {word} person"
    for emotion, word in (("anger", "an angry"), ("sadness", "a sad"), ("happiness", "a happy"))
}
FACTORS = ("factor", "condition", "person")
REGIONS = 3  # face, torso and background, unless masks say otherwise


class SaliencyStudySettings(Settings):
    """`[associations]` of this experiment."""

    table: str
    factor: str = "emotion"
    prompts: dict[str, str] = PROMPTS
    condition: str = "condition"
    person: str = "person"
    baseline: str = "nonobjectified"
    consent: str = ""


def _stimuli(study: Study) -> pl.DataFrame:
    own: SaliencyStudySettings = study.settings
    table = picture_table(own.table, study.folder)
    for name in (getattr(own, factor) for factor in FACTORS):
        if name not in table.columns:
            raise PortrayalError(f"{own.table} lacks column {name!r} (found: {', '.join(table.columns)}).")
    chosen = table.filter(pl.col(own.factor).is_in(list(own.prompts)))
    if chosen.is_empty():
        raise PortrayalError(f"no picture has one of {', '.join(own.prompts)} under {own.factor!r}. Set `prompts`.")
    seen = sees_pictures(study.systems)
    return check_stimuli([_stimulus(row, own, seen) for row in chosen.iter_rows(named=True)])


def _stimulus(row: dict[str, Any], own: SaliencyStudySettings, seen: bool) -> dict[str, str]:
    prompt, path = own.prompts[row[own.factor]], Path(row["content"])
    check_person(row[own.person], f"{path.name!r} of {own.table!r}")
    return {
        "stimulus": f"{prompt}{BETWEEN}{path.name}",
        "kind": "image",
        "content": str(path),
        "hash": prompted_hash(prompt, picture_hash(path, seen)),
        "source": str(row.get("source") or own.table),
        "license": str(row.get("license") or ""),
        "consent": str(row.get("consent") or own.consent),
        **{name: str(row[getattr(own, name)]) for name in FACTORS},
    }


def _measure(evidence: Evidence, settings: SaliencyStudySettings) -> Measured:
    answers = evidence.responses.join(evidence.stimuli.select("stimulus", *FACTORS), on="stimulus")
    cells = answers.filter(pl.col("tag").str.starts_with("cell ").fill_null(False))
    rest = answers.join(cells.select("system", "stimulus", "tag"), on=["system", "stimulus", "tag"], how="anti")
    regions = rest["tag"].drop_nulls().unique().sort()
    # A picture without an answer is missing in every region, not in none.
    silent = rest.filter(pl.col("tag").is_null()).drop("tag")
    silent = silent.join(pl.DataFrame({"tag": regions}), how="cross").select(rest.columns)
    shares = pl.concat([rest.drop_nulls("tag"), silent]).rename({"tag": "region", "confidence": "share"})
    if regions.is_empty():  # no picture has a map: silence says so
        return Measured(results([], facets=FACETS), {"maps": _average(cells)})
    compared = saliency(shares, settings.baseline)
    return Measured(compared.results, {"maps": _average(cells)}, differences=compared.differences)


def _average(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the averaged map of each system, factor and condition, one row a cell."""
    rows: list[tuple[Any, ...]] = []
    by = ("system", "factor", "condition")
    for place, part in sorted(cells.group_by(by), key=lambda item: item[0]):
        maps = [_grid(one) for _, one in part.group_by("stimulus", maintain_order=True)]
        if any(grid.sum() > 0 for grid in maps):
            rows += [(*place, *cell, float(mass)) for cell, mass in np.ndenumerate(average_map(maps))]
    schema = dict.fromkeys(by, pl.String) | {"y": pl.Int64, "x": pl.Int64, "mass": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _grid(one: pl.DataFrame) -> np.ndarray:
    y, x = np.array([[int(place) for place in tag.split()[1:]] for tag in one["tag"]]).T
    grid = np.zeros((y.max() + 1, x.max() + 1))
    grid[y, x] = one["confidence"].to_numpy()
    return grid


def _charts(measured: Measured, settings: SaliencyStudySettings) -> list[Chart]:
    from portrayal.reporting.charts.charts import bars_with_intervals
    from portrayal.reporting.charts.silhouette import strip

    shares = measured.results.filter(pl.col("measure") == "saliency_share").drop_nulls("value")
    named = shares.with_columns(shown=pl.format("{}, {}", "region", "group"))
    chart = bars_with_intervals(named, label="shown", axis="share of saliency")
    drawn = [Chart("saliency_shares", *titled("saliency_shares"), chart, of=("saliency_share",), main=True)]
    for (system,), part in measured.tables["maps"].group_by("system", maintain_order=True):
        maps = {
            f"{factor}, {condition}": one.sort("y", "x")["mass"].to_numpy().reshape(one["y"].n_unique(), -1)
            for (factor, condition), one in part.group_by("factor", "condition", maintain_order=True)
        }
        words = titled("saliency_maps", system=str(system), names="; ".join(maps))
        drawn.append(Chart(f"saliency_maps_{len(drawn)}", *words, png=strip(maps), of=("maps",)))
    return drawn


AUDIT = experiment(
    "saliency",
    settings=SaliencyStudySettings,
    stimuli=_stimuli,
    measure=_measure,
    charts=_charts,
    sides={"saliency_difference": "region"},
    power=lambda study, stimuli: paired_power(study, stimuli, "condition", REGIONS, whole=True),
)
