"""Sentences from decided rows, with one form per decision for all audits.

    found            {system} {what it does to whom}: {figures}.
    not found        It was not found that {system} {what it might do}: {figures}; no effect beyond {end} is likely.
    not tested       It was not tested whether {system} {what it might do}: {reason}.
    not measurable   It cannot be said whether {system} {what it might do}: {reason}.

Rows that were found get a sentence each. The others share one for each system, claim and decision.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import polars as pl

from portrayal.stats.decisions.decision import DESCRIBED, EXPLORATORY, FOUND, NOT_FOUND, NOT_MEASURABLE, NOT_TESTED
from portrayal.stats.decisions.multiplicity import CORRECTED_AWAY
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import count, decimals, estimate, is_missing, listed, number, p_value

Row = Mapping[str, Any]
NAMED = 4  # rows a shared sentence names; further ones are counted
STILL, MOST_PLACES = 1e-9, 5  # a distance that is only rounding; decimals of a number
MOST_WORDS = 30  # of a sentence, its figures apart
# Names of measures whose own name is an abbreviation.
NAMES: Mapping[str, str] = tomllib.loads(files("portrayal.reporting").joinpath("words/names.toml").read_text("utf-8"))
SINGULAR = {"people": "person", "queries": "query", "images": "image", "pictures": "picture", "captions": "caption"}
# Units whose numbers are written as percent, or as percentage points where they are differences.
PERCENT, POINTS = "share", "points"


@dataclass(frozen=True)
class Claim:
    """Claim of a measure: clauses after a system's name, columns in braces.

    `positive` and `negative` say what it does where the value lies above and below the null; without `negative` only a
    value above it is a harm that was looked for, and one below is said with `positive`'s question. `asks` says what it
    might do, for rows that were not found, tested or measurable, and `several` says it where several rows share the sentence
    and `asks` speaks of one only. `where` names one of several rows in a shared sentence.
    """

    positive: str | Callable[[Row], str]
    asks: str | Callable[[Row], str]
    negative: str | Callable[[Row], str] | None = None
    where: str | Callable[[Row], str] | None = None
    after: Callable[[Row], str] | None = None  # a further sentence for rows that were found
    figure: str = ""  # what the number is: "d =", "slope"
    several: str | None = None
    always_where: bool = False  # name the row by `where` even where it is the only one
    # A difference below 0 is told from the other side, with `positive`: group and versus change places, and the signs.
    turned: bool = False


def say(measured: Measured, claims: Mapping[str, Claim], wanted: pl.Expr | None = None) -> list[Finding]:
    """Return a sentence for every row of the family whose measure has a claim."""
    rows = measured.results.with_row_index("row").filter(
        pl.col("measure").is_in(list(claims)),
        pl.col("family").fill_null("") != EXPLORATORY,
        pl.col("reason").fill_null("") != DESCRIBED,
    )
    rows = rows if wanted is None else rows.filter(wanted)
    findings = rows.filter(pl.col("decision") == FOUND).sort("p_adjusted", "row", maintain_order=True)
    singles = []
    for row in findings.iter_rows(named=True):
        claim = claims[row["measure"]]
        numbers = figures(_told(row, claim)[0], claim.figure)
        singles.append(Finding(found_sentence(row, claim, measured), row["row"], numbers, claim.figure))
    return [*singles, *_shared(rows.filter(pl.col("decision") != FOUND), claims, measured)]


def found_sentence(row: Row, claim: Claim, measured: Measured) -> str:
    """Say what was found in one row."""
    row, above = _told(row, claim)
    clause = claim.positive if above or claim.negative is None else claim.negative
    text = f"{measured.shown(row['system'])} {_filled(clause, row)}: {figures(row, claim.figure)}."
    text = f"{text}{_with_missing(row)}"
    return f"{text} {claim.after(row)}".strip() if claim.after else text


def _told(row: Row, claim: Claim) -> tuple[Row, bool]:
    """Return a row from its worse side, and whether it lies above the null."""
    above = row["value"] >= (row["null"] or 0.0)
    return (other_side(row), True) if claim.turned and not above else (row, above)


def _with_missing(row: Row) -> str:
    """Say what a difference could be with missing answers, where it vanishes."""
    ends = [row.get("value_if_all"), row.get("value_if_none")]
    kept = [not is_missing(end) and end * row["value"] > 0 for end in ends]
    if any(map(is_missing, ends)) or all(kept):
        return ""
    all_so, none = (written({**row, "value": end, "low": None, "high": None})[0] for end in ends)
    lasts = " It does not last whatever they would have answered." if not any(kept) else ""
    return f" Had all without an answer done so, it would be {all_so}, had none {none}.{lasts}"


SIGNED = ("value", "low", "high", "value_if_all", "value_if_none")


def other_side(row: Row) -> Row:
    """Return a difference as seen from the other of its two groups."""
    turned = {name: None if is_missing(row.get(name)) else -row[name] for name in SIGNED}
    ends = {"low": turned["high"], "high": turned["low"]}
    return {**row, **turned, **ends, "group": row["versus"], "versus": row["group"]}


def _shared(rows: pl.DataFrame, claims: Mapping[str, Claim], measured: Measured) -> Iterator[Finding]:
    # Tests of too few units count as one reason.
    floored = pl.col("p").is_not_null() & pl.col("p_floor").is_not_null()
    reason = pl.when(~floored).then("reason").alias("same reason")
    for decision in (NOT_MEASURABLE, NOT_FOUND, NOT_TESTED):
        keys = ["system", "measure", *([] if decision == NOT_FOUND else [reason])]
        for _, mine in rows.filter(pl.col("decision") == decision).group_by(keys, maintain_order=True):
            write = _not_found if decision == NOT_FOUND else _without_answer
            yield write(mine, claims[mine["measure"][0]], measured)


def _not_found(rows: pl.DataFrame, claim: Claim, measured: Measured) -> Finding:
    nearest = rows.sort("p_adjusted", "p", "row", nulls_last=True).row(0, named=True)
    clause = f"{measured.shown(nearest['system'])} {_asks(rows, claim, nearest)}"
    numbers = figures(nearest, claim.figure)
    tests = f" in {rows.height} tests" if rows.height > 1 else ""
    text = _with_names(f"It was not found that {clause}{tests}", rows, claim)
    near = f" in {_filled(claim.where, nearest)}" if claim.where else ""
    text = f"{text}. The nearest{near}: {numbers}" if rows.height > 1 else f"{text}: {numbers}"
    return Finding(f"{text}{_uncorrected(nearest)}{_excluded(nearest, claim)}.", nearest["row"], numbers, claim.figure)


def _with_names(text: str, rows: pl.DataFrame, claim: Claim) -> str:
    """Add the names of rows, as many as a sentence has room for."""
    if not claim.where or (rows.height == 1 and not claim.always_where):
        return text
    names = _named(rows, claim, MOST_WORDS - (len(text.split()) if rows.height > 1 else 0))
    return f"{text} ({names})" if names else text


def _uncorrected(row: Row) -> str:
    """Say that a test alone would have found it."""
    if not (row["reason"] or "").startswith(CORRECTED_AWAY):
        return ""
    p = p_value(row["p"])
    return f"; alone p {p if p[0] in '<>' else f'= {p}'}, but {row['reason']}"


def _without_answer(rows: pl.DataFrame, claim: Claim, measured: Measured) -> Finding:
    # Of tests of too few units, the one that came nearest to being possible.
    first = rows.sort("p_floor", nulls_last=True, maintain_order=True).row(0, named=True)
    begin = "It was not tested whether" if first["decision"] == NOT_TESTED else "It cannot be said whether"
    text = _with_names(f"{begin} {measured.shown(first['system'])} {_asks(rows, claim, first)}", rows, claim)
    return Finding(f"{text}: {first['reason']}.", first["row"])


def _asks(rows: pl.DataFrame, claim: Claim, row: Row) -> str:
    return _filled(claim.several if rows.height > 1 and claim.several else claim.asks, row)


def figures(row: Row, figure: str = "") -> str:
    """Write a row's value, interval, counted units and p."""
    value, ends = written(row)
    parts = [f"95% interval {ends}"] if ends else []
    parts.append(counted(row))
    if row.get("n_missing"):
        parts.append(f"{count(row['n_missing'])} missing")
    if not is_missing(row.get("p_adjusted")):
        p = p_value(row["p_adjusted"])
        sided = f"{row['sided']} " if row.get("sided") else ""  # a facet of audits that test either way
        parts.append(f"{sided}adjusted p {p if p[0] in '<>' else f'= {p}'}")
    return f"{f'{figure} ' if figure else ''}{value} ({', '.join(parts)})"


