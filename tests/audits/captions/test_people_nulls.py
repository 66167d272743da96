"""Captioners equal to people: who misgenders, leaves out and imposes as people do is said to do no harm of its own.

Each world is made and parsed once, with several such captioners in it: one system's tests are a family, whoever stands beside it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.captions import AUDIT, world
from portrayal.audits.captions.inputs import inputs_of
from portrayal.audits.captions.simulation import RACE_NAMED, WORLD, _caption, _plain
from portrayal.audits.captions.world import ASSIGNED
from portrayal.flow import audit_evidence
from portrayal.stats.decisions.decision import FOUND
from portrayal.study.audit import Evidence
from portrayal.study.study_file import make_study

IMAGES, REFERENCES = 80, 3
FEW = {"object_types": 5, "splits": 10, "bootstraps": 40, "processes": 1}
WITHOUT = ("stereotyping: amplification by leakage",)


def audit(seed: int, systems: int, groups: int = 0) -> tuple[pl.DataFrame, list, int]:
    """Return results and sentences of captioners who do what people do."""
    rng = np.random.default_rng([seed, 23])
    scenes = [_plain(scene) for scene in world.make_scenes(IMAGES, seed, WORLD)]
    race = rng.random(IMAGES) < RACE_NAMED

    def captions() -> list[tuple[str, str]]:
        return [(scene.image, _caption(scene, named, 0.0, rng)) for scene, named in zip(scenes, race, strict=True)]

    human = [row for _ in range(REFERENCES) for row in captions()]
    names = [f"system {place}" for place in range(systems)]
    said = [(name, image, 0, "answered", text) for name in names for image, text in captions()]
    settings = {"scenes": IMAGES, **FEW}
    asked = [{"name": name, "use": "phantom:captions"} for name in names]
    study = make_study({"name": "null", "audit": "captions", "seed": seed, "systems": asked, "captions": settings})
    stages = world.as_stages(scenes, seed, gendered=False)
    if groups:
        rows = [(scene.image, "origin", f"group {rng.integers(groups)}", ASSIGNED) for scene in scenes]
        further = pl.DataFrame(rows, schema=stages.people.schema, orient="row")
        stages = replace(stages, people=pl.concat([stages.people, further]))
    inputs = inputs_of(stages, pl.DataFrame(human, schema=["image", "text"], orient="row"), study)
    columns = ["system", "stimulus", "repeat", "status", "caption"]
    responses = pl.DataFrame(said, schema=columns, orient="row")
    results, findings = audit_evidence(study, Evidence(world.stimuli(scenes), responses, inputs, seed=seed))
    return results, findings, systems


def harmed(results: pl.DataFrame, findings: list, systems: int) -> tuple[set[str], set[str]]:
    """Return the systems of whom a harm is printed, and those of whom something is also true of people."""
    rows = [results.row(finding.row, named=True) for finding in findings]
    found = [row for row in rows if row["decision"] == FOUND]
    own = {row["system"] for row in found if AUDIT.kind_of(row) == "finding"}
    return own, {row["system"] for row in found} - own


@pytest.mark.parametrize(("audits", "systems", "groups"), [(8, 6, 0), (12, 1, 3)])
def test_captioners_equal_to_people_print_few_harms(audits: int, systems: int, groups: int) -> None:
    each = [harmed(*audit(seed, systems, groups)) for seed in range(audits)]
    printed, shared = (sum(len(one[place]) for one in each) for place in (0, 1))
    print(
        f"{audits} worlds of {systems} systems, {groups} further groups: {printed} print a harm, {shared} only people's"
    )
    assert printed <= stats.binom.ppf(0.999, audits * systems, 0.05)
    assert shared  # what they do is above the tolerances, and people do it too
