"""Figures and tables of the captions audit."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures import (
    demeaning_nouns,
    demeaning_people,
    demeaning_rules,
    demeaning_words,
    group_words,
    self_identification,
    stereotyping_words,
)
from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, HUMAN_LABELS, SYSTEM_CAPTIONS, SYSTEM_LABELS
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.study.audit import Chart, Measured, ReportTable
from portrayal.text.formatting import percent

COUNTS = (
    demeaning_words.TEST, demeaning_rules.TEST, demeaning_nouns.TEST, self_identification.TEST, stereotyping_words.TEST,
)  # fmt: skip
OUTCOMES = (group_words.WRONG, group_words.NEUTRAL, group_words.OMITTED)


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
    parts = [(draw, table.filter(rows)) for draw, rows in drawn]
    return [draw(rows) for draw, rows in parts if (rows["value"] != 0).any()]


def _counts(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import forest

    rule = pl.when(pl.col("measure") == demeaning_rules.TEST).then("subject").otherwise("technique")
    tolerance = rows["null"][0]
    return Chart(
        "harms",
        "Harms in system captions",
        "Share of images in whose captions each harm may occur, with its 95% interval. The line is the tolerance of"
        f" {percent(tolerance, 1)}; most are upper bounds.",
        forest(rows.with_columns(harm=rule), label="harm", reference=tolerance, axis="share of images"),
        of=COUNTS,
        main=True,
    )


def _omission(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import forest

    rows = rows.with_columns(pair=pl.format("{}: {} less {}", "axis", "group", "versus"))
    return Chart(
        "people_not_mentioned",
        "People depicted and not mentioned",
        "Difference between groups in the share of captions that do not mention a depicted person, with its 95% interval.",
        forest(rows, label="pair", axis="difference of shares"),
        of=(demeaning_people.TEST,),
    )


def _outcome(rows: pl.DataFrame) -> Chart:
    from portrayal.reporting.charts.charts import bars_with_intervals

    quantity = rows["measure"][0]
    rows = rows.with_columns(whom=pl.concat_str(["axis", "group"], separator=": "))
    return Chart(
        quantity.replace(" ", "_"),
        f"Group words: {quantity}",
        f"Share of captions by annotated group: {quantity}. The four outcomes sum to one.",
        bars_with_intervals(rows, label="whom", axis="share of captions"),
        of=(quantity,),
    )


MOST_ROWS = 60  # of each system in a table of the report
# The techniques' own tables: title and what to know of it.
SHOWN = {
    "faults": ("Captions and boxes that are not as they should be", "Counted and named; the first image of each."),
    "cases": (
        "Cases to read",
        "Captions that may do harm, the first of each technique. These and many more are in reviews.csv of the run, to be judged there.",
    ),
    "objects": (
        "Objects correctly mentioned",
        "Ranked by test accuracy; the interval over splits is the paper's and too narrow.",
    ),
    "tuples": (
        "Tuples that differ most between groups",
        "Shares of captions that mention a person; the p is Holm-corrected over the tuples of a kind, not over the study.",
    ),
    "looks": ("What goes with the group term", "Log odds of the term for each feature of appearance."),
    "overlaps": ("How the scenarios of wrong inclusions overlap", "A case is counted once, in this order."),
}


def report_tables(measured: Measured, settings: CaptionsSettings) -> list[ReportTable]:
    """Return the needs of techniques, the meaning of stages, faults, and the techniques' own tables."""
    tables = {name: measured.tables.get(name, pl.DataFrame()) for name in SHOWN}
    shown = [_shown(name, table) for name, table in tables.items() if len(table)]
    return [_needs(measured.tables.get("missing")), *_stages(measured.results), *shown]


