"""A run is complete: measured and reported again where nothing else of its study is left, it gives the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger

PEOPLE = {"ann": "woman", "ada": "woman", "bo": "man", "ben": "man"}


def write_associations(folder: Path) -> None:
    rng = np.random.default_rng(0)
    sets = {"x": ["ann", "ada", "eve"], "y": ["bo", "ben", "carl"], "a": ["kind", "warm"], "b": ["cold", "hard"]}
    for name, words in sets.items():
        (folder / f"{name}.txt").write_text("\n".join(words))
    lines = [f"{word} {' '.join(map(str, rng.normal(size=5)))}" for words in sets.values() for word in words]
    (folder / "own.txt").write_text("\n".join(lines))
    (folder / "encoder.py").write_text("def embed(text):\n    return [float(ord(c)) for c in (text + '     ')[:5]]\n")
    files = "\n".join(f'{name} = "{name}.txt"' for name in sets)
    (folder / "study.toml").write_text(
        'name = "moved"\naudit = "associations"\n'
        '[[systems]]\nname = "file"\nuse = "vectors"\nparameters = { path = "own.txt" }\n'
        '[[systems]]\nname = "function"\nuse = "python:encoder:embed"\n'
        f'[[associations.test]]\nname = "mine"\n{files}\n'
    )


def write_search(folder: Path) -> None:
    held = folder / "held"
    held.mkdir()
    words = ["nurse", "engineer", "mother", "father", "teacher", "soldier", "dancer", "pilot"]
    documents = {
        f"d{place}": f"{word} {words[place - 1]} {'she' if place % 2 else 'he'}" for place, word in enumerate(words)
    }
    lines = [json.dumps({"id": name, "text": text}) for name, text in documents.items()]
    (held / "documents.jsonl").write_text("\n".join(lines))
    (held / "queries.tsv").write_text("".join(f"q{place}\t{word}\n" for place, word in enumerate(words)))
    (held / "qrels.tsv").write_text("".join(f"q{place} 0 d{place} 1\n" for place in range(len(words))))
    ranked = [f"q{q} Q0 d{(q + rank) % 8} {rank + 1} {9 - rank} mine\n" for q in range(8) for rank in range(3)]
    (folder / "mine.run").write_text("".join(ranked))
    pairs = ["she", "he", "her", "his", "woman", "man", "mother", "father", "daughter", "son", "mary", "john"]
    rng = np.random.default_rng(1)
    lines = [f"{word} {' '.join(map(str, rng.normal(size=8)))}" for word in dict.fromkeys([*words, *pairs])]
    (folder / "ruler.txt").write_text("\n".join(lines))
    (folder / "study.toml").write_text(
        'name = "moved"\naudit = "search"\n[[systems]]\nname = "mine"\nuse = "run:mine.run"\n'
        '[[systems]]\nname = "keyword"\nuse = "bm25"\nparameters = { collection = "held" }\n'
        '[search]\ncollection = "held"\nvectors = ["ruler.txt"]\npairs = [["she", "he"], ["woman", "man"]]\n'
    )


def write_captions(folder: Path) -> None:
    images = [f"image{place}" for place in range(24)]
    pl.DataFrame({"image": images}).write_csv(folder / "images.csv")
    said = [f"a {'woman' if place % 2 else 'man'} with a dog in a street" for place in range(24)]
    pl.DataFrame({"stimulus": images, "caption": said}).write_csv(folder / "captions.csv")
    human = [f"a {'girl' if place % 3 else 'man'} walks a dog" for place in range(24)]
    pl.DataFrame({"image": images, "text": human}).write_csv(folder / "human.csv")
    groups = {"gender": ("male", "female"), "skin tone": ("lighter", "darker")}
    rows = [(image, axis, both[place % 2]) for place, image in enumerate(images) for axis, both in groups.items()]
    people = pl.DataFrame(rows, schema=["image", "axis", "group"], orient="row")
    people.with_columns(assigned_by=pl.lit("annotators")).write_csv(folder / "people.csv")
    pl.DataFrame({"image": images, "kind": ["object"] * 24, "word": ["dog"] * 24}).write_csv(folder / "labels.csv")
    (folder / "rules.toml").write_text(
        '[[rules]]\nname = "girls"\nabout = [{axis = "gender", groups = ["female"]}]\nwords = ["girl"]\nstand_in = "perceived gender"\n'
    )
    (folder / "demeaning.csv").write_text("term,part,kind,source\nbrat,n,offensive,made up\n")
    (folder / "study.toml").write_text(
        'name = "moved"\naudit = "captions"\n[[systems]]\nname = "recorded"\nuse = "replay:captions.csv"\n'
        '[captions]\nimages = "images.csv"\nsplits = 10\nbootstraps = 20\npermutations = 99\nprocesses = 1\nrules = "rules.toml"\n'
        'lists = { demeaning = "demeaning.csv" }\nhuman_captions = { file = "human.csv" }\n'
        'human_labels = { labels = "labels.csv" }\npeople = { file = "people.csv" }\n'
    )


def write_contexts(folder: Path) -> None:
    rows, tags = [], []
    for person, gender in PEOPLE.items():
        for context in ("", "F1", "M1"):
            image = f"{person}{context}.png"
            rows.append(
                {
                    "image_id": image,
                    "person": person,
                    "context": context or None,
                    "gender": gender,
                    "race": "not stated",
                }
            )
            tags += [
                {"tagger": "mine", "image_id": image, "tag": tag, "confidence": 0.9}
                for tag in (gender, "smile", "tree")
            ]
    pl.DataFrame(rows).write_csv(folder / "people.csv")
    pl.DataFrame(tags).write_csv(folder / "tags.csv")
    shutil.copyfile(Path(flow.__file__).parents[1] / "text" / "lexicons" / "typology.csv", folder / "typology.csv")
    (folder / "study.toml").write_text(
        'name = "moved"\naudit = "contexts"\n[[systems]]\nname = "mine"\nuse = "replay:tags.csv"\n'
        '[contexts]\npeople = "people.csv"\ntypology = "typology.csv"\nmixed = false\n'
    )


def write_counterfactuals(folder: Path) -> None:
    from portrayal.pictures.series.values import steps

    series, rows = folder / "series", []
    series.mkdir()
    for person in range(6):
        for place, value in enumerate(steps("gender")):
            name = f"person{person}_gender_{value:+.2f}.png"
            Image.new("RGB", (8, 8), (person * 20, place * 30, 90)).save(series / name)
            rows.append(
                {"stimulus": name.removesuffix(".png"), "tag": "nurse" if place < 3 + person % 2 else "engineer"}
            )
    pl.DataFrame(rows).write_csv(folder / "tags.csv")
    (folder / "shares.csv").write_text("occupation,share\nnurse,0.1\nengineer,0.9\n")
    (folder / "study.toml").write_text(
        'name = "moved"\naudit = "counterfactuals"\n[[systems]]\nname = "mine"\nuse = "replay:tags.csv"\n'
        '[counterfactuals]\nseries = "series"\nsource = "drawn"\nconsent = "generated"\nage = "30-39"\nshares = "shares.csv"\n'
    )


STUDIES: dict[str, Callable[[Path], None]] = {
    "associations": write_associations,
    "search": write_search,
    "captions": write_captions,
    "contexts": write_contexts,
    "counterfactuals": write_counterfactuals,
}


def content(run: Path) -> dict[str, bytes]:
    """Return every file that measuring and reporting write."""
    paths = [path for path in run.rglob("*") if path.is_file() and "ledger" not in path.name and path.name != "lock"]
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(paths)}


def again(run: Path) -> None:
    """Measure and report in another process, another folder, without the study's modules."""
    for command in ("measure", "report"):
        done = subprocess.run(
            [sys.executable, "-m", "portrayal", command, str(run)], cwd=run.parent, capture_output=True, text=True,
            env={key: value for key, value in os.environ.items() if key != "PORTRAYAL_CACHE"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stem", STUDIES)
def test_a_moved_run_is_measured_and_reported_to_the_same_bytes(stem: str, tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    STUDIES[stem](study)
    flow.audit(study / "study.toml", study / "run", quiet=True)
    before = content(study / "run")
    assert "results.csv" in before and "report.html" in before
    moved = tmp_path / "elsewhere" / "run"
    moved.parent.mkdir()
    shutil.move(study / "run", moved)
    shutil.rmtree(study)
    for name in ("results.csv", "results.parquet", "responses.parquet", "report.html"):
        (moved / name).unlink()
    again(moved)
    after = content(moved)
    assert set(after) == set(before)
    assert [name for name in before if after[name] != before[name]] == []


def test_editing_the_recorded_file_afterwards_changes_nothing(tmp_path: Path) -> None:
    write_search(tmp_path)
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    before = content(tmp_path / "run")
    (tmp_path / "mine.run").write_text((tmp_path / "mine.run").read_text().replace(" 9 mine", " 1 mine"))
    again(tmp_path / "run")
    assert content(tmp_path / "run") == before


def test_measuring_runs_no_code_of_the_study(tmp_path: Path) -> None:
    write_associations(tmp_path)
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    before = content(tmp_path / "run")
    (tmp_path / "encoder.py").write_text("raise SystemExit('the study was run')\n")
    again(tmp_path / "run")
    assert content(tmp_path / "run") == before


def test_a_run_of_an_earlier_version_is_one_line_and_is_completed_by_recording(tmp_path: Path) -> None:
    write_associations(tmp_path)
    run = tmp_path / "run"
    flow.audit(tmp_path / "study.toml", run, quiet=True)
    before = pl.read_parquet(run / "results.parquet")
    with Ledger(run / "ledger.sqlite") as ledger:
        for column in ("kind", "reader"):
            ledger._connection.execute(f"ALTER TABLE questions DROP COLUMN {column}")
    shutil.rmtree(run / "inputs")
    with pytest.raises(PortrayalError, match=r"earlier version of Portrayal.*portrayal record") as error:
        flow.measure(run)
    assert "\n" not in str(error.value)
    asked = json.loads((run / "manifest.json").read_text())["waves"]
    flow.record_again(run, quiet=True)
    assert json.loads((run / "manifest.json").read_text())["waves"] == asked  # nothing was asked again
    flow.measure(run)
    flow.report([run])
    assert pl.read_parquet(run / "results.parquet").equals(before)


@pytest.mark.parametrize("damage", ["a file is gone", "the list is no JSON", "a table is cut"])
def test_damaged_inputs_are_one_line_and_are_mended_by_recording(damage: str, tmp_path: Path) -> None:
    write_search(tmp_path)
    run = tmp_path / "run"
    flow.audit(tmp_path / "study.toml", run, quiet=True)
    before = content(run)
    counts = run / "inputs" / "counts.parquet"
    if damage == "a file is gone":
        counts.unlink()
    elif damage == "a table is cut":
        counts.write_bytes(counts.read_bytes()[:40])
    else:
        (run / "inputs" / "inputs.json").write_text("{")
    with pytest.raises(PortrayalError, match=r"inputs is damaged .*portrayal record") as error:
        flow.measure(run)
    assert "\n" not in str(error.value)
    flow.record_again(run, quiet=True)
    flow.measure(run)
    flow.report([run])
    after = content(run)
    assert [name for name in before if after[name] != before[name] and name != "manifest.json"] == []
