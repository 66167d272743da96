"""Answers as arrays, source image x step x label, by system and axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.axis import POLES, Axis, axes_of, with_poles
from portrayal.errors import PortrayalError
from portrayal.pictures.series.values import even_values
from portrayal.tables import ANSWERED, check, check_responses

# The factors of a counterfactual stimulus. `value` is null for the unedited photograph.
FACTORS = {
    "stimulus": pl.String,
    "picture": pl.String,  # the source image
    "person": pl.String,  # who it shows; the source image itself where that is not known
    "attribute": pl.String,  # gender, race or placebo; for the unedited photograph the attribute of its series
    "condition": pl.String,  # edited, or unedited
    "value": pl.Float64,
}
# Further, where it is known: the poles of race (`axis.POLES`), and the group of that attribute the person is of in the
# unedited photograph.
START = "start"
REFUSED = ("refused", "filtered")


@dataclass(frozen=True)
class Block:
    """Answers of one system along one axis: source images answered at every step."""

    system: str
    axis: Axis
    values: np.ndarray  # steps, rising
    pictures: list[str]
    people: list[str]  # of each source image
    starts: list[str | None]  # of each source image
    labels: list[str]
    present: np.ndarray  # source x step x label: share of repeats in which the label was given
    scores: np.ndarray  # the same with the confidence, 0 where the label was not given; NaN where none was told
    unedited: np.ndarray  # source x label, NaN where the unedited photograph has no answer
    n_missing: int  # people without a single source image whose every step has a usable answer
    lost: int  # source images left out because a step has no usable answer
    empty: int  # answers without any label: every label is absent in them; counted beside
    refused: np.ndarray  # source x step: share of repeats that were refused; of all source images asked at every step
    refused_people: list[str]  # of each of those source images
    refused_in_part: int  # people who were refused at one step and got neither answer nor refusal at another
    asked_people: int  # everybody who has a series

    @property
    def centre(self) -> int:
        """The place of the neutral step."""
        return int(np.flatnonzero(self.values == 0)[0])


def blocks(stimuli: pl.DataFrame, responses: pl.DataFrame) -> Iterator[Block]:
    """Yield one block per system and axis, in the order of their names."""
    hint = "A counterfactual audit needs one row per step; see docs/counterfactuals.md."
    factors = _factors(check(stimuli, FACTORS, "stimuli", hint))
    answers = check_responses(responses, "tagger", hint)
    for system in sorted(answers["system"].unique()):
        mine = answers.filter(pl.col("system") == system).drop("system")
        for axis in axes_of(factors):
            yield _block(system, axis, factors.filter(axis.where()), mine)


def _factors(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return the factors with the starting group; refuse a step without a person."""
    nobody = stimuli.filter(pl.col("person").fill_null("").str.strip_chars() == "")
    if not nobody.is_empty():
        raise PortrayalError(
            f"stimulus {nobody['stimulus'][0]!r} has no `person`. Name who is shown: people are what is counted."
        )
    start = pl.col(START) if START in stimuli.columns else pl.lit(None)
    return with_poles(stimuli).select(*FACTORS, *POLES, start.cast(pl.String).alias(START))


def _block(system: str, axis: Axis, factors: pl.DataFrame, answers: pl.DataFrame) -> Block:
    edited = factors.filter(pl.col("condition") == "edited")
    values = even_values(edited["value"].drop_nulls(), axis.title)
    joined = answers.join(factors, on="stimulus", how="inner")
    answered = joined.filter(pl.col("status").is_in(ANSWERED)).select("stimulus").unique()
    counted = edited.join(answered, on="stimulus").group_by("picture").agg(pl.col("value").n_unique())
    whole = counted.filter(value=len(values))["picture"].to_list()  # an answer at every step
    pictures = edited.filter(pl.col("picture").is_in(whole)).unique("picture", maintain_order=True).sort("picture")
    labels = sorted(joined.filter(pl.col("status") == "answered")["tag"].drop_nulls().unique())
    cube = _fill(joined.filter(pl.col("condition") == "edited"), pictures["picture"], labels, values)
    plain = _fill(joined.filter(pl.col("condition") == "unedited"), pictures["picture"], labels, np.array([np.nan]))
    refused, refused_people, refused_in_part = _refusals(edited, joined, values)
    return Block(
        system, axis, values, pictures["picture"].to_list(), pictures["person"].to_list(),
        pictures[START].to_list(), labels,
        present=cube[0], scores=cube[1], unedited=plain[0][:, 0],
        n_missing=edited["person"].n_unique() - pictures["person"].n_unique(),
        lost=edited["picture"].n_unique() - len(pictures),
        empty=answers.join(edited, on="stimulus").filter(pl.col("status") == "empty").height,
        refused=refused, refused_people=refused_people, refused_in_part=refused_in_part,
        asked_people=edited["person"].n_unique(),
    )  # fmt: skip


def _refusals(edited: pl.DataFrame, answers: pl.DataFrame, values: np.ndarray) -> tuple[np.ndarray, list[str], int]:
    """Return shares refused, the people shown, and how many refused people have gaps."""
    ended = answers.filter(pl.col("status").is_in([*ANSWERED, *REFUSED]), condition="edited")
    shares = (
        ended.unique(["stimulus", "repeat"]).group_by("picture", "value").agg(pl.col("status").is_in(REFUSED).mean())
    )
    pictures = edited.unique("picture", maintain_order=True).sort("picture")
    rows = {picture: place for place, picture in enumerate(pictures["picture"])}
    steps = {value: place for place, value in enumerate(values.tolist())}
    refused = np.full((len(rows), len(steps)), np.nan)
    for picture, value, share in shares.iter_rows():
        refused[rows[picture], steps[value]] = share
    whole = ~np.isnan(refused).any(axis=1)
    in_part = pictures.filter(pl.Series(~whole & (refused > 0).any(axis=1)))["person"].n_unique()
    return refused[whole], pictures.filter(pl.Series(whole))["person"].to_list(), in_part


def _fill(
    answers: pl.DataFrame, pictures: pl.Series, labels: list[str], values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return presence and score; NaN where nothing was answered."""
    answered = answers.filter(pl.col("status").is_in(ANSWERED) & pl.col("picture").is_in(pictures.to_list()))
    rows = {picture: place for place, picture in enumerate(pictures)}
    columns = {label: place for place, label in enumerate(labels)}
    steps = {value: place for place, value in enumerate(values.tolist())}
    asks = answered.select("picture", "value", "repeat").unique().group_by("picture", "value").len()
    count = np.full((len(rows), len(values), 1), np.nan)
    for picture, value, number in asks.iter_rows():
        count[rows[picture], steps.get(value, 0)] = number
    present = np.zeros((len(rows), len(values), len(labels)))
    scores = present.copy()
    tagged = answered.filter(pl.col("tag").is_not_null()).select("picture", "value", "repeat", "tag", "confidence")
    once = tagged.group_by("picture", "value", "repeat", "tag").agg(pl.col("confidence").max())
    if len(once):
        place = (
            np.array([rows[picture] for picture in once["picture"]]),
            np.array([steps.get(value, 0) for value in once["value"]]),
            np.array([columns[label] for label in once["tag"]]),
        )
        np.add.at(present, place, 1.0)
        np.add.at(scores, place, once["confidence"].cast(pl.Float64).fill_null(np.nan).to_numpy())
    return present / count, scores / count
