"""The paper's experiments with pictures as studies that ship: run on made-up pictures and a small random CLIP."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.associations.charts import effect_cells, effect_table
from portrayal.audits.associations.datasets.professionals import EXCLUSIONS, exclusions, list_pictures, professionals
from portrayal.audits.associations.picture_sets import PictureSet, picture_table, read_picture_set
from portrayal.errors import PortrayalError
from portrayal.study.questions import make_stimuli
from portrayal.study.study_file import make_study
from portrayal.tables import results
from systems.encoders import small_clip

PAPER_MODELS = [
    "ViT-B/32",
    "ViT-B/16",
    "ViT-L/14",
    "RN50",
    "RN101",
    "RN50x4",
    "RN50x16",
    "RN50x64",
    "ViT-B-32-quickgelu",
]


def shipped(name: str) -> dict:
    return tomllib.loads((files("portrayal.audits.associations") / "studies" / name).read_text())


def make_sobem(folder: Path, people: int = 3) -> None:
    folder.mkdir()
    seed = 0
    for person in range(1, people + 1):
        for emotion in ("AN1", "AN2", "SA1", "SA2", "HA1", "HA2", "NE"):
            for condition in ("NO", "O"):
                for take in (1, 2):
                    seed += 1
                    picture = small_clip.picture(seed, (40, 50))
                    picture.save(folder / f"{person}_{emotion}_{condition}_{take}.png")


def make_professionals(folder: Path, kept: int = 3) -> None:
    """Make pictures of three professions and two groups, of each so many and one that is left out."""
    rows = []
    for profession in ("science", "medicine", "business"):
        for group in ("woman", "man"):
            for place in range(kept + 1):
                name = f"{profession}_{group}_{place}.png"
                small_clip.picture(len(rows), (40, 50)).save(folder / name)
                judged = dict.fromkeys(EXCLUSIONS, "no") | ({"famous": "Yes"} if place == kept else {})
                rows.append({"content": name, "profession": profession, "group": group, **judged})
    pl.DataFrame(rows).write_csv(folder / "professionals.csv")


@pytest.mark.parametrize("name", ["associations_emotion.toml", "associations_professions.toml"])
def test_the_studies_name_the_nine_models_and_five_formats(name, tmp_path) -> None:
    data = shipped(name)
    assert [system["parameters"]["architecture"] for system in data["systems"]] == PAPER_MODELS
    assert data["associations"]["alternative"] == "two-sided"
    make_sobem(tmp_path / "SOBEM", people=2)
    make_professionals(tmp_path)
    stimuli = make_stimuli(make_study(data, tmp_path))
    texts = stimuli.filter(pl.col("kind") == "text")["stimulus"].to_list()
    for prompt in ("{}", "a {}", "a photo of a {}", "an image of a {}", "a picture of a {}"):
        assert prompt.format("person" if "emotion" in name else "scientist") in texts
    assert (stimuli.filter(pl.col("kind") == "image")["consent"] == "").all()


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize(
    ("name", "units"),
    [("associations_emotion.toml", "10 people on both sides"), ("associations_professions.toml", "20 + 20 targets")],
)
def test_the_papers_studies_can_be_planned(name, units, alternative, tmp_path) -> None:
    from portrayal.audits.associations.power import power_lines

    data = shipped(name)
    data["associations"]["alternative"] = alternative
    make_sobem(tmp_path / "SOBEM", people=10)
    make_professionals(tmp_path, kept=20)
    study = make_study(data, tmp_path)
    head, *lines = power_lines(study, make_stimuli(study))
    tests = len(data["associations"]["test"])
    assert head.startswith(f"about {tests} tests are corrected together" if tests > 1 else "nothing is corrected")
    told = [re.search(rf"{re.escape(units)} find d of (\d\.\d\d) or more", line) for line in lines]
    assert len(told) == tests
    # d cannot pass 2 for sides of equal size, and 0.5 is found with 80% power by no test of 40 pictures.
    assert all(found and 0.5 < float(found[1]) < 2 for found in told)


def run_shipped(name: str, folder: Path) -> Path:
    pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal-audit[torch]'")
    pytest.importorskip("transformers", reason="makes the small model: pip install 'portrayal-audit[torch]'")
    small_clip.save(folder / "model")
    text = (files("portrayal.audits.associations") / "studies" / name).read_text()
    head, _, settings = text.partition("[associations]")
    systems = "".join(
        f'[[systems]]\nname = "small {precision}"\nuse = "clip"\n'
        f'parameters = {{ path = "model", device = "cpu", precision = "{precision}" }}\n'
        for precision in ("float32", "bfloat16")
    )
    kept = head.partition("[[systems]]")[0] + systems
    path = folder / "study.toml"
    path.write_text(f"{kept}[associations]\nvariants = []\n{settings}")
    flow.audit(path, folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture(scope="module")
def emotion(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("emotion")
    make_sobem(folder / "SOBEM")
    return run_shipped("associations_emotion.toml", folder)


def test_the_emotion_study_permutes_within_person(emotion) -> None:
    table = pl.read_parquet(emotion / "results.parquet")
    tests = table.filter(pl.col("measure") == "eat")
    assert tests.height == 12  # three emotions, two intensities, two systems
    people = len({path.name.split("_")[0] for path in (emotion.parent / "SOBEM").iterdir()})
    assert tests["n"].to_list() == [people] * 12
    assert set(tests["counted"]) == {"people"}
    # Every test is called by what it compares, and told apart from those that compare the same.
    assert tests["test"].n_unique() == 6
    assert tests["test"][0].startswith(
        "women photographed clothed and the same women photographed partly undressed with"
    )
    assert tests["test"][0].endswith("(angry, high)")
    assert tests["note"].str.contains("within person").all()
    assert tests["note"].str.contains("two-sided").all()
    unpaired = table.filter(pl.col("measure") == "eat_unpaired")
    assert unpaired["p"].null_count() == 0
    assert unpaired.height == 12


def test_photographs_never_enter_the_run(emotion) -> None:
    originals = [path.read_bytes()[60:120] for path in (emotion.parent / "SOBEM").iterdir()]
    for path in emotion.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(mark in data for mark in originals), f"{path.name} holds a photograph"
    assert (emotion / "charts").is_dir()
    assert any("effect_table" in path.name for path in (emotion / "charts").iterdir())


def test_the_professions_study_leaves_exclusions_out(tmp_path) -> None:
    make_professionals(tmp_path)
    folder = run_shipped("associations_professions.toml", tmp_path)
    tests = pl.read_parquet(folder / "results.parquet").filter(pl.col("measure") == "eat")
    assert tests.height == 6
    assert tests["n"].to_list() == [6] * 6  # the famous one of four is left out on each side


def test_exclusions_are_counted_and_must_be_judged(tmp_path) -> None:
    make_professionals(tmp_path)
    path = tmp_path / "professionals.csv"
    assert exclusions(path) == {**dict.fromkeys(EXCLUSIONS, 0), "famous": 6}
    assert professionals(path).height == 18
    table = pl.read_csv(path).with_columns(watermark=pl.lit(None, pl.String))
    table.write_csv(path)
    with pytest.raises(PortrayalError, match="under watermark. Write yes or no"):
        professionals(path)
    table.drop("occluded").write_csv(path)
    with pytest.raises(PortrayalError, match="lacks column 'occluded'"):
        professionals(path)


def test_a_folder_becomes_a_table_to_judge(tmp_path) -> None:
    place = tmp_path / "science" / "woman"
    place.mkdir(parents=True)
    small_clip.picture().save(place / "1.png")
    table = list_pictures(tmp_path)
    assert table.row(0, named=True)["content"] == "science/woman/1.png"
    assert table["famous"].to_list() == [""]
    with pytest.raises(PortrayalError, match="holds no picture"):
        list_pictures(place)


FACTORS = {"content": ["a.png", "b.png", "c.png"], "gender": ["woman", "woman", "man"], "race": ["B", "W", "B"]}


def test_intersections_of_any_factors(tmp_path) -> None:
    pl.DataFrame(FACTORS).write_csv(tmp_path / "t.csv")
    both = PictureSet(table="t.csv", where={"gender": "woman", "race": ["B", "W"]})
    assert [item.content for item in read_picture_set(both, "x", tmp_path, None)] == ["a.png", "b.png"]
    one = PictureSet(table="t.csv", where={"gender": "woman", "race": "B"})
    assert [item.cluster for item in read_picture_set(one, "x", tmp_path, "content")] == [str(tmp_path / "a.png")]


@pytest.mark.parametrize(
    ("table", "where", "cluster", "message"),
    [
        ("t.csv", {"gendr": "woman"}, None, "no factor 'gendr'. Did you mean 'gender'"),
        ("t.csv", {"gender": "women"}, None, "Did you mean 'woman'"),
        ("t.csv", {"gender": "man", "race": "W"}, None, "is empty"),
        ("t.csv", {}, "person", "lacks column 'person'"),
        ("gone.csv", {}, None, "no table of pictures"),
        ("sobem:gone", {}, None, "asked for from its creators"),
    ],
)
def test_faults_of_picture_sets(tmp_path, table, where, cluster, message) -> None:
    pl.DataFrame(FACTORS).write_csv(tmp_path / "t.csv")
    with pytest.raises(PortrayalError, match=message.replace(".", r"\.")):
        read_picture_set(PictureSet(table=table, where=where), "x", tmp_path, cluster)


def test_image_image_tests_from_recorded_embeddings(tmp_path) -> None:
    """Targets and attributes are pictures; an encoder of pictures alone answers."""
    names = [f"{side}{place}.png" for side in "xyab" for place in range(4)]
    centres = {"x": [1, 0], "a": [1, 0], "y": [0, 1], "b": [0, 1]}
    rng = np.random.default_rng(0)
    vectors = {}
    for name in names:
        small_clip.picture(len(vectors), (20, 20)).save(tmp_path / name)
        vectors[name] = np.array(centres[name[0]]) + rng.normal(0, 0.2, 2)
    np.savez(tmp_path / "vectors.npz", names=np.array(names), embeddings=np.array(list(vectors.values())))
    sides = {side: [name for name in names if name[0] == side] for side in "xyab"}
    test = {"name": "t", "kind": "image", "attribute_kind": "image", **sides}
    system = {"name": "v", "use": "embeddings", "parameters": {"path": "vectors.npz"}}
    import json

    lines = ['name = "s"', 'audit = "associations"', "[[systems]]", 'name = "v"', 'use = "embeddings"']
    lines += ['parameters = { path = "vectors.npz" }', "[associations]", "variants = []", "[[associations.test]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in test.items()]
    (tmp_path / "study.toml").write_text("\n".join(lines))
    assert system["use"] == "embeddings"
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    row = pl.read_parquet(tmp_path / "run" / "results.parquet").row(0, named=True)
    assert row["value"] > 1.2
    assert row["p"] == pytest.approx(1 / 70)  # 8 choose 4 divisions, only the observed one reaches it


def test_the_papers_table_as_cells(shared) -> None:
    # Wolfe et al. (2023), Table 1: 54 effect sizes, stars where significant, also on negative effects.
    published = pl.read_csv(shared("published/associations/emotion_effect_sizes.csv"))
    rows = [
        {
            "audit": "associations",
            "system": row["model"],
            "measure": "eat",
            "test": f"{row['emotion']}, {row['intensity']}",
            "value": row["d"],
            "decision": "found" if row["significant"] == "yes" else "not found",
            "n": 40,
        }
        for row in published.iter_rows(named=True)
    ]
    cells = effect_cells(results(rows, facets=("test",)))
    assert cells.height == 54
    written = dict(zip(zip(cells["system"], cells["test"], strict=True), cells["written"], strict=True))
    assert written["CLIP ViT-L14", "happy, high"] == "−1.08*"
    assert written["CLIP ViT-B32", "sad, low"] == "1.42*"
    assert written["CLIP RN50x4", "happy, low"] == "−0.04"
    assert cells["shade"].min() == 0
    assert effect_table(results(rows, facets=("test",))).to_dict()["layer"]


def test_picture_table_names_what_it_knows(tmp_path) -> None:
    pl.DataFrame({"path": ["a"]}).write_csv(tmp_path / "x.csv")
    with pytest.raises(PortrayalError, match="lacks column 'content'"):
        picture_table("x.csv", tmp_path)
