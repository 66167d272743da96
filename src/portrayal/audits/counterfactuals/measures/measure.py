"""Measure of the audit: stimuli and answers in; Results, tables and warnings out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.axis import KEY, PLACEBO, Axis
from portrayal.audits.counterfactuals.measures.occupations import is_plain, occupation_group
from portrayal.audits.counterfactuals.measures.presence import blocks
from portrayal.audits.counterfactuals.measures.rows import FACETS, FAMILY, Row, Tests, tested_rows
from portrayal.audits.counterfactuals.measures.slopes import by_person
from portrayal.stats.decisions.decision import FOUND, NOT_MEASURABLE, decide
from portrayal.stats.intervals.intervals import ratio_interval
from portrayal.study.audit import Measured
from portrayal.tables import check_responses, results
from portrayal.text.formatting import listed, plural

KEYS = ["system", *KEY, "label"]
REFUSAL = "refusal_slope"
FOLLOWED = "its labels follow a random direction of the face too (the placebo)"
REFUSED_TOO = "it refuses along a random direction of the face too (the placebo)"


def measure_counterfactuals(
    stimuli: Any,
    responses: Any,
    repeats: int = 1,
    plain_too: bool = False,
    failed: Mapping[Axis, str] | None = None,
    seed: int = 0,
) -> Measured:
    """Measure how labels follow the manipulated cue."""
    tests = [Tests(block, repeats) for block in blocks(stimuli, responses)]
    rows = [row for each in tests for row in tested_rows(each, plain_too)]
    differences = _differences(rows, tests)
    placebo = _placebo(rows, differences, plain_too, seed)
    followed = placebo.filter(pl.col("decision") == FOUND)
    moved = {(system, measure == REFUSAL) for system, measure in followed.select("system", "measure").iter_rows()}
    for row in rows:
        row |= _unmeasurable(row, failed or {}, moved)
    cut = {"labels": (_label_columns, LABELS), "rates": (_rates, RATES)}
    tables = {
        name: pl.DataFrame([row for each in tests for row in rows_of(each)], schema=schema, orient="row").with_columns(
            pl.col(pl.Float64).fill_nan(None)
        )
        for name, (rows_of, schema) in cut.items()
    }
    moving = [
        {"system": system, "measure": "placebo_labels_moved", "attribute": PLACEBO, "value": float(len(labels)),
         "n": n, "counted": "labels", "unit": "labels", "note": listed(labels)}
        for system, n, labels in _followed(placebo)
    ]  # fmt: skip
    table = results([*rows, *moving], FACETS, audit="counterfactuals")
    return Measured(table, tables, _warnings(placebo), differences=differences)


def label_slopes(stimuli: Any, responses: Any, *, seed: int = 0, method: str = "holm") -> pl.DataFrame:
    """Return how much more likely each label becomes as only the manipulated cue changes.

    Parameters
    ----------
    stimuli
        One row for each step of each series: `stimulus`, `picture` (the source image), `person`, `attribute`, `condition`
        ('edited' or 'unedited') and `value`, the cue's strength, evenly spaced around 0; `pole_low` and `pole_high`, the
        groups at the two ends, where race is varied between several pairs.
    responses
        A tagger's answers: `system`, `stimulus`, `repeat`, `status`, `tag`, `confidence`, one row a tag.
    seed
        Of the sign flips, where there are too many people to count all.
    method
        The correction over all labels, a name in `portrayal.stats.decisions.multiplicity`; with 'holm' people are flipped for all
        labels together, as in an audit.

    Returns
    -------
    polars.DataFrame
        One row for each system, attribute, pair of poles (`pole_low`, `pole_high`) and label: `slope` (of the label's share,
        over its share at the centre, on the value), `low`, `high`, `slope_per_step`, `p` (series read backwards, person by
        person), `p_adjusted`, `decision`, `raw_slope` with `raw_low` and `raw_high` (what is tested: the slope of the share, or
        of the mean score where scores differ), `p_paper` and `passes_paper` (least squares, as published), `at_centre`, `n`
        (people), `plain` and `occupation`.

    Examples
    --------
    >>> import polars
    >>> from portrayal import label_slopes
    >>> stimuli = [
    ...     {"stimulus": f"{picture}{value:+}", "picture": picture, "person": picture, "attribute": "gender",
    ...      "condition": "edited", "value": value}
    ...     for picture in "abcdef" for value in (-1, 0, 1)
    ... ]
    >>> responses = [
    ...     {"system": "mine", "stimulus": step["stimulus"], "repeat": 0, "status": "answered", "tag": tag, "confidence": 0.9}
    ...     for step in stimuli for tag in ("face", "nurse") if tag == "face" or step["value"] >= 0
    ... ]
    >>> label_slopes(stimuli, responses).select("label", "slope", polars.col("p").round(5), "decision").rows()
    [('face', 0.0, 1.0, 'not tested'), ('nurse', 0.5, 0.03125, 'found')]
    """
    answers = check_responses(responses, "tagger", "See docs/counterfactuals.md.")
    repeats = int(answers["repeat"].max() or 0) + 1  # type: ignore[arg-type]
    measured = measure_counterfactuals(stimuli, answers, repeats, seed=seed)
    decided = decide(measured.results, FAMILY, method, measured.differences, seed=seed)
    return with_decisions(measured.tables["labels"], decided)


def with_decisions(labels: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Return the labels with corrected p, decision and tested slope."""
    tested = {"raw_slope": "value", "raw_low": "low", "raw_high": "high"}
    judged = decided.filter(pl.col("measure").is_in(FAMILY)).select(*KEYS, "p_adjusted", "decision", **tested)
    joined = labels.join(judged, on=KEYS, how="left", nulls_equal=True, maintain_order="left")
    after = labels.get_column_index("p") + 1
    return joined.select(*labels.columns[:after], "p_adjusted", "decision", *tested, *labels.columns[after:])


