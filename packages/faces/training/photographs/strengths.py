"""Strengths of mean-face differences by pair, with perceived age steadied.

python -m training.photographs.strengths FAIRFACE LOCAL LOCAL/means.npz OUT.npz --people 240

Of the difference between older and younger adults as much is taken off (or added) as makes up for how a pair's difference moves the
age that the small reader sees in the adults the means are of; that reader steers generated people and judges nobody. What was judged is
kept in LOCAL/strengths-PEOPLE-PAIR.json, so a run goes on where it was stopped; `--pair` judges one pair, so that several run side by
side. Without it OUT is written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal_faces.generator.readings import AGES, places
from portrayal_faces.generator.steering import Line
from portrayal_faces.generator.studio import read_faces
from portrayal_faces.photographs.means import Difference, Means, open_means
from training.photographs.adults import Adult
from training.photographs.judges import fit_judges
from training.photographs.lines import LINES
from training.photographs.makers import Maker, moved
from training.photographs.mean_faces import differing_adults
from training.photographs.table import DRIFTS, HEADS, NEEDS, cell, judge, people

TRIED, MIDDLE = (1.3, 1.45, 1.6, 1.75), 1.5
PLAIN = 1.0  # where nothing holds, and of gender, which a network changes
SPARE = 1.1  # what passes by a hair on some people misses on others
PAIRS = {" to ".join(line.poles): line for line in LINES if line.poles}
Row = dict[str, float]
SHOWN = ("second", "years", "other", "themselves", "far", "n")


def best(rows: dict[str, Row]) -> float:
    """Return the strength with the best identity at ±2 that passes with SPARE.

    Where none pass, the strongest of those that hold age and gender and leave people themselves; else PLAIN.
    """
    safe = [
        name for name, row in rows.items()
        if all(abs(row[drift]) * SPARE <= NEEDS[drift] for drift in DRIFTS) and row["themselves"] >= NEEDS["themselves"]
    ]  # fmt: skip
    able = [name for name in safe if rows[name]["second"] >= SPARE * NEEDS["second"]]
    if able:
        return float(max(able, key=lambda name: (rows[name]["far"], -float(name))))
    return max(map(float, safe), default=PLAIN)


def judged(folder: Path, local: Path, means: Path, pairs: Sequence[str], count: int) -> None:
    """Judge what was not judged yet, and keep it pair by pair."""
    missing = [pair for pair in pairs if len(kept_of(local, means, pair, count).get("rows", {})) < len(TRIED)]
    if not missing:
        return
    judges, known = fit_judges(folder, local / "judge.npz"), people(folder, count, choosing=True)
    for pair in missing:
        line, result = PAIRS[pair], kept_of(local, means, pair, count) or {"age": 0.0, "rows": {}}
        if not result["rows"]:
            result["age"] = steadying(differing_adults(folder), means, line)
            print(f"{pair}: {result['age']:+.2f} of the difference of ages", file=sys.stderr, flush=True)
        for strength in TRIED:
            if f"{strength:g}" in result["rows"]:
                continue
            made = moved(steadied(means, {pair: result["age"]}), strength)
            result["rows"][f"{strength:g}"] = judge(made, known, line, judges)
            path = kept_at(local, pair, count)
            path.write_text(json.dumps({_digest(means): result}, indent=1), encoding="utf-8")
            print(pair, strength, result["rows"][f"{strength:g}"], file=sys.stderr, flush=True)


def steadying(people: Sequence[Adult], means: Path, line: Line) -> float:
    """Return the share of the age difference that cancels a pair's change of age."""
    plain, aged = open_means(means), age_of(means)
    only = replace(plain, differences=dict.fromkeys(plain.differences, aged))
    adults = [one for one in people if one.race in line.poles]
    by_pair, by_age = (drift(moved(one, MIDDLE), adults, line) for one in (plain, only))
    return -by_pair / by_age


def drift(made: Maker, adults: Sequence[Adult], line: Line) -> float:
    """Return the change of perceived age from end to end, over two readings."""
    at = places(AGES)
    ends = (np.stack([np.asarray(one) for one in made(adult, line, (-2.0, 2.0))]) for adult in adults)
    return float(np.mean([np.diff(read_faces(pair)[:, at].mean(1))[0] for pair in ends]))


def age_of(means: Path) -> Difference:
    """Return the difference of ages."""
    with np.load(means) as arrays:
        return Difference(arrays["age_flow"].astype(float), arrays["age_colour"].astype(float))


def steadied(means: Path, shares: dict[str, float]) -> Means:
    """Return the differences with shares of the age difference added."""
    plain, aged = open_means(means), age_of(means)
    differences = dict(plain.differences)
    for pair, share in shares.items():
        cue = ("race", PAIRS[pair].poles)
        own = differences[cue]
        differences[cue] = Difference(own.flow + share * aged.flow, own.colour + share * aged.colour)
    return replace(plain, differences=differences)


def kept_of(local: Path, means: Path, pair: str, count: int) -> dict[str, Any]:
    """Return a pair's share of the age difference, and its rows by strength."""
    path = kept_at(local, pair, count)
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    result: dict[str, Any] = stored.get(_digest(means), {})
    return result


def kept_at(local: Path, pair: str, count: int) -> Path:
    """Return the file a pair's rows are kept in."""
    return local / f"strengths-{count}-{pair.replace(' ', '_')}.json"


def _digest(means: Path) -> str:
    """Return what tells a file of differences apart."""
    return hashlib.sha256(means.read_bytes()).hexdigest()[:12]


def table(local: Path, means: Path, pairs: Sequence[str], count: int) -> str:
    """Return the Markdown table of what was tried; what is kept is marked."""
    heads = ["pair", "of the difference of ages", "strength", *(HEADS[name] for name in SHOWN), ""]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for pair in pairs:
        result = kept_of(local, means, pair, count)
        choice = best(result["rows"])
        for name, row in result["rows"].items():
            cells = [cell(one, row[one]) for one in SHOWN]
            columns = [pair, f"{result['age']:+.2f}", name, *cells, "kept" * (float(name) == choice)]
            lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines)


def write(means: Path, out: Path, chosen: dict[str, dict[str, Any]]) -> None:
    """Write the steadied differences with their strengths."""
    made = steadied(means, {pair: result["age"] for pair, result in chosen.items()})
    each = list(made.differences.values())
    strengths = {pair: best(result["rows"]) for pair, result in chosen.items()}
    np.savez_compressed(
        out, flow=np.stack([one.flow for one in each]).astype(np.float16),
        colour=np.stack([one.colour for one in each]).astype(np.float16), landmarks=made.landmarks,
        strengths=np.array([strengths.get(" to ".join(poles), PLAIN) for _, poles in made.differences]),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Judge, print the table and write the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fairface", type=Path)
    parser.add_argument("local", type=Path, help="an ignored folder: what was judged is kept there")
    parser.add_argument("means", type=Path, help="what training.photographs.mean_faces wrote")
    parser.add_argument("out", type=Path, help="the file of differences to be written")
    parser.add_argument("--people", type=int, default=240)
    parser.add_argument("--pair", choices=list(PAIRS), help="judge this one only, and write nothing")
    args = parser.parse_args(arguments)
    pairs = [args.pair] if args.pair else list(PAIRS)
    judged(args.fairface, args.local, args.means, pairs, args.people)
    print(table(args.local, args.means, pairs, args.people))
    if not args.pair:
        results = {pair: kept_of(args.local, args.means, pair, args.people) for pair in pairs}
        write(args.means, args.out, results)


if __name__ == "__main__":
    try:
        main()
    except PortrayalError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
