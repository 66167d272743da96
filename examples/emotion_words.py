"""Count emotion words in recorded captions of SOBEM's photographs, from Python.

    python examples/emotion_words.py captions.jsonl.gz

Each line of the file is one caption with subject, emotion, intensity, condition and take. The same as a study:
audit = "associations/emotion_words"; see docs/associations_captions.md.
"""

import sys

import polars as pl

from portrayal.audits.associations.datasets import sobem
from portrayal.audits.associations.measures.emotion_words import emotion_words


def main(path: str) -> None:
    captions = sobem.recorded_captions(path).with_columns(system=pl.lit("recorded captioner"))
    table = emotion_words(captions, sobem.emotion_lexicon()).results
    print(f"{captions.height:,} captions of {captions['stimulus'].n_unique()} photographs, per 1,000 captions:")
    for row in table.filter(pl.col("measure") == "emotion_words").iter_rows(named=True):
        print(f"  {cell(row):<34} {row['value']:7.1f}  ({row['low']:.1f} to {row['high']:.1f})")
    print("fewer for objectified than for nonobjectified individuals:")
    for row in table.filter(pl.col("measure") == "emotion_word_difference").iter_rows(named=True):
        ends = f"({row['low']:.1f} to {row['high']:.1f}), p = {row['p']:.3f}"
        print(f"  {cell(row):<34} {row['value']:7.1f}  {ends}")
    print("words of an emotion for a neutral face, per 1,000 captions:")
    for row in table.filter(pl.col("measure") == "false_mention").iter_rows(named=True):
        print(f"  {cell(row):<34} {row['value']:7.1f}  ({row['low']:.1f} to {row['high']:.1f})")


def cell(row: dict) -> str:
    return ", ".join(filter(None, [row["emotion"], row["intensity"], row["group"]]))


if __name__ == "__main__":
    main(sys.argv[1])
