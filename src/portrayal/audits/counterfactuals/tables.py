"""Tables of the counterfactuals audit: labels by direction, checks, search shares."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.audits.counterfactuals.checks import VERDICTS
from portrayal.audits.counterfactuals.measures.axis import KEY, PLACEBO, POLES, Axis, axes_of, with_poles
from portrayal.audits.counterfactuals.measures.measure import with_decisions
from portrayal.audits.counterfactuals.measures.occupations import gaps, shipped_table
from portrayal.audits.counterfactuals.settings import WORDS, CounterfactualsSettings
from portrayal.reporting.page.section import file_name
from portrayal.study.audit import Measured, ReportTable

KEYS = ["system", *KEY]
GENDERS = ("feminine", "masculine")
FLIPS = ("value", "low", "high", "n", "counted")
PLACEBO_FLIPS = {f"placebo_{name}": name for name in ("value", "low", "high")}
ALWAYS = ("flips", "absent", "left_out")  # shown empty too: that nobody is there says something
MOST = 60  # rows of a table for each system and attribute; the others are counted beneath
SHOWN = [
    "system", "label", "slope", "low", "high", "slope_per_step", "decision", "p_adjusted", "p_paper", "passes_paper",
    "at_centre", "occupation",
]  # fmt: skip


def label_table(labels: pl.DataFrame, plain_too: bool) -> pl.DataFrame:
    """Say which labels tables leave out: plain concepts, unless the study keeps them."""
    return labels.with_columns((~pl.col("plain") | pl.lit(plain_too)).alias("shown"))


def steepest(labels: pl.DataFrame, axis: Axis, sign: int) -> pl.DataFrame:
    """Return the labels of one direction, steepest first (Tables 1, 2, 5, 6)."""
    chosen = labels.filter(axis.where() & pl.col("shown") & (pl.col("slope") * sign > 0))
    return chosen.sort(["system", pl.col("slope").abs()], descending=[False, True]).select(*SHOWN)


def report_tables(measured: Measured, settings: CounterfactualsSettings) -> list[ReportTable]:
    """Return the tables of a report."""
    labels = with_decisions(measured.tables["labels"], measured.results)
    absent, cut = first_of_each(_select(labels.filter(at_centre=0), [*KEYS, "label"], "p", "n"), "system", "attribute")
    tables = [
        _by_start(measured.results, labels),
        _flips(measured.results),
        ReportTable("refused", "Refusals along a series", "Share of people refused at each value of the cue; its slope is among"
                    " the findings.", _select(measured.results.filter(measure="refused"), KEYS, "step", *FLIPS)),
        ReportTable("absent", "Labels absent at the centre", "They have no normalised slope; their raw rates are in the"
                    f" results.{cut}", absent),
        ReportTable("left_out", "Pictures left out, and pictures with a note", "Named, with the reason. Where `left_out` is false"
                    " the picture was used, and the note says what to know of it.", measured.tables["left_out"]),
    ]  # fmt: skip
    nonempty = [table for table in tables if table.table.height or table.name in ALWAYS]
    text = "Share of women in image-search results and in the workforce, 45 occupations (Kay et al. 2015)."
    search = gaps(shipped_table("image_search_gender"))
    return [*_checks(measured), *_ends(labels), *nonempty,
            ReportTable("search_gaps", "Search results against the workforce", text, search)]  # fmt: skip


def first_of_each(table: pl.DataFrame, *each: str) -> tuple[pl.DataFrame, str]:
    """Return the first rows of each system (and attribute), and what was cut."""
    place = pl.int_range(pl.len()).over(list(each))
    first = table.filter(place < MOST)
    lost = table.filter(place >= MOST).group_by(list(each), maintain_order=True).len()
    cut = [f"{number} of {', '.join(names)}" for *names, number in lost.iter_rows()]
    return first, f" Only the first {MOST} of each are shown; left out here: {'; '.join(cut)}." if cut else ""


def _checks(measured: Measured) -> list[ReportTable]:
    """Return the checks, each passed or missed."""
    if "checks" not in measured.tables:
        return []
    text = "Read by networks that had no part in making the faces. A check that was missed is a warning at the top."
    verdict = pl.col("passed").replace_strict(VERDICTS, return_dtype=pl.String, default=VERDICTS[None])
    table = with_poles(measured.tables["checks"]).with_columns(verdict.alias("verdict"))
    poles = POLES if table[POLES[0]].null_count() < table.height else ()
    checks = table.select("check", "attribute", *poles, "value", "low", "high", "unit", "needs", "verdict", "n", "note")
    return [ReportTable("checks", "Manipulation checks", text, checks)]


def _ends(labels: pl.DataFrame) -> list[ReportTable]:
    """Return, for each axis measured, the steepest labels of either end."""
    tables = []
    for axis in axes_of(labels):
        for sign, name in zip((-1, 1), GENDERS if axis.attribute == "gender" else axis.poles, strict=False):
            whose, values = (
                f"faces moved {axis.title}, towards the pole {name!r}",
                "+2 lies beyond the second named pole",
            )
            if axis.attribute == "gender":
                whose, values = f"{name} faces", "+2 is masculine"
            first, cut = first_of_each(steepest(labels, axis, sign), "system")
            text = WORDS["end"].format(values=values, whose=whose) + cut
            tables.append(
                ReportTable(file_name("_".join((*axis.names, name))), f"Labels that come with {whose}", text, first)
            )
    return tables


def _by_start(results: pl.DataFrame, labels: pl.DataFrame) -> ReportTable:
    """Return the slopes of those who start in each group, beside that of everybody."""
    keys = [*KEYS, "label"]
    pooled = results.filter(pl.col("measure") == "slope").select(*keys, everybody="value")
    plain = labels.filter(~pl.col("shown"))["label"].unique().to_list()
    rows = results.filter(pl.col("measure") == "slope_by_start", ~pl.col("label").is_in(plain))
    table = rows.join(pooled, on=keys, how="left", nulls_equal=True, maintain_order="left")
    slopes = _select(table, keys, pl.col("group").alias("start"), "value", "low", "high", "n", "everybody")
    first, cut = first_of_each(slopes, "system", "attribute")
    return ReportTable("by_start", "Slopes by starting group", WORDS["by_start"] + cut, first)


def _flips(results: pl.DataFrame) -> ReportTable:
    """Return how many get another label somewhere, along each axis and its placebo."""
    rows = results.filter(pl.col("measure") == "any_flip")
    is_placebo = pl.col("attribute") == PLACEBO
    axes, on = rows.filter(~is_placebo), ["system", *POLES]
    own = rows.filter(is_placebo).select(*on, **PLACEBO_FLIPS)
    known, others = (axes.join(own, on=on, how=how, nulls_equal=True) for how in ("semi", "anti"))
    shared = own.filter(pl.col(POLES[0]).is_null()).drop(POLES)
    beside = [
        known.join(own, on=on, how="left", nulls_equal=True, maintain_order="left"),
        others.join(shared, on="system", how="left", maintain_order="left"),
    ]
    flips = _select(pl.concat(beside), KEYS, *FLIPS, *PLACEBO_FLIPS)
    return ReportTable("flips", "Answers that change along a series", WORDS["flips"], flips)


def _select(table: pl.DataFrame, keys: Sequence[str], *columns: str | pl.Expr) -> pl.DataFrame:
    """Return the keys and columns, without the poles where no row has any."""
    return table.select(
        *(name for name in keys if name not in POLES or table[name].null_count() < table.height), *columns
    )
