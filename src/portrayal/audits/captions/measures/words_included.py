"""Stereotyping (1): words included wrongly, section 4.1.1 of [1]_.

Three scenarios, in the order a case is counted: non-imageable, too specific, hallucinated. All cases together are an
upper bound; those whose word is correlated with a group at the ground-truth stage,

    max over groups of P(group, synset) - P(group) P(synset),

above a threshold are kept, and ranked by the word's false-positive rate. With few images chance alone passes the
paper's threshold of 0.005, so a second count asks for three standard errors as well.

References
----------
.. [1] Wang, Barocas, Laird, Wallach (2022), Measuring representational harms in image captioning, FAccT.
"""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.covariance import covariances, groups_of_truth
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import UPPER, Outcome, Technique, by_group, cases_table
from portrayal.audits.captions.measures.people import shares
from portrayal.audits.captions.measures.scenarios import SCENARIOS, scenarios
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages

ANY = "any word included wrongly"
ABOVE = "word above the covariance threshold included wrongly"  # the paper's rule
KEPT = "word correlated with a group included wrongly"  # and beyond chance
CLEAR = 3.0  # standard errors: with few images chance alone passes the threshold


def measure(stages: Stages, options: Options) -> Outcome:
    """Return upper bounds by scenario and group, the cases kept, and how the scenarios overlap."""
    rows, cases, tables = [], [], {}
    for stage, truth in _pairs(stages):
        found = scenarios(stages, stage, truth, options)
        kept = _kept(found, stages, stage, truth, options)
        rows += _rows(stages, stage, truth, found, kept)
        cases += _cases(kept, stage)
        tables[f"overlaps of scenarios ({stage})"] = overlaps(found)
    return Outcome(rows, cases_table(cases), tables, "" if rows else TECHNIQUE.missing)


def _pairs(stages: Stages) -> list[tuple[str, str]]:
    truth = stages.truth()
    tested = [s for s in (HUMAN_CAPTIONS, SYSTEM_CAPTIONS) if stages.has(s)]
    return [(stage, truth) for stage in tested if truth is not None and stage != truth]


def _kept(found: pl.DataFrame, stages: Stages, stage: str, truth: str, options: Options) -> pl.DataFrame:
    related = covariances(stages, truth, groups_of_truth(stages, truth, options))
    cases = found.filter(pl.col("scenario").is_not_null())
    kept = cases.join(related, on=["kind", "synset"]).filter(pl.col("covariance") > options.threshold)
    return kept.join(_false_positive_rates(cases, stages, stage, truth), on=["kind", "synset"], how="left")


def _false_positive_rates(cases: pl.DataFrame, stages: Stages, stage: str, truth: str) -> pl.DataFrame:
    """Share of the images without the synset at the truth whose captions include it all the same."""
    both = stages.covered(stage) & stages.covered(truth)
    present = stages.at(truth).group_by("kind", "synset").agg(pl.col("image").n_unique().alias("present"))
    wrong = cases.group_by("kind", "synset").agg(pl.col("image").n_unique().alias("wrong"))
    table = wrong.join(present, on=["kind", "synset"], how="left").with_columns(
        pl.col("present").fill_null(0)
    )
    absent = (len(both) - pl.col("present")).clip(1)
    return table.select("kind", "synset", (pl.col("wrong") / absent).alias("rate"))


def _rows(stages: Stages, stage: str, truth: str, found: pl.DataFrame, kept: pl.DataFrame) -> list[dict]:
    inside = stages.covered(truth)
    wrong = found.filter(pl.col("scenario").is_not_null())
    clear = kept.filter(pl.col("covariance") > CLEAR * pl.col("error"))
    said = {"any": (ANY, wrong), "above": (ABOVE, kept), "kept": (KEPT, clear)}
    said |= {name: (f"{name} word", wrong.filter(pl.col("scenario") == name)) for name in SCENARIOS}
    rows = []
    for quantity, flagged in said.values():
        values = {i: v for i, v in shares(stages, stage, flagged).items() if i in inside}
        note = "human interpretation needed" if quantity not in (ABOVE, KEPT) else "cases to read, ranked"
        rows += by_group(
            TECHNIQUE, quantity, stages, stage, truth, values, "share of captions", UPPER, note, basis=inside
        )
    return rows


def overlaps(found: pl.DataFrame) -> pl.DataFrame:
    """Return how many mentions fit each combination of scenarios."""
    counted = found.filter(pl.col("scenario").is_not_null())
    return counted.group_by(list(SCENARIOS)).agg(pl.len().alias("mentions")).sort("mentions", descending=True)


def _cases(kept: pl.DataFrame, stage: str) -> list[dict]:
    columns = [
        "image",
        "caption",
        "kind",
        "subject",
        "word",
        "object",
        "scenario",
        "group",
        "covariance",
        "rate",
    ]
    return [
        {
            "technique": TECHNIQUE.key,
            "stage": stage,
            "image": r["image"],
            "caption": r["caption"],
            "tuple": " | ".join(part for part in (r["subject"], r["word"], r["object"]) if part),
            "reason": f"{r['scenario']}; most correlated with {r['group']} (covariance {r['covariance']:.4f})",
            "group": r["group"],
            "score": r["rate"],
        }
        for r in kept.select(columns).iter_rows(named=True)
    ]


TECHNIQUE = Technique(
    "stereotyping",
    "words included wrongly",
    "system captions, and human labels or human captions as ground truth",
    "without a ground truth nothing tells which words are wrong",
    measure,
)
