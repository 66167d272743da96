"""Power of a captions study, for `portrayal plan`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb, isinf

import polars as pl

from portrayal.audits.captions.inputs import people_of
from portrayal.audits.captions.measures.demeaning_rules import read_rules
from portrayal.audits.captions.measures.group_words import worded_groups
from portrayal.audits.captions.reading.people import NAMED_BY
from portrayal.audits.captions.reading.stages import Options
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import smallest_share_difference
from portrayal.study.study import Study
from portrayal.text.formatting import percent, plural
from portrayal.text.words.harm_lists import read_list

LEFT_OUT = 0.1  # of depicted people, in captions of the group that is left out less
MOST_PAIRS = 6  # pairs of groups in the plan
LEAST = 2  # images of a group


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say which difference in omission is found in 80 of 100 audits."""
    sizes = _sizes(people_of(study))
    tests = study.corrected_together(planned_tests(sizes, study.settings), demeaning_tests(sizes, study.settings))
    pairs = [(axis, pair) for axis, groups in sizes.items() for pair in combinations(sorted(groups), 2)]
    if not pairs:
        return ["without annotated people no groups are compared"]
    alpha = level(tests, study.family.method)
    lines = [_line(axis, pair, sizes[axis], alpha) for axis, pair in pairs[:MOST_PAIRS]]
    return [study.correction(tests), *lines]


def _sizes(people: pl.DataFrame) -> Mapping[str, Mapping[str, int]]:
    counted = people.group_by("axis", "group").agg(images=pl.col("image").n_unique()).sort("axis", "group")
    axes = counted.group_by("axis", maintain_order=True)
    return {str(axis): dict(part.select("group", "images").iter_rows()) for (axis,), part in axes}


def level(tests: int, method: str) -> float:
    """Return the level that the first of these tests must reach."""
    return LEVEL if method in ("none", "benjamini-hochberg") else LEVEL / max(tests, 1)


def _line(axis: str, pair: tuple[str, str], groups: Mapping[str, int], alpha: float) -> str:
    first, second = (groups[group] for group in pair)
    label = f"{axis}, {plural(first, 'image')} annotated {pair[0]} and {second:,} {pair[1]}"
    if min(first, second) < LEAST:
        return f"{label}: too few to show a difference"
    gap = smallest_share_difference(LEFT_OUT, first, second, alpha)
    if isinf(gap):
        return f"{label}: no difference in who is left out would be found in 80 of 100 audits"
    return (
        f"{label}: a group left out {percent(gap).removesuffix('%')} percentage points more often than one left out in"
        f" {percent(LEFT_OUT)} of captions is found in 80 of 100 audits"
    )


def demeaning_tests(sizes: Mapping[str, Mapping[str, int]], settings: CaptionsSettings) -> int:
    """Return about how many tests of demeaning a system will have."""
    human, known = _stages(settings)
    pairs = sum(comb(len(groups), 2) for groups in sizes.values())
    return 2 + known * (1 + pairs) + (len(read_rules()) if sizes or human else 0)


def _stages(settings: CaptionsSettings) -> tuple[bool, bool]:
    """Tell whether there are human captions, and whether these or human labels."""
    human = settings.scenes is not None or settings.human_captions is not None
    return human, human or settings.human_labels is not None


def planned_tests(sizes: Mapping[str, Mapping[str, int]], settings: CaptionsSettings) -> int:
    """Return about how many tests a system will have: those its stages allow."""
    human, known = _stages(settings)
    labels = settings.scenes is not None or settings.human_labels is not None
    nameable = set(read_list("identity")["axis"])
    tests = 2 + 3 * known  # demeaning words and nouns; terms imposed, words included wrongly, people left out
    tests += len(read_rules()) if sizes or human else 0
    for axis, groups in sizes.items():
        each = 3 + known + 3 * human + labels  # tuples; left out; against human captions; objects
        named = NAMED_BY.get(axis, axis) in nameable
        each += named + bool(set(groups) & set(worded_groups(axis, Options())))
        tests += each * comb(len(groups), 2) + bool(set(groups) & set(worded_groups(axis, Options())))
        tests += len(groups) if named and known else 0  # looks
        if len(sizes) > 1:  # the worst of the groups that two axes make
            tests += (len(sizes) - 1) * bool(set(groups) & set(worded_groups(axis, Options())))
    return tests + comb(len(sizes), 2) * known
