"""A summary in words like Table 14, each sentence traced to the row that carries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from portrayal.report.words import estimate, interval, p_value
from portrayal.stats.multiplicity import is_significant

Row = Mapping[str, Any]


def summary(results: pl.DataFrame, stereotypes: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return (sentence, row number) pairs: for each system, the trade-off and the four questions.

    A sentence says "more" or "less" only where the row's interval leaves out zero. Counts of tests are of those whose p is
    under .05 after the correction over the declared family.
    """
    table = results.with_row_index("row")
    systems = [
        name for name in table["system"].unique(maintain_order=True) if name not in ("raters", "coders")
    ]
    found = [list(_of_system(table.filter(system=name), name, stereotypes)) for name in systems]
    longest = max(map(len, found), default=0)
    return [each[place] for place in range(longest) for each in found if place < len(each)]


def _of_system(table: pl.DataFrame, system: str, stereotypes: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    yield from _congruence(table, system)
    yield from _inferences(table, system, stereotypes)
    yield from _recognition(table, system)
    yield from _accuracy(table, system)
    yield from _distances(table, system)
    yield from _expectancy(table, system)


def _rows(table: pl.DataFrame, measure: str) -> list[Row]:
    return list(
        table.filter((pl.col("measure") == measure) & pl.col("value").is_not_null()).iter_rows(named=True)
    )


def _clear(row: Row) -> bool:
    """The interval leaves out zero."""
    return row["low"] is not None and (row["low"] > 0 or row["high"] < 0)


def _ends(row: Row) -> str:
    ends = row["value"], row["low"], row["high"]
    return estimate(*ends) if row["low"] is None else f"{estimate(*ends)}, 95% interval {interval(*ends)}"


def _corrected(row: Row) -> str:
    return "" if row["p_adjusted"] is None else f"; corrected p {p_value(row['p_adjusted'])}"


def _congruence(table: pl.DataFrame, system: str) -> Iterator[tuple[str, int]]:
    for row in _rows(table, "congruence"):
        said = "follows the stereotype of the place" if _clear(row) and row["value"] > 0 else (
            "goes against the stereotype of the place" if _clear(row) else "shows no sign of following the place's stereotype"
        )  # fmt: skip
        yield (
            f"{system} {said} when it names a gender (congruence {_ends(row)}{_corrected(row)}; {row['n']} people).",
            row["row"],
        )


def _inferences(
    table: pl.DataFrame, system: str, stereotypes: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """Question 1: whether it sees more of a gender in that gender's places."""
    rows = _rows(table, "inferred_change")
    for cluster in sorted(set(stereotypes.values())):
        own = [row for row in rows if _is_own(row, cluster, stereotypes)]
        more = [row for row in own if _clear(row) and row["value"] > 0]
        if own:
            best = max(more or own, key=lambda row: row["value"])
            places = ", ".join(row["group"].split(" | ")[0] for row in more)
            where = f" ({places})" if more else ""
            yield (
                f"{system} infers a {cluster} person more often than at baseline in {len(more)} of {len(own)}"
                f" {cluster}-stereotyped places{where}; the largest change is {_ends(best)}.",
                best["row"],
            )


def _is_own(row: Row, cluster: str, stereotypes: Mapping[str, str]) -> bool:
    place, outcome = row["group"].split(" | ")[:2]
    return outcome == cluster and stereotypes.get(place) == cluster


def _recognition(table: pl.DataFrame, system: str) -> Iterator[tuple[str, int]]:
    """Question 2: whether places are recognised, whatever gender is inferred."""
    seen = [row for row in _rows(table, "recognised") if row["group"].endswith(" | any")]
    if seen:
        poorest = min(seen, key=lambda row: row["value"])
        count = sum(row["value"] >= 0.1 for row in seen)
        yield (
            f"{system} recognises {count} of {len(seen)} places in at least 10% of pictures; the least recognised is"
            f" {poorest['group'].split(' | ')[0]} ({_ends(poorest)}).",
            poorest["row"],
        )
    dependent = [row for row in _rows(table, "recognition_independence") if is_significant(row)]
    if dependent:
        strongest = max(dependent, key=lambda row: abs(row["value"]))
        yield (
            f"{system} recognises the place depending on whether it names a gender in {len(dependent)} places; in"
            f" {strongest['group']} the difference is {_ends(strongest)}.",
            strongest["row"],
        )


def _accuracy(table: pl.DataFrame, system: str) -> Iterator[tuple[str, int]]:
    """Question 3: how right it is, and for whom least."""
    every = _rows(table, "gender_f1")
    scores = [row for row in every if not row["group"].startswith("baseline")] or every
    if scores:
        worst = min(scores, key=lambda row: row["value"])
        place, group = worst["group"].split(" | ")
        said = f"is least right about the gender of {group} people {_where(place)}"
        if worst["value"] == 1:
            said = "names the labelled gender of everybody wherever it can be scored"
        yield f"{system} {said} (F1 {_ends(worst)}).", worst["row"]


def _where(place: str) -> str:
    return "shown alone" if place == "baseline" else f"in {place}"


def _distances(table: pl.DataFrame, system: str) -> Iterator[tuple[str, int]]:
    """Question 4: whose descriptions change."""
    tested = [row for row in _rows(table, "distance_anova") if row["p"] is not None]
    certain = [row for row in tested if is_significant(row)]
    if certain:
        strongest = max(certain, key=lambda row: row["value"])
        place, factor = strongest["group"].split(" | ")
        yield (
            f"{system} changes its descriptions more for some groups than for others in {len(certain)} of {len(tested)} tests;"
            f" the strongest is {factor} in {place} (partial eta squared {_ends(strongest)}).",
            strongest["row"],
        )
    elif tested:
        strongest = min(tested, key=lambda row: row["p"])
        yield (
            f"{system} shows no difference between groups in how far its descriptions change that survives correction"
            f" ({len(tested)} tests; the smallest uncorrected p is {p_value(strongest['p'])}).",
            strongest["row"],
        )


def _expectancy(table: pl.DataFrame, system: str) -> Iterator[tuple[str, int]]:
    for row in _rows(table, "expectancy"):
        direction = "more abstract" if row["value"] > 0 else "more concrete"
        said = direction if _clear(row) else "neither clearly more abstract nor more concrete"
        yield (
            f"{system} is {said} about people who fit the place than about those who do not (abstract minus concrete share"
            f" of tags {_ends(row)}{_corrected(row)}).",
            row["row"],
        )
