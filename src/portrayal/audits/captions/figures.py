"""Figures and tables of the captions audit."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.findings import COUNTS, TEXTS
from portrayal.audits.captions.measures import demeaning_people, demeaning_rules, group_words
from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, SYSTEM_CAPTIONS
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.study.audit import Chart, Measured, ReportTable
from portrayal.text.formatting import percent

OUTCOMES = (group_words.WRONG, group_words.NEUTRAL, group_words.OMITTED)
MOST_ROWS = 60  # of each system in a table of the report
SHOWN, COMPARISONS, DELETION_WARNING = TEXTS["tables"], TEXTS["comparisons"], TEXTS["deletion"]


def all_charts(measured: Measured, settings: CaptionsSettings) -> list[Chart]:
    """Return the charts of harms, people not mentioned, and outcomes of group words."""
    if "stage" not in measured.results.columns:
        return []
    table = measured.results.filter(pl.col("stage") == SYSTEM_CAPTIONS).drop_nulls("value")
    alone = pl.col("versus").is_null() & (pl.col("technique") == group_words.TECHNIQUE.name)
    drawn = [
        (_counts, pl.col("measure").is_in(COUNTS)),
        (_omission, pl.col("measure") == demeaning_people.TEST),
        *((_outcome, alone & (pl.col("measure") == quantity)) for quantity in OUTCOMES),
    ]
    return [draw(rows) for draw, chosen in drawn if ((rows := table.filter(chosen))["value"] != 0).any()]


def _counts(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import forest

    rule = pl.when(pl.col("measure") == demeaning_rules.TEST).then("subject").otherwise("technique")
    tolerance = rows["null"][0]
    text = (
        "Share of images in whose captions each harm may occur, with its 95% interval. The line is the tolerance of"
        f" {percent(tolerance, 1)}; most are upper bounds."
    )
    chart = forest(rows.with_columns(harm=rule), label="harm", reference=tolerance, axis="share of images")
    return Chart("harms", "Harms in system captions", text, chart, of=COUNTS, main=True)


def _omission(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import forest

    text = "Difference between groups in the share of captions that do not mention a depicted person, with its 95% interval."
    pairs = rows.with_columns(pair=pl.format("{}: {} less {}", "axis", "group", "versus"))
    chart = forest(pairs, label="pair", axis="difference of shares")
    return Chart("people_not_mentioned", "People depicted and not mentioned", text, chart, of=(demeaning_people.TEST,))


def _outcome(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import bars_with_intervals

    quantity = rows["measure"][0]
    text = f"Share of captions by annotated group: {quantity}. The four outcomes sum to one."
    rows = rows.with_columns(whom=pl.concat_str(["axis", "group"], separator=": "))
    chart = bars_with_intervals(rows, label="whom", axis="share of captions")
    return Chart(quantity.replace(" ", "_"), f"Group words: {quantity}", text, chart, of=(quantity,))


def report_tables(measured: Measured, settings: CaptionsSettings) -> list[ReportTable]:
    """Return the needs of techniques, the meaning of stages, faults, and the techniques' own tables."""
    own = [_first_rows(name, table) for name in SHOWN if len(table := measured.tables.get(name, pl.DataFrame()))]
    return [_needs(measured.tables.get("missing")), *_stages(measured.results), *own]


def _stages(results: pl.DataFrame) -> list[ReportTable]:
    """Return the table of stage pairs with their meaning (section 5.2 of the paper)."""
    if "stage" not in results.columns:
        return []
    pairs = results.filter(pl.col("stage") == SYSTEM_CAPTIONS).select("stage", "truth").unique(maintain_order=True)
    each = pairs.sort("truth", nulls_last=True).iter_rows()
    rows = [
        (stage, truth or "nothing", where_it_arises(stage, truth), mitigation(stage, truth)) for stage, truth in each
    ]
    table = pl.DataFrame(rows, schema=["found at", "against", "then", "the paper suggests"], orient="row")
    title = "Where a harm can have arisen, and what may be done"
    return [ReportTable("stages", title, DELETION_WARNING, table)] if rows else []


def _first_rows(name: str, table: pl.DataFrame) -> ReportTable:
    """Return the first rows of each system, and say how many were cut."""
    title, text = SHOWN[name]
    systems = table.group_by("system", maintain_order=True)
    if cut := [f"{system} {rows - MOST_ROWS}" for system, rows in systems.len().iter_rows() if rows > MOST_ROWS]:
        text = f"{text} The first {MOST_ROWS} rows of each system; rows cut: {', '.join(cut)}."
    return ReportTable(name, title, text, systems.head(MOST_ROWS))


def _needs(missing: pl.DataFrame | None) -> ReportTable:
    """Return the needs of every technique, and the systems that lack a stage."""
    absent: dict[str, list[str]] = {}
    for system, technique, why in [] if missing is None else missing.iter_rows():
        absent.setdefault(technique, []).append(f"{system}: {why}")
    rows = [(t.key, t.needs, t.missing, "; ".join(absent.get(t.key, []))) for t in TECHNIQUES.values()]
    columns = ["technique", "needs", "a missing stage means", "not measured here"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return ReportTable("needs", "What each technique needs", "And what it means when a stage is absent.", table)


def where_it_arises(stage: str, truth: str | None) -> str:
    """Say at which stages a harm found at `stage` against `truth` can have arisen."""
    if truth is None:
        return f"seen in the {stage}; it was compared with no other stage"
    unknown = f"comparing {stage} with {truth} does not tell where it arose"
    return str(COMPARISONS.get(stage, {}).get(truth, [unknown])[0])


def mitigation(stage: str, truth: str | None) -> str:
    """Return the advice of section 5.2 for a harm at this pair of stages."""
    unknown = "no mitigation is suggested for this pair of stages"
    return str(COMPARISONS.get(stage, {}).get(truth or HUMAN_LABELS, ["", unknown])[1])