def _differences(rows: Sequence[Row], tests: Sequence[Tests]) -> pl.DataFrame:
    """Return each person's own slope beside the number of the row that it tests."""
    scores: dict[tuple[str | None, ...], tuple[list[str], np.ndarray]] = {}
    for each in tests:
        key = (each.block.system, *each.block.axis)
        scores |= {(*key, label): (each.people, each.rises[:, at]) for at, label in enumerate(each.block.labels)}
        scores[(*key, None)] = (sorted(set(each.block.refused_people)), each.refusal_rises[:, 0])
    tested = [
        (number, *scores[tuple(row.get(name) for name in KEYS)])
        for number, row in enumerate(rows)
        if row["measure"] in FAMILY and (row.get("label") or row["measure"] == REFUSAL)
    ]
    columns = {
        "row": [number for number, people, _ in tested for _ in people],
        "unit": [person for _, people, _ in tested for person in people],
        "difference": np.concatenate([np.zeros(0), *(mine for *_, mine in tested)]),
    }
    return pl.DataFrame(columns, schema={"row": pl.Int64, "unit": pl.String, "difference": pl.Float64})


def _placebo(rows: Sequence[Row], differences: pl.DataFrame, plain_too: bool, seed: int) -> pl.DataFrame:
    """Return the placebo's labels, decided in a family of their own."""
    placebo = [at for at, row in enumerate(rows) if row["attribute"] == PLACEBO and row["measure"] in FAMILY]
    inside = [at for at in placebo if plain_too or not is_plain(rows[at].get("label") or "")]
    places = pl.DataFrame({"row": inside, "place": range(len(inside))}, schema={"row": pl.Int64, "place": pl.Int64})
    mine = differences.join(places, on="row").select(pl.col("place").alias("row"), "unit", "difference")
    table = results([{**rows[number], "family": None} for number in inside], FACETS)
    return decide(table, FAMILY, "holm", mine, seed=seed)


