"""Charts of an associations audit: effect sizes, the paper's table of them, specification curves."""

from __future__ import annotations

import polars as pl

from portrayal.audits.associations.findings import MEASURES
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.runs.audit import Chart, Measured


def charts(measured: Measured, settings: AssociationsSettings) -> list[Chart]:
    """Draw effect sizes with intervals, and for each system the specification curve where there are variants."""
    curves = [
        _curve(number, system, rows) for number, (system, rows) in enumerate(_specified(measured), start=1)
    ]
    return [_effect_sizes(measured), *_effect_table(measured), *curves]


def _effect_sizes(measured: Measured) -> Chart:
    from portrayal.report.charts import forest

    main = measured.results.filter(pl.col("measure").is_in(MEASURES) & pl.col("value").is_not_null())
    return Chart(
        "effect_sizes",
        "Effect size of each test",
        "Each point is a test's d with its 95% interval; right of zero, X goes with A and Y with B. "
        "The pooled deviation holds the group difference itself, so d stays between -2 and 2 for sides of equal size.",
        forest(main, label="group", axis="d"),
    )


def _effect_table(measured: Measured) -> list[Chart]:
    """Where several models took several tests: the paper's table of effect sizes."""
    from portrayal.audits.associations.effect_table import effect_table

    tested = measured.results.filter((pl.col("measure") == "eat") & pl.col("value").is_not_null())
    if min(tested["system"].n_unique(), tested["group"].n_unique()) < 2:
        return []
    text = (
        "d of each test for each model. Shading grows with d where it is positive, that is, where it agrees with "
        "the stereotype; * marks p < .05, uncorrected."
    )
    return [Chart("effect_table", "Effect sizes by model", text, effect_table(measured.results))]


def _curve(number: int, system: str, rows: pl.DataFrame) -> Chart:
    from portrayal.report.curve import specification_curve

    return Chart(
        f"specifications_{number}",
        f"Specification curve: {system}",
        "Every combination of prompt, article, target subset and ddof, sorted by d; those with p < .05 support the claim.",
        specification_curve(rows, choices=_varied(rows), supports="supports", low=None, high=None, axis="d"),
    )


def _specified(measured: Measured) -> list[tuple[str, pl.DataFrame]]:
    table = measured.tables.get("specifications")
    if table is None:
        return []
    return [(str(system), rows) for (system,), rows in table.group_by("system", maintain_order=True)]


def _varied(rows: pl.DataFrame) -> list[str]:
    """Return the choices that differ between these rows; the test first."""
    columns = [name for name in ("test", "prompt", "article", "ddof") if rows[name].n_unique() > 1]
    return columns or ["test"]
