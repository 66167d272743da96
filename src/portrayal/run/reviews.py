"""Reviews: people's judgments, in a CSV that anyone can fill in, and from the viewer.

The viewer adds acts and changes none (an undo is an act too); a judgment carries whole rows, so that it outlives its case.
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from portrayal.edges.inert import inert_cells, original_cells
from portrayal.edges.sizes import LARGEST_TABLE, check_size, parse_json
from portrayal.errors import PortrayalError
from portrayal.run.folder import Run
from portrayal.tables import REVIEWS, check, read_csv

KEY = ["item", "question", "reviewer"]
JUDGE, SKIP, UNDO = "judge", "skip", "undo"
ADJUDICATED = "adjudicated"  # in the place of a reviewer's name: what was decided where reviewers differ
PLACE, CODING = "place", "place_coding"  # what a rater wrote about a place, and what others make of it

Act: TypeAlias = "dict[str, Any]"  # act, reviewer, queue, item, time; rows of a judgment, reason of a skip
Place: TypeAlias = "tuple[str, str, str]"


def read_judgments(path: Path) -> list[Act]:
    """Read the acts of a run, but for a last line that was cut short."""
    if not path.exists():
        return []
    check_size(path, LARGEST_TABLE)
    *lines, _ = path.read_bytes().split(b"\n")
    return [_act(line, path, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _act(line: bytes, path: Path, number: int) -> Act:
    try:
        act = parse_json(line)
        texts = [act[name] for name in ("act", "reviewer", "queue", "item")]
        for row in act.get("rows", ()):
            texts += [row.get(name) for name in KEY] + [value for value in row.values() if value is not None]
        if all(isinstance(text, str) for text in texts) and act["act"] in (JUDGE, SKIP, UNDO):
            return act
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise PortrayalError(f"line {number} of {path} is damaged. Expected what `portrayal view` writes: remove the line.")


def standing(acts: Iterable[Act]) -> dict[Place, Act]:
    """Return the last act of each reviewer on each item, without what was undone."""
    last: dict[Place, Act] = {}
    for act in acts:
        place = (act["reviewer"], act["queue"], act["item"])
        last.pop(place, None)  # the order of the acts that stand is theirs in time
        if act["act"] != UNDO:
            last[place] = act
    return last


def fold(reviews: pl.DataFrame | None, acts: Iterable[Act]) -> pl.DataFrame | None:
    """Return the Reviews, in which acts of the viewer go before the table."""
    acts = list(acts)
    touched = {tuple(row[name] for name in KEY) for act in acts for row in act.get("rows", ())}
    if not touched:
        return reviews
    rows = [row for act in standing(acts).values() for row in act.get("rows", ())]
    named = dict.fromkeys([*REVIEWS, *(name for row in rows for name in row)])
    judged = pl.DataFrame(_coded(rows), schema=dict.fromkeys(named, pl.String), strict=False)
    if reviews is None:
        return judged
    keys = pl.DataFrame(sorted(touched), schema=KEY, orient="row")
    others = reviews.join(keys, on=KEY, how="anti", nulls_equal=True)
    known = judged.drop_nulls("judgment").select("item", "question").unique()
    waiting = others.filter(pl.col("judgment").is_null()).join(known, on=["item", "question"], how="anti")
    return pl.concat([others.filter(pl.col("judgment").is_not_null()), judged, waiting], how="diagonal")


def _coded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fill in codes of raters' words about a place, where all coders agree."""
    codes: dict[tuple[Any, Any], set[str]] = {}
    for row in rows:
        if row["question"] == CODING and row.get("judgment"):
            codes.setdefault((row.get("place"), row.get("rater")), set()).add(row["judgment"])
    agreed = {key: next(iter(codes_found)) for key, codes_found in codes.items() if len(codes_found) == 1}
    return [
        {**row, "judgment": agreed.get((row["item"], row["reviewer"]))} if row["question"] == PLACE else row
        for row in rows
    ]


def reviews_of(run: Run) -> pl.DataFrame | None:
    """Return the Reviews of a run's table and of its viewer, if any."""
    table = read_reviews(run.reviews) if run.reviews.exists() else None
    return fold(table, read_judgments(run.judgments))


def read_reviews(path: Path) -> pl.DataFrame:
    """Read a Reviews table; empty cells are cases nobody has judged."""
    hint = "A reviews file has one row per judgment; see docs/architecture.md."
    _check_lines(path)
    read = check(read_csv(path), REVIEWS, "reviews", hint)
    return read.with_columns(original_cells(pl.col(name)).alias(name) for name in read.columns)


def _check_lines(path: Path) -> None:
    """Refuse a damaged file by its line: what is not read would be written over."""
    check_size(path, LARGEST_TABLE)
    width, first, fault = 0, 1, ""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                width = width or len(row)
                if row and len(row) != width:
                    fault = f"it has {len(row)} cells where the first line names {width}"
                    break
                first = rows.line_num + 1
        except (csv.Error, UnicodeDecodeError) as error:
            fault = str(error)
    if fault:
        raise PortrayalError(
            f"line {first} of {path} is damaged: {fault}. Mend or remove it; nothing was written over."
        )


def write_reviews(reviews: pl.DataFrame, path: Path) -> None:
    """Write a Reviews table that no spreadsheet runs; `read_reviews` takes the apostrophes away."""
    checked = check(reviews, REVIEWS, "reviews").with_columns(pl.all().cast(pl.String))
    inert = checked.with_columns(inert_cells(pl.col(name)).alias(name) for name in checked.columns)
    inert.write_csv(path)


def merge_reviews(earlier: pl.DataFrame | None, fresh: pl.DataFrame) -> pl.DataFrame:
    """Add fresh cases to those a run has; what people judged is never overwritten."""
    fresh = check(fresh, REVIEWS, "reviews").with_columns(pl.all().cast(pl.String))
    if earlier is None:
        return fresh
    written = pl.col("reviewer").is_not_null() & pl.col("note").is_not_null()  # words that wait to be coded
    judged = earlier.filter(pl.col("judgment").is_not_null() | written)
    new = fresh.join(judged.select("item", "question"), on=["item", "question"], how="anti")
    return pl.concat([judged, new], how="diagonal")
