"""Denying people the opportunity to self-identify: identity terms imposed where the reference has none, by axis.

The technique is ours; the paper gives only the definition (section 3.2). A caption imposes on an axis when it calls a
person by a term of that axis (gender, race, age, religion, disability, nationality) and no reference caption of the
image has any term of the axis. The reference is the human captions: they show what people who saw the picture found
fit to say. It fails where the writers had information the picture does not show, or were themselves imposing.
"""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.compared import compared
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import UPPER, Outcome, Technique, by_group, cases_table, count_tests
from portrayal.audits.captions.measures.people import is_person, people_mentioned, shares
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, HUMAN_LABELS, LABELS, SYSTEM_CAPTIONS, Stages

ANY = "identity term imposed on any axis"
TEST = "identity_term_imposed"
# The axis of identity terms that an annotated axis is named by.
NAMED_BY = {"skin": "race", "race": "race", "ethnicity": "race", "gender": "gender", "age": "age"}
UNNAMED = "the labels name no identity of anybody, so nothing tells which terms were imposed"


def measure(stages: Stages, options: Options) -> Outcome:
    """Return by axis of identity the share of captions with people that impose a term, and the cases."""
    reference = stages.chosen or next((s for s in (HUMAN_CAPTIONS, HUMAN_LABELS) if stages.has(s)), None)
    if reference is None or not stages.has(SYSTEM_CAPTIONS):
        return Outcome(missing=TECHNIQUE.missing)
    said = identity_terms(stages, SYSTEM_CAPTIONS, options)
    known = identity_terms(stages, reference, options).select("image", "axis").unique()
    judged = _judged_axes(reference, known, options)
    imposed = said.join(known, on=["image", "axis"], how="anti").filter(pl.col("axis").is_in(judged))
    both = stages.covered(reference) & set(people_mentioned(stages, SYSTEM_CAPTIONS)["image"])
    rows, against = [], []
    for axis in (ANY, *judged) if judged else ():
        hits = imposed if axis == ANY else imposed.filter(pl.col("axis") == axis)
        values = {i: v for i, v in shares(stages, SYSTEM_CAPTIONS, hits).items() if i in both}
        quantity = ANY if axis == ANY else f"{axis} term imposed"
        rows += by_group(
            TECHNIQUE, quantity, stages, SYSTEM_CAPTIONS, reference, values, "captions that mention a person",
            UPPER, "technique of this project",
        )  # fmt: skip
        if axis == ANY:
            told = {SYSTEM_CAPTIONS: values}
            against = compared(TECHNIQUE, ANY, reference, told, bound=UPPER)
            rows += count_tests(TECHNIQUE, TEST, ANY, reference, told, sorted(both), options.tolerance, bound=UPPER)
    return Outcome(rows, cases_table(_cases(imposed)), missing="" if rows else UNNAMED, compared=against)


def _judged_axes(reference: str, known: pl.DataFrame, options: Options) -> list[str]:
    """Return the axes a reference could have named: labels that name nobody's age say nothing of whose age may be named."""
    axes = known["axis"] if reference in LABELS else options.word_list("identity")["axis"]
    return sorted(axes.unique())


def identity_terms(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return image, caption, axis, group and term of every identity term said of a person at a stage."""
    if options.lists:  # the user's lists are not part of the name
        return _identity_terms(stages, stage, options)
    return stages.once("identity terms", stage, lambda _: _identity_terms(stages, stage, options))


def _identity_terms(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    listed = options.word_list("identity").select("term", "axis", "group", "part")
    objects = stages.at(stage, "object")
    nouns = identity_nouns(objects, options)
    # An adjective used as a noun ('a female') is an identity term as well.
    bare = objects.filter(pl.col("word").is_in(options.word_list("identity_nouns")["term"].to_list()))
    bare = bare.rename({"word": "term"}).join(listed.filter(pl.col("part") == "a"), on="term")
    adjectives = identity_adjectives(stages, stage, options)
    columns = ["image", "caption", "axis", "group", "term"]
    return pl.concat([table.select(columns) for table in (nouns, bare, adjectives)]).unique(maintain_order=True)


def identity_nouns(objects: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return objects with term, axis and group, where the whole noun or its head is on the list: `old trans woman` is both."""
    listed = options.word_list("identity").filter(pl.col("part") == "n").select("term", "axis", "group")
    head = objects.with_columns(pl.col("word").str.split(" ").list.last().alias("term"))
    several = listed.filter(pl.col("term").str.contains(" "))
    whole = objects.with_columns(pl.col("word").alias("term")).join(several, on="term")
    return pl.concat([head.join(listed, on="term"), whole.select(*head.columns, "axis", "group")])


def identity_adjectives(stages: Stages, stage: str, options: Options) -> pl.DataFrame:
    """Return image, caption, axis, group and term of the identity adjectives said of a person as adjectives."""
    listed = options.word_list("identity").filter(pl.col("part") == "a").select("term", "axis", "group")
    attributes = stages.at(stage, "attribute").with_columns(pl.col("word").alias("term"))
    people = [
        subject
        for subject, synset in attributes.select("subject", "subject_synset").unique().iter_rows()
        if is_person(subject, synset)
    ]
    said = attributes.filter(pl.col("subject").is_in(people)).join(listed, on="term")
    return said.select("image", "caption", "axis", "group", "term").unique(maintain_order=True)


def _cases(imposed: pl.DataFrame) -> list[dict]:
    return [
        TECHNIQUE.case(
            ANY,
            SYSTEM_CAPTIONS,
            image,
            number,
            f"'{term}' names {axis}; no reference caption does",
            term,
            group,
            within=f"{axis} term imposed",
        )
        for image, number, axis, group, term in imposed.iter_rows()
    ]


TECHNIQUE = Technique(
    "denying self-identification",
    "identity terms imposed",
    "system captions, and human captions (or human labels) as reference",
    "without a reference nothing tells which terms were imposed",
    measure,
)