def written(row: Row) -> tuple[str, str]:
    """Return a row's value and interval as text, in its unit."""
    scale = 100.0 if row["unit"] in (PERCENT, POINTS) else 1.0
    value, low, high = (None if is_missing(row[name]) else row[name] * scale for name in ("value", "low", "high"))
    if scale == 1.0:
        text, suffix, places = estimate(value, low, high), "", 0 if value is None else decimals(value, low, high)
    else:
        places = 1 if low is not None and high is not None and high - low < 10 else 0
        text = number(value, places)
        points = " percentage point" if text in ("1", "1.0") else " percentage points"
        suffix = "%" if row["unit"] == PERCENT else points
    if is_missing(low) and is_missing(high):
        return f"{text}{suffix}", ""
    null = None if row.get("p") is None else (row.get("null") or 0.0) * scale
    between = f"{_end(low, null, places, 1)} to {_end(high, null, places, -1)}"
    return f"{text}{suffix}", f"{between}{'%' if row['unit'] == PERCENT else ''}"


def _end(end: float | None, null: float | None, places: int, side: int) -> str:
    """Write the end of an interval, never as the null that it leaves out."""
    beside = end is not None and null is not None and side * (end - null) > STILL
    while beside and places < MOST_PLACES and number(end, places) == number(null, places):
        places += 1
    return number(end, places)


