"""All four questions at once: from a table of pictures to one Results table.

Additions to Barlas et al. (2020): coverage of the typology, places with nobody in them, and thresholds of confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import congruence, expectancy
from portrayal.audits.contexts.measures.design import FACETS, SUPER, Design
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq3_errors import errors
from portrayal.audits.contexts.measures.rq4_descriptions import attributes, descriptions, mixed
from portrayal.audits.contexts.measures.views import DIFFERENCES, NEUTRAL, Rows, View, by_system, column
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.intervals.shares import clustered_share
from portrayal.tables import results
from portrayal.text.formatting import percent

OF_PEOPLE = (congruence, accuracy, errors, inferences, recognition, descriptions, attributes, expectancy, mixed)
GENDERED, STEREOTYPED, RECOGNISED = (f"{what}_without_people" for what in ("gendered", "stereotype", "recognised"))
VARIANT = "with_confidence"
KEYS = ["system", "measure", "group", "versus", "place", "background", "inferred", "attribute", "factor", "vector"]
Places = Mapping[str, Collection[str | None]]  # of each measure, those it is wanted of


def answer_questions(pictures: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Return the Results of all questions for all systems in a table of pictures."""
    return answers_and_differences(pictures, design)[0]


def answers_and_differences(pictures: pl.DataFrame, design: Design) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the Results, and people's differences (row, unit, difference) in rows that are tested together."""
    design, people = design.fit(pictures), by_system(pictures.filter(pl.col("person").is_not_null()))
    rows = [row for question in OF_PEOPLE for view in people for row in question(view, design)]
    places = by_system(pictures.filter(role="background")) if design.describes else []
    rows += [row for view in places for row in nobody(view, design)]
    rows += [row for view in by_system(pictures) if view.single for row in coverage(view)]  # units of its interval
    schema = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
    apart = [pl.DataFrame(schema=schema)]
    for at, row in enumerate(rows):
        if DIFFERENCES in row:
            people, values = row.pop(DIFFERENCES)
            apart.append(pl.DataFrame([np.full(len(values), at), list(people), values], schema))
    return results(note_coverage(rows), facets=FACETS, audit="contexts"), pl.concat(apart)


def coverage(view: View) -> Rows:
    """Yield `coverage` rows: the share of tags that some list or each cluster holds."""
    answered, (lost, why) = view.answered, view.missing
    tags = answered["tags"].to_numpy()
    for name in ("known", *SUPER, "other"):
        share = clustered_share(answered[name if name == "known" else column(name)].to_numpy(), tags)
        note = why if name == "known" else "never used by this tagger" if share.value == 0 else ""
        about = {"system": view.system, "attribute": name, "n_missing": lost}
        yield share.row("coverage", unit="share", counted="tags", note=note, **about)


def note_coverage(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each system's coverage to the note of every one of its rows."""
    known = {
        row["system"]: f"typology knows {percent(row['value'], 1)} of the tags"
        for row in rows
        if (row["measure"], row.get("attribute")) == ("coverage", "known") and row["value"] is not None
    }
    if not known:
        return list(rows)
    return [{**row, "note": "; ".join(filter(None, [row.get("note"), known.get(row["system"])]))} for row in rows]


def nobody(alone: View, design: Design) -> Rows:
    """Yield the shares of places alone with a gender named, and with the place recognised."""
    answered = alone.answered
    named = answered.where(pl.col("inferred") != NEUTRAL)
    fitting = named.where(pl.col("inferred") == pl.col("context").replace_strict(design.stereotypes, default=None))
    about = {"system": alone.system, "n_missing": alone.missing[0], "unit": "share", "counted": "pictures"}
    yield wilson(named.count, answered.count).row(GENDERED, **about)
    yield wilson(fitting.count, named.count).row(STEREOTYPED, **about)
    for place in answered["context"].drop_nulls().unique().sort():
        view = alone.where(pl.col("context") == place)
        here, where = view.answered, {**about, "place": place, "n_missing": view.missing[0]}
        yield wilson(int((here.recognised * here.alike).sum()), here.count).row(RECOGNISED, **where)
        for gender in design.named:
            count = int((here.inferred(gender) * here.alike).sum())
            yield wilson(count, here.count).row(GENDERED, inferred=gender, **where)


def confident(responses: pl.DataFrame, least: float | Mapping[str, float]) -> pl.DataFrame:
    """Return the responses without tags of less confidence; none left is an answer still.

    Each system may have its own least confidence.
    """
    if not least or responses["confidence"].null_count() == responses.height:
        return responses
    own = pl.lit(least) if isinstance(least, (int, float)) else pl.col("system").replace_strict(least, default=0.0)
    scale = pl.when(pl.col("confidence").max().over("system") > 1).then(100.0).otherwise(1.0)
    sure = (pl.col("confidence") / scale >= own).fill_null(True)
    return responses.with_columns(tag=pl.when(sure).then("tag"))


def at_thresholds(
    table: pl.DataFrame,
    responses: pl.DataFrame,
    thresholds: Sequence[float],
    family: Sequence[str],
    measure: Callable[[pl.DataFrame, Places], pl.DataFrame],
    raw: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return `with_confidence` rows: tests with p at most .05 at other thresholds.

    `raw` has the tags that `responses` leave out.
    """
    unsure = responses.filter(pl.col("confidence").is_not_null())["system"].unique()
    tested = pl.col("measure").is_in(family) & (pl.col("p") <= LEVEL)
    wanted = table.filter(tested, pl.col("system").is_in(unsure.implode()))
    mine = responses.filter(pl.col("system").is_in(wanted["system"].unique().implode()))
    places = {measure: frozenset(rows["place"]) for (measure,), rows in wanted.group_by("measure", maintain_order=True)}
    empty = {name: pl.lit(None, table.schema[name]) for name in ("p", "p_floor", "decision", "reason")}
    again = [table.clear()]
    for least in thresholds if wanted.height else ():
        surer = confident(mine if raw is None else raw.filter(pl.col("system").is_in(mine["system"].implode())), least)
        same = surer["tag"].null_count() == mine["tag"].null_count()  # no tag is dropped: nothing to measure anew
        rows = table if same else measure(surer, places)
        rows = rows.join(wanted.select(KEYS), on=KEYS, how="semi", nulls_equal=True, maintain_order="left")
        named = pl.lit(f"at least {percent(least)}")
        variant = rows.with_columns(
            **empty, of="measure", measure=pl.lit(VARIANT), confidence=named, family=pl.lit(EXPLORATORY)
        )
        again.append(variant.select(table.columns))
    return pl.concat(again)
