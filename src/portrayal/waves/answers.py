"""Answers of two waves, question by question: changes, distances and words."""

import numpy as np
import polars as pl

from portrayal.study.registry import get_audit
from portrayal.tables import ANSWERED, ROWS, SETS
from portrayal.waves.waves import QUESTION, Wave

TOLERANCE = 1e-4  # of a vector's length: less is arithmetic of another processor or batch
SHOWN = 4  # numbers of a vector that are printed
DEPTH = 10  # of result lists that are compared
WORD = r"[\p{L}\p{N}][\p{L}\p{N}'-]*"
PARTS = {"tagger": "tags", "captioner": "words", "ranker": "documents", "generator": "labels"}


def paired_answers(first: Wave, later: Wave) -> pl.DataFrame:
    """Return questions both waves asked: both answers, their `distance`, whether they `changed`."""
    kind = get_audit(first.study.audit).kind
    one, other = (_answers(wave.responses, kind) for wave in (first, later))
    both = one.join(other, on=QUESTION, suffix="_later", maintain_order="left")
    inside = pl.col("said") & pl.col("said_later")
    apart = DISTANCES.get(kind, _set_distance)(both).cast(pl.Float64)
    outcome = pl.col("answer").ne_missing(pl.col("answer_later"))
    distance = pl.when(inside).then(apart).otherwise(outcome.cast(pl.Float64))
    both = both.with_columns(distance=distance)
    changed = pl.when(inside).then(pl.col("distance") > TOLERANCE).otherwise(outcome) if kind == "encoder" else outcome
    return both.with_columns(changed=changed).drop("parts", "parts_later")


def changes_by_group(first: Wave, later: Wave, answers: pl.DataFrame) -> pl.DataFrame:
    """Count changed, stopped and started answers by system and group, with mean distance."""
    groups = get_audit(first.study.audit).groups(first.evidence, first.study.settings)
    said, later_said = pl.col("said"), pl.col("said_later")
    counts = {"asked": pl.len(), "changed": pl.col("changed").sum(), "answered": said.sum(),
              "stopped": (said & ~later_said).sum(), "started": (~said & later_said).sum()}  # fmt: skip
    counted = [*(count.cast(pl.Int64).alias(name) for name, count in counts.items()), pl.col("distance").mean()]
    of_group = groups.select("stimulus", "axis", "group").unique(maintain_order=True)
    inside = answers.join(of_group, on="stimulus").group_by("system", "axis", "group").agg(counted)
    every = answers.group_by("system", maintain_order=True).agg(counted)
    table = pl.concat([every, inside.sort("system", "axis", "group")], how="diagonal").select(inside.columns)
    return table.with_columns(pl.lit(first.name).alias("from"), pl.lit(later.name).alias("to"))


def vocabulary(first: Wave, later: Wave) -> pl.DataFrame:
    """Return words that only one wave has: system, word, answers and 'appeared' or 'vanished'."""
    kind = get_audit(first.study.audit).kind
    if kind == "encoder":
        text = dict.fromkeys(("system", "word", "what", "from", "to"), pl.String)  # a vector has no words
        return pl.DataFrame(schema={**text, "answers": pl.Int64})
    one, other = (_words(wave.responses, kind) for wave in (first, later))
    gone = one.join(other, on=["system", "word"], how="anti").with_columns(what=pl.lit("vanished"))
    new = other.join(one, on=["system", "word"], how="anti").with_columns(what=pl.lit("appeared"))
    table = pl.concat([new, gone]).sort("system", "what", pl.col("answers").neg(), "word")
    return table.with_columns(pl.lit(first.name).alias("from"), pl.lit(later.name).alias("to"))


def _answers(responses: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return each question with its answer as text or status, and its comparable parts."""
    rows = responses.sort("rank") if kind == "ranker" else responses
    cell = pl.col(next(iter(ROWS[kind]))).drop_nulls()
    if kind == "encoder":
        numbers = cell.first()
        first = numbers.list.head(SHOWN).list.eval(pl.element().round_sig_figs(4).cast(pl.String)).list.join(" ")
        parts, text = numbers, pl.format("{} numbers: {} ...", numbers.list.len(), first)
    else:
        parts = cell.cast(pl.String).unique().sort() if kind in SETS else cell.cast(pl.String)
        text = parts.str.join("; ")
        parts = text.str.to_lowercase().str.extract_all(WORD).first() if kind == "captioner" else parts
    answers = rows.group_by(QUESTION, maintain_order=True).agg(text=text, parts=parts, status=pl.col("status").first())
    shown = pl.when(pl.col("status") == "answered").then("text").otherwise(pl.format("({})", "status"))
    said = pl.col("status").is_in(ANSWERED if kind in SETS else ANSWERED[:1])
    size = pl.when(said).then(pl.col("parts").list.len()).cast(pl.Float64)
    return answers.select(*QUESTION, "parts", answer=shown, said=said, size=size).sort(QUESTION)


def _set_distance(both: pl.DataFrame) -> pl.Series:
    """Return Jaccard's distance of what two answers hold."""
    shared = pl.col("parts").list.set_intersection("parts_later").list.len()
    every = pl.col("parts").list.set_union("parts_later").list.len()
    return both.select(pl.when(every > 0).then(1.0 - shared / every).otherwise(0.0)).to_series()


def _list_distance(both: pl.DataFrame) -> pl.Series:
    """Return 1 less the average overlap of the first results.

    Fagin, Kumar, Sivakumar (2003), Comparing top k lists, SIAM Journal on Discrete Mathematics 17, 134-160.
    """
    overlaps = []
    for depth in range(1, DEPTH + 1):
        one, other = pl.col("parts").list.head(depth), pl.col("parts_later").list.head(depth)
        longest = pl.max_horizontal(one.list.len(), other.list.len(), 1)
        overlaps.append(one.list.set_intersection(other).list.len() / longest)
    return both.select(1.0 - pl.mean_horizontal(overlaps)).to_series()


def _vector_distance(both: pl.DataFrame) -> pl.Series:
    """Return the length of the difference of two vectors over that of the longer one."""
    pairs = both.select("parts", "parts_later").iter_rows()
    return pl.Series([_apart(one, other) if one and other and len(one) == len(other) else 1.0 for one, other in pairs])


def _apart(one: list[float], other: list[float]) -> float:
    longest = max(np.linalg.norm(one), np.linalg.norm(other))
    return float(np.linalg.norm(np.subtract(one, other)) / longest) if longest else 0.0


DISTANCES = {"encoder": _vector_distance, "ranker": _list_distance}


def _words(responses: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Count the answers that hold each word: tags and labels whole, captions by words."""
    word = pl.col(next(iter(ROWS[kind]))).cast(pl.String).str.to_lowercase()
    words = responses.with_columns(word=word.str.extract_all(WORD) if kind == "captioner" else word)
    words = words.explode("word") if kind == "captioner" else words
    words = words.drop_nulls("word").unique([*QUESTION, "word"])
    return words.group_by("system", "word").agg(answers=pl.len().cast(pl.Int64))
