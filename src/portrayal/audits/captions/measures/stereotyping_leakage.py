"""Groups that captions give away more than human captions do (Hirota, Nakashima, Garcia 2022, CVPR).

Words that name the group are masked, and a classifier is asked for the group by the rest. A caption's score is the out-of-fold
probability of the right group where that is the most probable, else 0; LIC is the system's mean less that of human captions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.technique import Outcome, Row, assigned, technique, unanswered, whole
from portrayal.audits.captions.reading.people import NAMED_BY, affirmed_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, HUMAN_SAME, SYSTEM_CAPTIONS, Options, Stages
from portrayal.engine import engine_map
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.models.logistic import fit
from portrayal.text.words import wordnet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEAKS, AMPLIFIED = "leakage of the group", "leakage beyond the human captions (LIC)"
FOLDS, REPEATS = 5, 5  # over which the scores are averaged, each with folds and captions of its own
LEAST, MOST = 20, 1_000  # images of each group
WORDS = 1_500  # the most common, at the most
MASK = "<mask>"
CLOSE = 1e-3  # a gradient at which the scores are settled
# Besides the listed words of an axis.
PRONOUNS = {"gender": frozenset(["he", "him", "his", "himself", "she", "her", "hers", "herself"])}
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def measure(stages: Stages, options: Options) -> Outcome:
    """Return for each axis the leakage of system and human captions, and the difference."""
    rows: list[Row] = []
    if stages.has(HUMAN_CAPTIONS) and stages.has(SYSTEM_CAPTIONS):
        both = stages.covered(HUMAN_CAPTIONS) & stages.covered(SYSTEM_CAPTIONS)
        for axis in stages.axes():
            groups = {image: group for image, group in stages.groups(axis).items() if image in both}
            sizes = Counter(groups.values())
            if len(sizes) > 1 and min(sizes.values()) >= LEAST:
                rows += _rows(stages, axis, groups, options)
    return Outcome(rows)


def _rows(stages: Stages, axis: str, groups: Mapping[str, str], options: Options) -> list[Row]:
    texts: dict[str, dict[str, list[str]]] = {
        stage: dict(affirmed_captions(stages, stage).group_by("image", maintain_order=True).agg("text").iter_rows())
        for stage in (SYSTEM_CAPTIONS, HUMAN_CAPTIONS)
    }
    masked = masked_words(axis, options)
    drawn: list[list[str]] = []
    learned: list[tuple[Any, ...]] = []
    for repeat in range(REPEATS):
        rng = np.random.default_rng([options.seed, repeat])
        images = balanced(groups, rng)
        chosen = {stage: [_one(texts[stage][image], rng) for image in images] for stage in texts}
        tokens = {stage: [words(text, masked) for text in chosen[stage]] for stage in texts}
        known = {word for caption in tokens[SYSTEM_CAPTIONS] for word in caption}
        human = [[w if w in known else MASK for w in caption] for caption in tokens[HUMAN_CAPTIONS]]
        folds, own = rng.permutation(len(images)) % FOLDS, [groups[image] for image in images]
        drawn.append(images)
        learned += [(captions, own, folds) for captions in (tokens[SYSTEM_CAPTIONS], human)]
    scores = iter(engine_map(_learner, learned, "classifier of captions", keeps=()))
    columns = ["image", "system", "human"]
    draws = [pl.DataFrame([images, next(scores), next(scores)], schema=columns) for images in drawn]
    note = f"1 would be certain and right; mean of {REPEATS} draws of equally many images, captions and folds"
    about: dict[str, Any] = {"axis": axis, "group": "all", "share_of": "captions", "unit": "score"}
    about |= {"note": assigned(stages, axis, note), "n_missing": unanswered(stages, axis, stages.members(axis))}
    system, human_score = pl.col("system"), pl.col("human")
    return [
        TECHNIQUE.row(LEAKS, SYSTEM_CAPTIONS, None, over_draws(draws, system), **about),
        TECHNIQUE.row(LEAKS, HUMAN_SAME, None, over_draws(draws, human_score), **about),
        TECHNIQUE.row(AMPLIFIED, SYSTEM_CAPTIONS, HUMAN_CAPTIONS, over_draws(draws, system - human_score), **about),
    ]


def _learner() -> Callable[[tuple[Any, ...]], np.ndarray]:
    return lambda job: leakage(*job)


def over_draws(draws: Sequence[pl.DataFrame], score: pl.Expr) -> Estimate:
    """Return the mean over draws; the interval adds their spread, which holds most of learning's."""
    from scipy import stats

    each = pl.concat(draws).group_by("image").agg(score.mean().alias("score")).sort("image")
    mean = clustered_mean(each["score"].to_numpy())
    means = np.array([draw.select(score.mean()).item() for draw in draws])
    again = stats.t.ppf(0.975, len(draws) - 1) * means.std(ddof=1) / np.sqrt(len(draws))
    half, value = float(np.hypot((mean.high - mean.low) / 2, again)), float(means.mean())
    return replace(mean, value=value, low=value - half, high=value + half)


