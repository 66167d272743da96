"""Charts of an associations audit: effect sizes, the paper's table of them, specification curves."""

from __future__ import annotations

import polars as pl

from portrayal.audits.associations.findings import MEASURES
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.study.audit import Chart, Measured


def charts(measured: Measured, settings: AssociationsSettings) -> list[Chart]:
    """Draw effect sizes with intervals, and for each system and test the specification curve."""
    curves = [
        _curve(number, str(system), str(test), rows)
        for number, ((system, test), rows) in enumerate(_specified(measured), start=1)
    ]
    return [_effect_sizes(measured), *_effect_table(measured), *_printed_table(measured), *curves]


def _effect_sizes(measured: Measured) -> Chart:
    from portrayal.reporting.charts.charts import forest

    main = measured.results.filter(pl.col("measure").is_in(MEASURES) & pl.col("value").is_not_null())
    return Chart(
        "effect_sizes",
        "Effect size of each test",
        "Each point is a test's d with its 95% interval; a filled one was found. Right of zero, what a row names first goes "
        "with the attribute it names first. The pooled deviation holds the group difference itself, so d stays "
        "between -2 and 2 for sides of equal size.",
        forest(main, label="test", axis="d"),
        of=MEASURES,
        main=True,
    )


def _effect_table(measured: Measured) -> list[Chart]:
    """Return the paper's table of effect sizes, where several models took several tests."""
    from portrayal.audits.associations.effect_table import effect_table

    tested = measured.results.filter((pl.col("measure") == "eat") & pl.col("value").is_not_null())
    if min(tested["system"].n_unique(), tested["test"].n_unique()) < 2:
        return []
    sided = " and ".join(tested["sided"].unique().sort())
    text = (
        "d of each test for each model. Shading grows with d where it is positive, that is, where it agrees with "
        f"the stereotype; * marks what was found ({sided}, corrected over all tests)."
    )
    return [Chart("effect_table", "Effect sizes by model", text, effect_table(measured.results), of=("eat",))]


def _printed_table(measured: Measured) -> list[Chart]:
    """Return the paper's own table, where its procedure was asked for."""
    from portrayal.audits.associations.effect_table import effect_table
    from portrayal.audits.associations.published import as_printed

    printed = as_printed(measured)
    if printed.is_empty():
        return []
    text = (
        "What the paper prints for the same models and tests (Wolfe et al. 2023, Tables 1 and 2). Its stars are one-sided and "
        "uncorrected, and mark either direction."
    )
    return [Chart("effect_table_published", "Effect sizes as published", text, effect_table(printed), of=("eat",))]


def _curve(number: int, system: str, test: str, rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.curve import specification_curve

    return Chart(
        f"specifications_{number}",
        f"Specification curve: {test}, {system}",
        "Every way the study had of asking this, sorted by d. Those that point the claimed way with p < .05 by themselves "
        "support the claim.",
        specification_curve(rows, choices=_varied(rows), supports="supports", low=None, high=None, axis="d"),
        of=("specifications",),
        system=system,
    )


def _specified(measured: Measured) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    table = measured.tables.get("specifications")
    return [] if table is None else list(table.group_by("system", "test", maintain_order=True))


def _varied(rows: pl.DataFrame) -> list[str]:
    """Return the choices that differ between these rows."""
    return [name for name in ("prompt", "article", "without") if rows[name].n_unique() > 1]
