"""Scenes with one harm planted, and what each technique makes of them: the confusion table of the captions audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.measures.captions import demeaning_words, erasing, objects_mentioned
from portrayal.measures.captions.mentions import from_graphs
from portrayal.measures.captions.options import Options
from portrayal.measures.captions.outcome import ESTIMATE, Outcome
from portrayal.measures.captions.stages import (
    CAPTIONS,
    FAULTS,
    HUMAN_CAPTIONS,
    SYSTEM_CAPTIONS,
    Stages,
    empty,
)
from portrayal.measures.captions.techniques import TECHNIQUES
from portrayal.stats.multiplicity import adjust
from portrayal.stimuli.scenes import Scene, as_stages, make_scenes
from portrayal.systems.captioners.phantoms import PHANTOMS, Said, draws, graph, text

QUICK = Options(splits=60, bootstraps=60, permutations=299, object_types=20)
FLOOR = 0.005  # a share is found when its whole interval lies above this; a perfect reader has none by chance


def planted(name: str, number: int, rate: float, seed: int) -> Stages:
    """Return the four stages' tables for scenes in which this phantom plants its harm; nothing is parsed."""
    phantom = PHANTOMS[name]
    scenes = make_scenes(number, seed, phantom.world)
    stages = as_stages(scenes, seed)
    for stage, say in ((HUMAN_CAPTIONS, phantom.human), (SYSTEM_CAPTIONS, phantom.system)):
        said = [say(scene, rate, draws(f"{name} {stage} {seed}", scene.image)) for scene in scenes]
        stages = stages.with_system(*_tables(scenes, said, stage))
    return stages


def _tables(scenes: Sequence[Scene], said: Sequence[Said], stage: str) -> tuple[pl.DataFrame, ...]:
    mentions = from_graphs(((s.image, 0, graph(w)) for s, w in zip(scenes, said, strict=True)), stage)
    rows = [(scene.image, stage, 0, text(words)) for scene, words in zip(scenes, said, strict=True)]
    return mentions, pl.DataFrame(rows, schema=CAPTIONS, orient="row"), empty(FAULTS)


def headline(key: str, outcome: Outcome) -> list[Mapping[str, Any]]:
    """Return the rows of a technique that decide whether it found something in the system captions."""
    rows = [r for r in outcome.rows if r["stage"] == SYSTEM_CAPTIONS]
    return [r for r in rows if _HEADLINES[key](r)]


def _whole(quantity: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda r: r["quantity"] == quantity and r.get("group") == "all" and not r.get("contrast")


_HEADLINES: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "stereotyping: words included wrongly": _whole("word correlated with a group included wrongly"),
    "stereotyping: objects correctly mentioned": lambda r: r["quantity"] == objects_mentioned.QUANTITY,
    "stereotyping: differing tuples": lambda r: True,
    "stereotyping: differing tuples across stages": lambda r: r["truth"] == HUMAN_CAPTIONS,
    "demeaning: demeaning words": lambda r: _whole(demeaning_words.QUANTITY)(r) and r["bound"] == ESTIMATE,
    "demeaning: people not mentioned": lambda r: bool(r.get("contrast")),
    "demeaning: context-specific harms": _whole("any context-specific harm"),
    "demeaning: identity adjectives used as nouns": _whole("any identity adjective used as a noun"),
    "erasing: artifacts not recognised": lambda r: r["quantity"] == erasing.EXCESS,
    "denying self-identification: identity terms imposed": _whole("identity term imposed on any axis"),
    "reifying: looks predict the group term": lambda r: True,
    "reifying: markedness": lambda r: bool(r.get("contrast")),
}
TESTED = tuple(_HEADLINES)


def found(key: str, outcome: Outcome) -> bool:
    """Say whether a technique found its harm: a corrected p under 5%, or a share whose interval excludes chance."""
    rows = headline(key, outcome)
    tested = [r["p"] for r in rows if r.get("p") is not None]
    if tested:
        return bool(np.nanmin(adjust(tested, "holm")) < 0.05)
    return any((r.get("low") or 0.0) > FLOOR for r in rows)


def confusion(number: int = 400, rate: float = 0.5, seed: int = 0, options: Options = QUICK) -> pl.DataFrame:
    """Return one row per phantom and one column per technique: true where the technique found something."""
    rows = []
    for name in PHANTOMS:
        stages = planted(name, number, rate, seed)
        marks = {key: found(key, TECHNIQUES[key].measure(stages, options)) for key in TESTED}
        rows.append({"planted": name, **marks})
    return pl.DataFrame(rows)
