"""Accuracy of readers on further groups of FairFace, as possible poles.

python -m training.further_groups FAIRFACE [--kept EMBEDDED.npz]

Two questions, both on people of folds that nothing was fitted on. Of the adults whom annotators put into a group, how many does a
reader put there, that tells it from White, Black and East Asian (every group weighing the same)? And how many of two groups does the
judge of that pair tell apart? A group ships where the first is at least READER for it, and the second at least PAIR beside each of the
three, since a pair is judged by a reader that is. A reading of labels, which are annotators' perceptions; never what a person is.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.stats.intervals.intervals import wilson
from training.judges import FOLDS, GROUPS, SEED, embedded, fit_reading

FURTHER = ("Southeast Asian", "Indian", "Latino_Hispanic", "Middle Eastern")
READER, PAIR = 0.90, 0.95  # what is needed
HEADS = ("group", "people", "told among four", "the other three", *(f"or {group}" for group in GROUPS))


@dataclass(frozen=True)
class Told:
    """Right answers of readers: on a further group, on the other three, and on pairs."""

    group: str
    own: np.ndarray
    others: np.ndarray
    pairs: tuple[np.ndarray, ...]


def told_among(vectors: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return everybody's likeliest group, by readers fitted on the other folds."""
    fold = _folds(len(vectors))
    likeliest = np.empty_like(group)
    for one in range(FOLDS):
        learn, test = fold != one, fold == one
        readers = [fit_reading(vectors[learn], group[learn] == name) for name in np.unique(group)]
        likeliest[test] = np.unique(group)[np.argmax([reader.read(vectors[test]) for reader in readers], axis=0)]
    return likeliest


def told_apart(vectors: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return who of two groups a reader fitted on the other folds gets right."""
    fold = _folds(len(vectors))
    right = np.zeros(len(vectors), bool)
    for one in range(FOLDS):
        reader = fit_reading(vectors[fold != one], second[fold != one])
        right[fold == one] = (reader.read(vectors[fold == one]) > 0.5) == second[fold == one]
    return right


def recognition(known: dict[str, np.ndarray]) -> list[Told]:
    """Return who was told rightly, for each further group."""
    vectors, group = known["embeddings"], np.array([*GROUPS, *FURTHER])[known["group"]]
    return [_recognition(vectors, group, further) for further in FURTHER]


def _recognition(vectors: np.ndarray, group: np.ndarray, further: str) -> Told:
    four = np.isin(group, (*GROUPS, further))
    right, own = told_among(vectors[four], group[four]) == group[four], group[four] == further
    pairs = [np.isin(group, (one, further)) for one in GROUPS]
    apart = (told_apart(vectors[two], group[two] == further) for two in pairs)
    return Told(further, right[own], right[~own], tuple(apart))


def table(known: dict[str, np.ndarray]) -> str:
    """Return the Markdown table of shares with 95% intervals; what falls short is bold."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
    for one in recognition(known):
        cells = [_cell(one.own, READER), _cell(one.others, 0.0), *(_cell(pair, PAIR) for pair in one.pairs)]
        lines.append(f"| {one.group} | {len(one.own)} | " + " | ".join(cells) + " |")
    needed = ["**needed**", "", f"{READER:.0%}", "", *[f"{PAIR:.0%}"] * len(GROUPS)]
    return "\n".join([*lines, "| " + " | ".join(needed) + " |"])


def _folds(count: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, FOLDS, count)


def _cell(right: np.ndarray, needed: float) -> str:
    share = wilson(float(right.sum()), len(right))
    value = f"{share.value:.1%}"
    return f"{f'**{value}**' if share.value < needed else value} ({share.low:.1%} to {share.high:.1%})"


def main() -> None:
    """Embed, or read what was embedded, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fairface", type=Path)
    parser.add_argument("--kept", type=Path, help="where embeddings are kept: a file for local use only")
    args = parser.parse_args()
    print(table(embedded(args.fairface, (*GROUPS, *FURTHER), args.kept)))


if __name__ == "__main__":
    main()
