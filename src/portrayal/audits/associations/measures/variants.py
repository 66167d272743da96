"""The same test in every variant a study asks for: prompts, article, target subsets, ddof."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.associations.measures.comparison import by_person
from portrayal.audits.associations.measures.declaration import AssociationTest, TestSettings
from portrayal.audits.associations.measures.effect import cosines, effect_size
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.audits.associations.stimulus_sets import Item
from portrayal.stats.permutation import two_sample
from portrayal.stats.specification import specifications

ALL = "all"
KEPT = 0.75  # share of each side's targets in a subset
DRAWS = 399  # bootstrap samples of a variant; the main row has more
SAMPLES = 5_000
LEVEL = 0.05


class _Grid(NamedTuple):
    """Cosines of targets (rows) with attributes (columns), and who the columns are."""

    cosines: np.ndarray
    attributes: Sequence[Item]
    in_a: np.ndarray
    in_x: np.ndarray
    targets: Sequence[str]  # who or what each row shows
    people: bool  # whether rows are clustered by it


def variants(
    system: str,
    test: AssociationTest,
    embeddings: Mapping[str, np.ndarray],
    settings: TestSettings,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return one row a specification: the choices, d, interval, p and whether it supports the claim (p < .05).

    Single-category tests have no target subsets; they and tests without any variant give no rows.
    """
    if not test.y or not settings.variants:
        return []
    grid = _grid(test, embeddings)
    rows = []
    for choice in specifications(_choices(grid, settings)):
        columns = _columns(grid.attributes, choice["prompt"], choice["article"])
        kept = _subset(grid, choice["subset"], test.name, seed)
        sides = _associations(grid, columns, kept)
        if sides is not None:
            named = {"system": system, "test": test.name, **choice}
            people = np.array(grid.targets)[kept] if grid.people else None
            rows += [{**named, **row} for row in _estimates(*sides, people, settings, seed)]
    return rows


def _grid(test: AssociationTest, embeddings: Mapping[str, np.ndarray]) -> _Grid:
    """Compute all cosines once; targets are those of the main specification."""
    targets = [(item, side) for side in ("x", "y") for item in test.items(side) if item.content in embeddings]
    targets = [(item, side) for item, side in targets if item.article != "literal"]
    attributes = [
        (item, side) for side in ("a", "b") for item in test.items(side) if item.content in embeddings
    ]
    rows = np.array([embeddings[item.content] for item, _ in targets])
    columns = np.array([embeddings[item.content] for item, _ in attributes])
    return _Grid(
        cosines(rows, columns),
        [item for item, _ in attributes],
        np.array([side == "a" for _, side in attributes]),
        np.array([side == "x" for _, side in targets]),
        [item.cluster or item.content for item, _ in targets],
        all(item.cluster is not None for item, _ in targets),
    )


def _choices(grid: _Grid, settings: TestSettings) -> dict[str, list[str]]:
    prompts = list(dict.fromkeys(item.prompt for item in grid.attributes))
    several = "prompts" in settings.variants and len(prompts) > 1
    literal = "article" in settings.variants and any(item.article == "literal" for item in grid.attributes)
    subsets = range(1, settings.subsets + 1) if "subsets" in settings.variants else ()
    return {
        "prompt": [ALL, *prompts] if several else [ALL],
        "article": ["right", "literal"] if literal else [settings.article],
        "subset": [ALL, *(str(number) for number in subsets)],
    }


def _columns(attributes: Sequence[Item], prompt: str, article: str) -> np.ndarray:
    fits = [prompt in (ALL, item.prompt) for item in attributes]
    spelt = [item.article in (article, "same") for item in attributes]
    return np.array(fits) & np.array(spelt)


def _subset(grid: _Grid, number: str, test: str, seed: int) -> np.ndarray:
    """Keep three quarters of each side's targets, whole people where they repeat, whatever the rows' order.

    A target's place in the draw comes from its own text, so that the rows' order and other targets do not matter.
    """
    if number == ALL:
        return np.ones(len(grid.targets), dtype=bool)
    keys = np.array([_key(f"{seed}/{test}/{number}/{target}") for target in grid.targets])
    kept = np.zeros(len(keys), dtype=bool)
    for side in (grid.in_x, ~grid.in_x):
        limit = np.sort(keys[side])[max(2, round(KEPT * side.sum())) - 1]
        kept |= side & (keys <= limit)
    return kept


def _key(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def _associations(grid: _Grid, columns: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return s of both sides, or None where a set is left with nothing to compare."""
    a, b = columns & grid.in_a, columns & ~grid.in_a
    x, y = kept & grid.in_x, kept & ~grid.in_x
    if not a.any() or not b.any() or min(x.sum(), y.sum()) < 2:
        return None
    s = grid.cosines[:, a].mean(axis=1) - grid.cosines[:, b].mean(axis=1)
    return s[x], s[y]


def _estimates(
    x: np.ndarray, y: np.ndarray, people: np.ndarray | None, settings: TestSettings, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each ddof; p and interval do not depend on it."""
    options: dict[str, Any] = {"alternative": settings.alternative, "permutations": SAMPLES, "seed": seed}
    test = two_sample(x, y, **options) if people is None else by_person(x, y, people, **options)[0]
    ends = effect_interval(x, y, clusters=people, draws=DRAWS, seed=seed)
    about = {
        "low": ends.low,
        "high": ends.high,
        "p": test.p,
        "n": len(x) + len(y),
        "supports": test.p < LEVEL,
    }
    ddofs = (1, 0) if "ddof" in settings.variants else (settings.ddof,)
    return [{"ddof": ddof, "value": effect_size(x, y, ddof), **about} for ddof in ddofs]
