"""Every experiment has a study that runs on what ships: it finds what was planted, and says that it is simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.associations.datasets.sobem import emotion_lexicon
from portrayal.audits.associations.experiments.phantom import (
    PhantomClipSettings,
    PhantomSaliencySettings,
    phantom_clip_vector,
    phantom_map,
)
from portrayal.audits.associations.shipped import FOLDER
from portrayal.run.contents import read_measured
from portrayal.run.folder import Run
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.study.study_file import read_study

# What is planted, as a measure, what the row is about, and its sign.
PLANTED = {
    "emotion_words": [("emotion_word_difference", {"emotion": e}, -1) for e in ("anger", "sadness", "happiness")],
    "saliency": [("saliency_difference", {"region": "torso"}, 1), ("saliency_difference", {"region": "face"}, -1)],
    "labels": [("sexualised_difference", {"group": g}, 1) for g in ("woman", "nonbinary person")],
    "depictions": [
        ("depicted_difference", {"group": "man", "occupation": "plumber"}, 1),
        ("depicted_difference", {"group": "woman", "occupation": "plumber"}, -1),
    ],
}


def test_every_experiment_has_a_study_in_the_demo() -> None:
    for name in EXPERIMENTS:
        (path,) = get_audit(name).demo
        study = read_study(path)
        assert study.audit == name
        assert all("simulated" in system.name for system in study.systems)
    assert set(PLANTED) == {name.partition("/")[2] for name in EXPERIMENTS}


@pytest.mark.parametrize("name", PLANTED)
def test_it_finds_what_was_planted_and_says_that_it_is_simulated(name: str, tmp_path: Path) -> None:
    (path,) = get_audit(f"associations/{name}").demo
    flow.audit(path, tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    for measure, about, sign in PLANTED[name]:
        rows = table.filter(pl.col("measure") == measure, *(pl.col(key) == value for key, value in about.items()))
        decided = rows.filter(pl.col("decision") == "found")
        assert decided.height == 1, f"{about} was not found"
        assert np.sign(decided["value"][0]) == sign
    study, measured = read_study(Run(tmp_path / "run").study), read_measured(Run(tmp_path / "run"))
    said = [finding.sentence for finding in get_audit(study.audit).findings(measured, study.settings)]
    assert said
    assert all("simulated" in sentence for sentence in said)


def test_the_demo_runs_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from portrayal.flow import demo

    asked: list[str] = []
    monkeypatch.setattr(demo, "require_parts", lambda *given: None)
    monkeypatch.setattr(demo, "_run_study", lambda path, out, quiet: asked.append(path.name) or demo.Ran(out))
    monkeypatch.setattr(demo.flow, "report", lambda folders, out, title, processes: out / "report.html")
    monkeypatch.setattr(demo, "main_findings", lambda folders: [])
    demo.run_demo(tmp_path, quiet=True)
    assert {f"associations_{name}.toml" for name in PLANTED} <= set(asked)
    assert len(asked) == sum(len(get_audit(stem).demo) for stem in (*AUDITS, *EXPERIMENTS))


def test_the_sentences_have_each_emotion_in_the_same_frames() -> None:
    sentences = (FOLDER / "data" / "sentences.txt").read_text().splitlines()
    words = {word for own in emotion_lexicon().values() for word in own}
    frames: dict[str, set[str]] = {}
    for sentence in sentences:
        named = sorted(set(sentence.split()) & words)
        plain = " ".join("a" if word == "an" else word for word in sentence.split() if word not in words)
        frames.setdefault(plain, set()).add(named[0] if named else "")
    assert len(frames) == 10
    assert all(kinds == {"", "angry", "sad", "smiling"} for kinds in frames.values())


def test_the_simulated_clip_sees_as_far_as_it_is_told() -> None:
    # The axes are the lexicon's emotions in order; averaged over people and photographs, what is left is what was planted.
    plan = PhantomClipSettings(sees={"nonobjectified": 0.8, "objectified": 0.2})
    axis = list(emotion_lexicon()).index("anger")
    for condition, intensity, planted in (("NO", "2", 0.8), ("O", "2", 0.2), ("NO", "1", 0.4)):
        names = [f"{person}_AN{intensity}_{condition}_1" for person in range(1, 401)]
        seen = [phantom_clip_vector(f"photograph:{name}", plan)[axis] for name in names]
        # Two noises of deviation .15: the mean of 400 is within 4 x .15 x sqrt(2 / 400) = .042.
        assert np.mean(seen) == pytest.approx(planted, abs=0.045)
    said = phantom_clip_vector("an angry woman.", plan)[axis] - phantom_clip_vector("a plain woman.", plan)[axis]
    assert said == pytest.approx(1, abs=1)


def test_the_simulated_maps_have_the_planted_share() -> None:
    plan = PhantomSaliencySettings(torso={"nonobjectified": 0.2, "objectified": 0.4}, deviation=0.05)
    for condition, planted in (("NO", 0.2), ("O", 0.4)):
        made = [phantom_map(f"{person}_AN2_{condition}_1.jpg", plan) for person in range(1, 301)]
        shares = np.array([[one["shares"][region] for region in ("face", "torso", "background")] for one in made])
        assert shares.sum(axis=1) == pytest.approx(np.ones(300))
        assert shares[:, 1].mean() == pytest.approx(planted, abs=0.012)  # 4 x .05 / sqrt(300)
        assert np.array(made[0]["grid"]).shape == (7, 7)