def masked_words(axis: str, options: Options) -> frozenset[str]:
    """Return the words that name a group of an axis, in every form."""
    lists = [options.word_list(name) for name in ("gendered", "identity")]
    named = (pl.col("axis") == axis) | (pl.col("axis") == NAMED_BY.get(axis, axis))
    parts = {part for table in lists for term in table.filter(named)["term"] for part in _WORD.findall(term)}
    forms = (wordnet.load().inflected(part, "n") for part in parts)
    return PRONOUNS.get(axis, frozenset()).union(*forms)


def words(text: str, masked: Set[str]) -> list[str]:
    """Return the words of a caption, with the words that name a group masked."""
    tokens = _WORD.findall(text.lower())
    return [MASK if word in masked or word.removesuffix("'s") in masked else word for word in tokens]


def balanced(groups: Mapping[str, str], rng: np.random.Generator) -> list[str]:
    """Draw as many images of every group, in order."""
    members: dict[str, list[str]] = {}
    for image in sorted(groups):
        members.setdefault(groups[image], []).append(image)
    size = min(MOST, *(len(images) for images in members.values()))
    return sorted(images[i] for images in members.values() for i in rng.permutation(len(images))[:size])


def leakage(captions: Sequence[Sequence[str]], groups: Sequence[str], folds: np.ndarray) -> np.ndarray:
    """Return each caption's out-of-fold probability of its own group where most probable, else 0."""
    names = sorted(set(groups))
    own = np.array([[group == name for name in names] for group in groups])
    learned = own[:, 1:] if len(names) == 2 else own  # of two groups one mirrors the other
    weights = np.column_stack([folds != fold for _ in learned.T for fold in range(FOLDS)])
    margins = fit(_bag(captions), np.repeat(learned, FOLDS, axis=1), weights, tolerance=CLOSE).margins
    place = np.arange(len(groups))
    scores = np.column_stack([margins[place, FOLDS * i + folds] for i in range(learned.shape[1])])
    chance = 1 / (1 + np.exp(-scores))
    chance = np.hstack([1 - chance, chance]) if len(names) == 2 else chance / chance.sum(axis=1, keepdims=True)
    right = own[place, chance.argmax(axis=1)]
    return np.where(right, chance[own], 0.0)


def _bag(captions: Sequence[Sequence[str]]) -> csr_array:
    """Return captions x words that two or more captions have: 1 where one has it."""
    from scipy import sparse

    counts = Counter(word for caption in captions for word in set(caption))
    common = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count > 1]
    column = {word: i for i, word in enumerate(common[:WORDS])}
    indices = [[column[word] for word in set(caption) if word in column] for caption in captions]
    borders = np.cumsum([0, *map(len, indices)])
    ones = np.ones(borders[-1])
    return sparse.csr_array((ones, np.fromiter(chain(*indices), np.int64), borders), (len(indices), len(column)))


def _one(texts: Sequence[str], rng: np.random.Generator) -> str:
    # One number is drawn whatever the length, so that a caption recorded twice changes nothing else.
    return texts[int(rng.random() * len(texts))]


TECHNIQUE = technique("stereotyping: amplification by leakage", whole(measure))
