"""Sentences about silent systems and selective silence."""

from __future__ import annotations

from itertools import permutations

import polars as pl

from portrayal.reporting.words.sentences import Claim, Row, say
from portrayal.run.silence import ANSWERED, DIFFERENCE, LEVEL, THE_OTHERS, UNANSWERED
from portrayal.stats.decisions.decision import FOUND, NOT_MEASURABLE
from portrayal.study.audit import Audit, Finding, Measured
from portrayal.text.formatting import listed, percent, plural

VERBS = {"refused": "refuses", "empty": "has nothing to say about", "unreadable": "gives no readable answer about"}
WORDS = {"unknown": "sent, with no answer known to have come back"}


def silence_findings(measured: Measured, audit: Audit) -> list[Finding]:
    """Return a sentence for every system that is silent, wholly or for some groups."""

    def does(row: Row) -> str:
        verb = VERBS.get(row["status"] or "", "does not answer")
        return f"{verb} {_group(audit, row, 'group')} more often than {_group(audit, row, 'versus')}"

    def might(row: Row) -> str:
        within = f" in the {row['within']}" if row["within"] else ""
        return f"leaves questions about some groups ({row['axis']}) unanswered more often than about others{within}"

    lists = audit.kind in ("tagger", "generator")

    def beyond(row: Row) -> str:
        verb, end = (VERBS[row["status"]], "") if row["status"] in VERBS else ("leaves", " unanswered")
        return f"{verb} more than {percent(row['null'])} of its questions{end}"

    several = "leaves questions about some groups unanswered more often than about others"
    level = Claim(positive=beyond, asks=beyond, after=lambda row: _shares(measured.results, row, lists))
    claim = Claim(positive=does, asks=might, several=several, after=lambda row: _shares(measured.results, row, lists))
    rows = measured.results.with_row_index("row").filter(measure=ANSWERED, decision=NOT_MEASURABLE).to_dicts()
    spoken = pl.col("system").is_in([row["system"] for row in rows]).not_() & ~_again(measured.results)
    return [
        *(Finding(_nothing(row, measured), row["row"]) for row in rows),
        *say(measured, {LEVEL: level}, spoken),
        *say(measured, {DIFFERENCE: claim}, spoken),
    ]


def _again(results: pl.DataFrame) -> pl.Expr:
    """Pick differences that tell the silence of another row again."""
    key = pl.concat_str("system", "axis", "group", separator="\n", ignore_nulls=True)
    found = results.filter(measure=DIFFERENCE, decision=FOUND).with_columns(key=key, whole=pl.col("within").is_null())
    told = found.group_by("key").agg(pl.col("whole").any(), places=(~pl.col("whole")).sum())
    one, several = (
        told.filter(pl.col("whole"), side)["key"].to_list() for side in (pl.col("places") == 1, pl.col("places") > 1)
    )
    inside = pl.col("within").is_not_null()
    known = found.filter("whole").select("system", "axis", "p").rows()
    shadows = {  # of two axes and the groups they make together, whichever tells less
        f"{system}\n{axis}"
        for (system, axis, p), (same, other, least) in permutations(known, 2)
        if system == same and (axis in other.split(" and ") or other in axis.split(" and "))
        and (least, len(other)) < (p, len(axis))
    }  # fmt: skip
    shadow = ~inside & pl.concat_str("system", "axis", separator="\n", ignore_nulls=True).is_in(list(shadows))
    return (pl.col("decision") == FOUND) & ((key.is_in(one) & ~inside) | (key.is_in(several) & inside) | shadow)


def _nothing(row: Row, measured: Measured) -> str:
    name = measured.shown(row["system"])
    if row["value"] is None and row["n"]:
        return f"{name} is not measurable: {row['reason']}."
    if not row["n"]:
        return f"Nothing can be said of {name}: none of its questions has been asked."
    kinds = measured.results.filter(
        pl.col("measure") == UNANSWERED, pl.col("system") == row["system"], pl.col("axis").is_null()
    )
    counted = kinds.select("status", "value", "n").iter_rows()
    counts = [f"{round(share * n):,} {WORDS.get(status, status)}" for status, share, n in counted]
    answered = f"it answered {row['n_answered'] or 'none'} of {plural(row['n'], 'question')}"
    return f"Nothing can be said of {name}: {answered} ({listed(counts)})."


def _group(audit: Audit, row: Row, side: str) -> str:
    if row[side] == THE_OTHERS:
        return THE_OTHERS
    if callable(audit.shows):
        return audit.shows(row[side], row["axis"], row["within"])
    return audit.shows.format(group=row[side], axis=row["axis"])


def _shares(results: pl.DataFrame, row: Row, lists: bool) -> str:
    """Name the share of each group, the largest first, and its consequence."""
    mine = results.filter(
        pl.col("measure") == UNANSWERED,
        pl.col("system") == row["system"],
        pl.col("axis").eq_missing(pl.lit(row["axis"], pl.String)),
        pl.col("within").eq_missing(pl.lit(row["within"], pl.String)),
    ).sort("value", descending=True, maintain_order=True)
    shares = [
        f"{group} {percent(value, 1)}"
        for group, value in mine.select(pl.coalesce("group", "status"), "value").iter_rows()
    ]
    # A tagger's empty list is an answer, and is measured.
    rest = "" if row["status"] == "empty" and lists else "; the other measures speak only of what was answered"
    unknown = f" {row['note'][0].upper()}{row['note'][1:]}." if row["note"] else ""
    return f"Unanswered: {listed(shares)}{rest}.{unknown}"