def _unmeasurable(row: Row, failed: Mapping[Axis, str], moved: Collection[tuple[str, bool]]) -> Row:
    """Return why a row cannot be measured: its check failed, or the placebo moved."""
    if row["measure"] not in FAMILY or row["attribute"] == PLACEBO:
        return {}
    refusal = row["measure"] == REFUSAL
    followed = (REFUSED_TOO if refusal else FOLLOWED) if (row["system"], refusal) in moved else ""
    axis = Axis(*(row[name] for name in KEY))
    reason = failed.get(axis) or failed.get(Axis(axis.attribute)) or followed
    return {"decision": NOT_MEASURABLE, "reason": reason} if reason else {}


# Named with their types: a system that answers nothing has no labels to tell the types by.
LABELS = {
    **dict.fromkeys(KEYS, pl.String), "slope": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "slope_per_step": pl.Float64, "p": pl.Float64, "p_paper": pl.Float64,
    "passes_paper": pl.Boolean, "at_centre": pl.Int64, "n": pl.Int64, "plain": pl.Boolean, "occupation": pl.String,
}  # fmt: skip
RATES = {
    **dict.fromkeys(KEYS, pl.String), "value": pl.Float64, "share": pl.Float64, "score": pl.Float64,
    "normalised": pl.Float64, "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


def _label_columns(tests: Tests) -> Iterator[tuple[Any, ...]]:
    """Yield a row per label, that Tables 1, 2, 5 and 6 are cut from."""
    slopes, spacing = tests.sums.slopes, float(np.diff(tests.block.values).mean())
    for place, label in enumerate(tests.block.labels):
        slope = float(slopes.slope[place])
        yield (
            tests.block.system, *tests.block.axis, label, slope, slopes.low[place], slopes.high[place],
            slope * spacing, tests.p[place], slopes.p_paper[place], tests.passes(place),
            int(slopes.at_centre[place]), len(tests.people), is_plain(label), occupation_group(label),
        )  # fmt: skip


def _rates(tests: Tests) -> Iterator[tuple[Any, ...]]:
    """Yield shares of people at each step, and ratios to the centre's (Figure 5)."""
    block, each = tests.block, by_person(tests.block.present, tests.block.people)
    if not len(each):
        return
    shares, base = each.mean(axis=0), each[:, block.centre]
    scores = by_person(block.scores, block.people).mean(axis=0) if tests.scored else np.full(shares.shape, np.nan)
    for step, value in enumerate(block.values):
        low, high = ratio_interval(each[:, step], base, null=1.0)
        ratio = np.divide(shares[step], base.mean(axis=0), out=np.full(len(low), np.nan), where=base.any(axis=0))
        low, high = (ratio, ratio) if step == block.centre else (low, high)
        for place, label in enumerate(block.labels):
            numbers = (shares[step, place], scores[step, place], ratio[place], low[place], high[place])
            yield (block.system, *block.axis, label, value, *numbers)


def _followed(placebo: pl.DataFrame) -> Iterator[tuple[str, int, list[str]]]:
    """Yield by system how many labels were tested along the placebo, and those that moved."""
    for (system,), mine in placebo.filter(pl.col("measure") != REFUSAL).group_by("system", maintain_order=True):
        yield str(system), mine.height, mine.filter(decision=FOUND)["label"].to_list()


def _warnings(placebo: pl.DataFrame) -> list[str]:
    """Warn where labels, or refusals, follow a random direction as they would a cue."""
    refused = placebo.filter(measure=REFUSAL, decision=FOUND)["system"]
    return [
        f"Manipulation check failed: along a random direction (placebo) {plural(len(labels), 'label')} of {system} "
        f"({listed(labels)}) were found to move. Nothing is said of this system's slopes."
        for system, _, labels in _followed(placebo)
        if labels
    ] + [
        f"Manipulation check failed: {system} refuses along a random direction (placebo) too. Nothing is said of its refusals "
        f"along a cue."
        for system in refused
    ]
