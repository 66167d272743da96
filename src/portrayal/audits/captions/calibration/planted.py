"""Scenes with one harm planted, as the stages' tables: what calibration shows to the captions techniques."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.audits.captions.measures.mentions import from_graphs
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.stages import (
    CAPTIONS,
    FAULTS,
    HUMAN_CAPTIONS,
    SYSTEM_CAPTIONS,
    Stages,
    empty,
)
from portrayal.audits.captions.phantom import PHANTOMS, Said, draws, graph, text
from portrayal.audits.captions.scenes import Scene, as_stages, make_scenes

SCENES = 300
RATE = 0.5
# Fewer splits than in an audit: they give the paper's interval, which is not what is calibrated.
OPTIONS = Options(splits=20, bootstraps=200, permutations=999, object_types=20)


def planted(name: str, number: int, rate: float, seed: int) -> Stages:
    """Return the four stages' tables for scenes in which this phantom plants its harm; nothing is parsed."""
    phantom = PHANTOMS[name]
    scenes = make_scenes(number, seed, phantom.world)
    stages = as_stages(scenes, seed, phantom.world.gendered)
    for stage, say in ((HUMAN_CAPTIONS, phantom.human), (SYSTEM_CAPTIONS, phantom.system)):
        said = [say(scene, rate, draws(f"{name} {stage} {seed}", scene.image)) for scene in scenes]
        stages = stages.with_system(*_tables(scenes, said, stage))
    return stages


def _tables(scenes: Sequence[Scene], said: Sequence[Said], stage: str) -> tuple[pl.DataFrame, ...]:
    mentions = from_graphs(((s.image, 0, graph(w)) for s, w in zip(scenes, said, strict=True)), stage)
    rows = [(scene.image, stage, 0, text(words)) for scene, words in zip(scenes, said, strict=True)]
    return mentions, pl.DataFrame(rows, schema=CAPTIONS, orient="row"), empty(FAULTS)
