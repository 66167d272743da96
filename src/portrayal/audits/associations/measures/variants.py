"""Specification curve of a test: prompts, article, and each attribute word left out.

ddof is no choice here, since it cannot change p; nor is a random part of the targets, which nobody would choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.associations.measures.comparison import person_differences
from portrayal.audits.associations.measures.declaration import AssociationTest
from portrayal.audits.associations.measures.effect import ROUNDING, cosines
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.stimulus_sets import Item
from portrayal.stats.decisions.specification import Joint, curve_test, specifications

ALL = "all"
DRAWS = 4_999  # rearrangements of sides, the same for every specification
FEWEST = 2  # attribute words a side keeps


class _Grid(NamedTuple):
    """Cosines of targets (rows) with attributes (columns), and who the columns and rows are."""

    cosines: np.ndarray
    attributes: Sequence[Item]
    in_a: np.ndarray
    in_x: np.ndarray
    people: np.ndarray | None  # who each row shows, where people repeat


def variants(
    test: AssociationTest,
    embeddings: Mapping[str, np.ndarray],
    settings: AssociationsSettings,
    sign: float,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return one row a specification; none where nothing could have been chosen otherwise."""
    if not test.y or not settings.variants:
        return []
    grid = _grid(test, embeddings, settings.article)
    chosen = [(choice, _associations(grid, choice)) for choice in _choices(grid, settings)]
    usable = [(choice, s) for choice, s in chosen if s is not None and np.ptp(s) > ROUNDING]
    if len(usable) < 2:
        return []
    joint = _tested(np.array([s for _, s in usable]), grid, settings, sign, seed)
    outcomes = zip(usable, joint.values.tolist(), joint.p.tolist(), joint.supports, strict=True)
    return [
        {**choice, "value": value, "p": p, "supports": bool(supports), "joint_p": joint.joint_p}
        for (choice, _), value, p, supports in outcomes
    ]


def _grid(test: AssociationTest, embeddings: Mapping[str, np.ndarray], article: str) -> _Grid:
    """Compute all cosines once; targets are those of the main specification."""
    sets = {side: [item for item in test.items(side) if item.content in embeddings] for side in "xyab"}
    x, y = ([item for item in sets[side] if item.is_spelt(article)] for side in "xy")
    targets, attributes = [*x, *y], [*sets["a"], *sets["b"]]
    rows, columns = (np.array([embeddings[item.content] for item in items]) for items in (targets, attributes))
    in_a, in_x = np.arange(len(attributes)) < len(sets["a"]), np.arange(len(targets)) < len(x)
    people = [item.cluster for item in targets]
    return _Grid(cosines(rows, columns), attributes, in_a, in_x, None if None in people else np.array(people))


def _choices(grid: _Grid, settings: AssociationsSettings) -> list[dict[str, Any]]:
    """Return all combinations of prompt and article, and the main specification without each word."""
    prompts = list(dict.fromkeys(item.prompt for item in grid.attributes))
    several = "prompts" in settings.variants and len(prompts) > 1
    spelt = {name for item in grid.attributes for name in item.article.split("+")} - {"same"}
    articles = [name for name in ("right", "literal", "authors") if name in spelt]
    options: dict[str, list[Any]] = {
        "prompt": [ALL, *prompts] if several else [ALL],
        "article": articles if "article" in settings.variants and articles else [settings.article],
        "without": [None],
    }
    words = list(dict.fromkeys(item.stem for item in grid.attributes)) if "words" in settings.variants else []
    left_out = [{"prompt": ALL, "article": settings.article, "without": word} for word in words]
    return [*specifications(options), *left_out]


def _associations(grid: _Grid, choice: Mapping[str, Any]) -> np.ndarray | None:
    """Return s of every target; None where a side has too few words."""
    prompt, article, without = choice["prompt"], choice["article"], choice["without"]
    columns = np.array(
        [prompt in (ALL, one.prompt) and one.is_spelt(article) and one.stem != without for one in grid.attributes]
    )
    sides = columns & grid.in_a, columns & ~grid.in_a
    words = [len({item.stem for item, taken in zip(grid.attributes, side, strict=True) if taken}) for side in sides]
    if min(words) < FEWEST:
        return None
    return np.asarray(grid.cosines[:, sides[0]].mean(axis=1) - grid.cosines[:, sides[1]].mean(axis=1))


def _tested(s: np.ndarray, grid: _Grid, settings: AssociationsSettings, sign: float, seed: int) -> Joint:
    """Rearrange the sides of all specifications (rows of s) together."""
    deviation = s.std(axis=1, ddof=settings.ddof)
    values = (s[:, grid.in_x].mean(axis=1) - s[:, ~grid.in_x].mean(axis=1)) / deviation
    units, weights = _units(s, grid, np.random.default_rng(seed))
    observed, rearranged = (units @ part / deviation[:, None] for part in (weights[:, :1], weights[:, 1:]))
    tested = curve_test(observed[:, 0], rearranged, settings.alternative, sign)
    return tested._replace(values=values, median=float(np.median(values)))


def _units(s: np.ndarray, grid: _Grid, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of units that change sides, and their weights, the observed arrangement first."""
    if grid.people is None:
        order = np.lexsort(s[::-1])  # so that the rows' order does not matter
        return s[:, order], _divisions(grid.in_x[order], rng)
    both = [person_differences(row[grid.in_x], row[~grid.in_x], grid.people) for row in s]
    if both[0]:
        names = sorted(both[0])
        signs = rng.integers(0, 2, (len(names), DRAWS)) * 2.0 - 1.0
        observed = np.ones((len(names), 1))
        return np.array([[row[name] for name in names] for row in both]), np.hstack([observed, signs]) / len(names)
    codes = np.unique(grid.people, return_inverse=True)[1]
    means = np.array([np.bincount(codes, row) for row in s]) / np.bincount(codes)
    in_x = np.bincount(codes, grid.in_x) > 0
    order = np.lexsort(means[::-1])
    return means[:, order], _divisions(in_x[order], rng)


def _divisions(in_x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return weights of the sides (1 / n, -1 / n), as observed, then shuffled."""
    weights = np.where(in_x, 1 / in_x.sum(), -1 / (~in_x).sum())
    shuffled = rng.permuted(np.tile(weights, (DRAWS, 1)), axis=1).T
    return np.hstack([weights[:, None], shuffled])