def counted(row: Row) -> str:
    """Write how many units a row rests on: '1 person', '40 people', 'n = 12'."""
    noun = row.get("counted")
    if not noun:
        return f"n = {count(row.get('n'))}"
    return f"{count(row['n'])} {SINGULAR.get(noun, noun.removesuffix('s')) if row['n'] == 1 else noun}"


def _excluded(row: Row, claim: Claim) -> str:
    """Say which effects would have been found, or which harms the interval leaves out."""
    if not is_missing(row["detectable"]):
        least, _ = written({**row, "value": row["detectable"], "low": None, "high": None})
        return f"; an effect of {least} would have been found in 80 of 100 such audits"
    if is_missing(row["low"]) or is_missing(row["high"]):
        return ""
    null = row["null"] or 0.0
    furthest = max((row["low"], row["high"]), key=lambda end: abs(end - null))
    if row.get("sided") == "one-sided":  # of an effect that was looked for: p under a half lies on its side
        furthest = row["high"] if (row["value"] >= null) == (row["p"] < 0.5) else row["low"]
    elif not claim.turned and claim.negative is None:
        furthest = row["high"]
    end, _ = written({**row, "value": furthest, "low": None, "high": None})
    return f"; the interval leaves out effects beyond {end}"


def _named(rows: pl.DataFrame, claim: Claim, room: int) -> str:
    """Name rows in at most so many words; those beyond are counted."""
    names = list(dict.fromkeys(_filled(claim.where, row) for row in rows.iter_rows(named=True)))
    for last in range(min(NAMED, len(names)), 0, -1):
        text = listed([*names[:last], *([f"{len(names) - last} more"] if len(names) > last else [])])
        if len(text.split()) <= room:
            return text
    return ""


def _filled(clause: str | Callable[[Row], str] | None, row: Row) -> str:
    if callable(clause):
        return clause(row)
    return (clause or "").format_map({name: "" if item is None else item for name, item in row.items()})


def in_order(findings: Sequence[Finding], results: pl.DataFrame) -> list[Finding]:
    """Order sentences: found, not measurable, not found, not tested."""
    places = {FOUND: 0, NOT_MEASURABLE: 1, NOT_FOUND: 2, NOT_TESTED: 3}
    return sorted(findings, key=lambda finding: places[results["decision"][finding.row]])
