"""Wang et al. 2022, section 4.1.1: words included wrongly.

Three scenarios, in the order a case is counted: non-imageable, too specific, hallucinated. All cases together are an
upper bound; those whose word is correlated with a group at the ground-truth stage,

    max over groups of P(group, synset) - P(group) P(synset),

above a threshold are kept, and ranked by the word's false-positive rate. With few images chance alone passes the
paper's threshold of 0.005, so a second count asks for three standard errors as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial

import polars as pl

from portrayal.audits.captions.measures.outcome import CASES, UPPER, Outcome
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.people import listed_nouns, shares
from portrayal.audits.captions.measures.reading.scenarios import SCENARIOS, people_said, scenarios
from portrayal.audits.captions.measures.reading.stages import CAPTIONED, SYSTEM_CAPTIONS, Stages, once
from portrayal.audits.captions.measures.shares import Count, Shares, ShareTechnique, Steps
from portrayal.folds import Fold, Known
from portrayal.text.formatting import number

ANY = "any word included wrongly"
ABOVE = "word above the covariance threshold included wrongly"  # the paper's rule
KEPT = "word correlated with a group included wrongly"  # and beyond chance
TEST = "correlated_word_included"
NAMED = 5  # words that a row names
CLEAR = 3.0  # standard errors: with few images chance alone passes the threshold
PEOPLE = "words that mean people"
_CLEAR = pl.col("covariance") > CLEAR * pl.col("error")
_WRONG = pl.col("scenario").is_not_null()
Kept = Callable[[], pl.DataFrame]


def people_words(options: Options) -> Fold:
    """Return the fold of the words that mean people at each stage, in any part of the images."""
    return Fold(PEOPLE, _people_words, lambda sums, _: sums, add=_joined)


def _people_words(stages: Stages, known: Known) -> Mapping[str, frozenset[str]]:
    return {stage: people_said(stages, stage, truth) for stage, truth in _pairs(stages)}


def _joined(one: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    return {stage: one.get(stage, frozenset()) | other.get(stage, frozenset()) for stage in one.keys() | other.keys()}


def steps(stages: Stages, options: Options, known: Known) -> Steps:
    """Yield upper bounds by scenario and stage, the cases kept, and how the scenarios overlap."""
    clear: dict[str, Callable[[], Shares]] = {}
    for stage, truth in _pairs(stages):
        said = scenarios(stages, stage, truth, options, known[PEOPLE][stage])
        wrong, of = said.filter(_WRONG), partial(_shares, stages, stage, truth)
        # Which words go with a group is known of all images together.
        kept = partial(correlated, stages, stage, truth, options, known[PEOPLE][stage])
        clear[stage] = partial(lambda of, kept: of(KEPT, kept().filter(_CLEAR)), of, kept)
        yield of(ANY, wrong)
        yield partial(lambda of, kept: of(ABOVE, kept()), of, kept)
        yield clear[stage]
        for name in SCENARIOS:
            yield of(f"{name} word", wrong.filter(pl.col("scenario") == name))
        yield partial(_read, stage, said, kept)
        if stage == SYSTEM_CAPTIONS:
            yield partial(_count, stages, truth, clear, kept)
            yield Outcome(missing=_unlabelled(stages))


def _pairs(stages: Stages) -> list[tuple[str, str]]:
    truth = stages.truth()
    return [(stage, truth) for stage in CAPTIONED if truth is not None and stages.has(stage) and stage != truth]


def _shares(stages: Stages, stage: str, truth: str, quantity: str, flagged: pl.DataFrame) -> Shares:
    inside = stages.covered(truth)
    values = {image: share for image, share in shares(stages, stage, flagged).items() if image in inside}
    note = "cases to read, ranked" if quantity in (ABOVE, KEPT) else "human interpretation needed"
    return Shares(
        quantity,
        stage,
        truth,
        values,
        bound=UPPER,
        note=lambda _: note,
        basis=inside,
        compares=UPPER if quantity == KEPT else "",
    )


def _count(stages: Stages, truth: str, clear: Mapping[str, Callable[[], Shares]], kept: Kept) -> Count:
    counted = kept().filter(_CLEAR).group_by("word").agg(pl.col("image").n_unique().alias("images"))
    words = counted.sort("images", "word", descending=[True, False])["word"].head(NAMED)
    by_stage = {stage: of() for stage, of in clear.items()}
    return Count(TEST, by_stage, sorted(stages.covered(truth)), subject=", ".join(words) or None)


def _unlabelled(stages: Stages) -> str:
    """Say which kinds the truth has nowhere: what is said of them cannot be wrong."""
    truth = str(stages.truth())
    kinds = [f"{kind}s" for kind in ("attribute", "relation") if not stages.judges(truth, kind)]
    return f"the {truth} have no {' and no '.join(kinds)}, so none is judged" if kinds else ""


@once
def correlated(stages: Stages, stage: str, truth: str, options: Options, people: Set[str]) -> pl.DataFrame:
    """Return the words included wrongly that go with a group, with their covariance and false-positive rate."""
    related = covariances(stages, truth, groups_of_truth(stages, truth, options))
    cases = scenarios(stages, stage, truth, options, people).filter(_WRONG)
    kept = cases.join(related, on=["kind", "synset"]).filter(pl.col("covariance") > options.threshold)
    return kept.join(_false_positive_rates(cases, stages, stage, truth), on=["kind", "synset"], how="left")


def _false_positive_rates(cases: pl.DataFrame, stages: Stages, stage: str, truth: str) -> pl.DataFrame:
    """Share of the images without the synset at the truth whose captions include it all the same."""
    both = stages.covered(stage) & stages.covered(truth)
    present = stages.at(truth).group_by("kind", "synset").agg(pl.col("image").n_unique().alias("present"))
    wrong = cases.group_by("kind", "synset").agg(pl.col("image").n_unique().alias("wrong"))
    table = wrong.join(present, on=["kind", "synset"], how="left").with_columns(pl.col("present").fill_null(0))
    absent = (len(both) - pl.col("present")).clip(1)
    return table.select("kind", "synset", (pl.col("wrong") / absent).alias("rate"))


def overlaps(said: pl.DataFrame) -> pl.DataFrame:
    """Return how many mentions fit each combination of scenarios."""
    counted = said.filter(_WRONG)
    return counted.group_by(list(SCENARIOS)).agg(pl.len().alias("mentions")).sort("mentions", descending=True)


def groups_of_truth(stages: Stages, truth: str, options: Options) -> pl.DataFrame:
    """Return (image, axis, group): the annotation where there is one, else the group words at the truth stage."""
    inside = list(stages.covered(truth))
    if len(stages.people):
        return stages.people.filter(pl.col("image").is_in(inside)).select("image", "axis", "group")
    return listed_nouns(stages.at(truth, "object"), options).select("image", "axis", "group").unique()


def covariances(stages: Stages, truth: str, groups: pl.DataFrame) -> pl.DataFrame:
    """Return kind, synset, covariance, its error and group: for each synset the group it goes with most.

    The covariance is P(group, synset) - P(group) P(synset) at the ground-truth stage.

    Probabilities are shares of the images the truth covers.
    """
    total = len(stages.covered(truth))
    schema = {"kind": pl.String, "synset": pl.String, "covariance": pl.Float64, "error": pl.Float64, "group": pl.String}
    if not total or groups.is_empty():
        return pl.DataFrame(schema=schema)
    said = stages.at(truth).select("image", "kind", "synset").drop_nulls().unique()
    joint = said.join(groups, on="image").group_by("kind", "synset", "axis", "group").len("both")
    of_synset = said.group_by("kind", "synset").len("of_synset")
    of_group = groups.group_by("axis", "group").agg(pl.col("image").n_unique().alias("of_group"))
    table = joint.join(of_synset, on=["kind", "synset"]).join(of_group, on=["axis", "group"])
    of_s, of_g = pl.col("of_synset") / total, pl.col("of_group") / total
    # The standard error of the covariance when synset and group are independent.
    error = (of_s * (1 - of_s) * of_g * (1 - of_g) / total).sqrt()
    return (
        table.with_columns((pl.col("both") / total - of_s * of_g).alias("covariance"), error.alias("error"))
        .sort("covariance", "axis", "group", descending=[True, False, False])
        .unique(["kind", "synset"], keep="first", maintain_order=True)
        .select(*schema)
    )


def _read(stage: str, said: pl.DataFrame, kept: Kept) -> Outcome:
    """Return the cases, of which large audits have some hundred thousand, and the overlaps of scenarios."""
    found = kept()
    values = found["covariance"].unique()
    written = pl.col("covariance").replace_strict(values, [number(value) for value in values], return_dtype=pl.String)
    words = [pl.when(pl.col(name) != "").then(pl.col(name)) for name in ("subject", "word", "object")]
    about = {
        "technique": pl.lit(TECHNIQUE.key),
        "stage": pl.lit(stage),
        "quantity": pl.lit(ABOVE),
        "within": pl.when(_CLEAR).then(pl.lit(KEPT)),
        "tuple": pl.concat_str(words, separator=" | ", ignore_nulls=True),
        "reason": pl.format("{}; most correlated with {} (covariance {})", "scenario", "group", written),
        "score": pl.col("rate"),
    }
    cases = found.with_columns(**about).select(pl.col(name).cast(kind) for name, kind in CASES.items())
    return Outcome(cases=cases, tables={"overlaps": [overlaps(said).select(pl.lit(stage).alias("stage"), pl.all())]})


TECHNIQUE = ShareTechnique(
    "stereotyping",
    "words included wrongly",
    "system captions, and human labels or human captions as ground truth",
    "without a ground truth nothing tells which words are wrong",
    steps=steps,
    after=(people_words,),
    paper="Wang et al. 2022, section 4.1.1",
)
