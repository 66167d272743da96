"""Scenes with one harm planted, as the stages' tables: phantoms write sentences, and the parser reads them."""

from __future__ import annotations

import polars as pl

from portrayal.audits.captions.measures.mentions import read_captions
from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.audits.captions.phantom import PHANTOMS, draws, text
from portrayal.audits.captions.scenes import as_stages, make_scenes

SCENES = 300
RATE = 0.5
# Fewer splits than in an audit: they give the paper's interval, which is not what is calibrated.
OPTIONS = Options(splits=20, bootstraps=200, permutations=999, object_types=20)


def planted(name: str, number: int, rate: float, seed: int) -> Stages:
    """Return the four stages' tables for scenes in which this phantom plants its harm, as an audit would read them."""
    phantom = PHANTOMS[name]
    scenes = make_scenes(number, seed, phantom.world)
    stages = as_stages(scenes, seed, phantom.world.gendered)
    for stage, say in ((HUMAN_CAPTIONS, phantom.human), (SYSTEM_CAPTIONS, phantom.system)):
        texts = [text(say(scene, rate, draws(f"{name} {stage} {seed}", scene.image))) for scene in scenes]
        table = pl.DataFrame({"image": stages.images, "text": texts})
        stages = stages.with_system(*read_captions(table, stage, stages.images))
    return stages