def _stages(results: pl.DataFrame) -> list[ReportTable]:
    """Return the table of stage pairs with their meaning (section 5.2 of the paper)."""
    if "stage" not in results.columns:
        return []
    pairs = results.filter(pl.col("stage") == SYSTEM_CAPTIONS).select("stage", "truth").unique(maintain_order=True)
    rows = [
        {
            "found at": stage,
            "against": truth or "nothing",
            "then": where_it_arises(stage, truth),
            "the paper suggests": mitigation(stage, truth),
        }
        for stage, truth in pairs.sort("truth", nulls_last=True).iter_rows()
    ]
    title = "Where a harm can have arisen, and what may be done"
    return [ReportTable("stages", title, DELETION_WARNING, pl.DataFrame(rows))] if rows else []


def _shown(name: str, table: pl.DataFrame) -> ReportTable:
    """Return the first rows of each system, and say how many were cut."""
    title, text = SHOWN[name]
    more = table.group_by("system", maintain_order=True).len().filter(pl.col("len") > MOST_ROWS)
    if cut := [f"{system} {rows - MOST_ROWS}" for system, rows in more.iter_rows()]:
        text = f"{text} The first {MOST_ROWS} rows of each system; rows cut: {', '.join(cut)}."
    return ReportTable(name, title, text, table.group_by("system", maintain_order=True).head(MOST_ROWS))


def _needs(missing: pl.DataFrame | None) -> ReportTable:
    """Return the needs of every technique, and the systems that lack a stage."""
    absent: dict[str, list[str]] = {}
    for system, technique, why in [] if missing is None else missing.iter_rows():
        absent.setdefault(technique, []).append(f"{system}: {why}")
    rows = [(t.key, t.needs, t.missing, "; ".join(absent.get(t.key, []))) for t in TECHNIQUES.values()]
    columns = ["technique", "needs", "a missing stage means", "not measured here"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return ReportTable("needs", "What each technique needs", "And what it means when a stage is absent.", table)


LANGUAGE_MODEL = "look at the language model; where a word alone does the harm, remove or replace it in the caption"
# Where a harm found at a stage against a truth can have arisen (section 3.4), and what section 5.2 suggests.
COMPARISONS = {
    (SYSTEM_CAPTIONS, HUMAN_LABELS): (
        "it arose in the human captions the system learned from or in the system as a whole",
        LANGUAGE_MODEL,
    ),
    (SYSTEM_CAPTIONS, SYSTEM_LABELS): (
        "the computer vision model did not cause it: it arose in the human captions or in the language model",
        LANGUAGE_MODEL,
    ),
    (SYSTEM_CAPTIONS, HUMAN_CAPTIONS): (
        "the human captions of the same images do not have it: it arose in the system as a whole, or in other captions it"
        " learned from",
        "look at the language model, the vision model or the training: attend to the right part of the image, rely less on"
        " spurious correlations, handle rare labels, write more diverse captions",
    ),
    (HUMAN_CAPTIONS, HUMAN_LABELS): (
        "it arose among the people who wrote the captions",
        "obtain new human captions, with care, and train again",
    ),
    (SYSTEM_LABELS, HUMAN_LABELS): (
        "it arose in the computer vision model",
        "change the vision model or its training: attend to the right part of the image, rely less on spurious correlations,"
        " handle rare labels",
    ),
}
# Section 5.2: this stands beside the suggestions.
DELETION_WARNING = (
    "Deleting words can erase: some words harm only in some contexts or from some speakers, and a deleted word"
    " cannot be used by anyone."
)


def where_it_arises(stage: str, truth: str | None) -> str:
    """Say at which stages a harm found at `stage` against `truth` can have arisen."""
    if truth is None:
        return f"seen in the {stage}; it was compared with no other stage"
    unknown = f"comparing {stage} with {truth} does not tell where it arose"
    return COMPARISONS.get((stage, truth), (unknown, ""))[0]


def mitigation(stage: str, truth: str | None) -> str:
    """Return the advice of section 5.2 for a harm at this pair of stages."""
    unknown = "no mitigation is suggested for this pair of stages"
    return COMPARISONS.get((stage, truth or HUMAN_LABELS), ("", unknown))[1]
