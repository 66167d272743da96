"""Recorded answers about pictures that are not at hand: the files need not be there, unless a system looks at them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.study.questions import make_stimuli
from portrayal.study.study_file import make_study

NAMES = [
    f"{person}_{emotion}2_{condition}_{take}"
    for person in range(1, 6)
    for emotion in ("AN", "SA")
    for condition in ("NO", "O")
    for take in (1, 2)
]
STUDY = """
name = "recorded"
audit = "associations"

[[systems]]
name = "recorded"
use = "{use}"
parameters = {{ {parameters} }}

[associations]
variants = []

[[associations.test]]
name = "angry"
kind = "image"
cluster = "person"
x = {{ table = "{table}", where = {{ emotion = "anger", condition = "nonobjectified" }} }}
y = {{ table = "{table}", where = {{ emotion = "anger", condition = "objectified" }} }}
a = ["angry person", "angry adult"]
b = ["person", "adult"]
"""


def record_vectors(folder: Path) -> None:
    """Clothed pictures lie near the words of anger, others near the plain ones."""
    rng = np.random.default_rng(0)
    words = {"angry person": (1, 0), "angry adult": (1, 0.1), "person": (0, 1), "adult": (0.1, 1)}
    centres = words | {name: (1, 0.3) if "_NO_" in name else (0.3, 1) for name in NAMES}
    vectors = np.array([np.array(centre) + rng.normal(0, 0.05, 2) for centre in centres.values()])
    np.savez(folder / "vectors.npz", names=np.array(list(centres)), embeddings=vectors)
    (folder / "names.txt").write_text("\n".join(NAMES))
    pl.DataFrame(
        [
            {
                "content": f"gone/{name}.jpg",
                "person": name.split("_")[0],
                "emotion": "anger" if "AN" in name else "sadness",
                "condition": "nonobjectified" if "_NO_" in name else "objectified",
            }
            for name in NAMES
        ]
    ).write_csv(folder / "pictures.csv")


@pytest.mark.parametrize("table", ["sobem:names.txt", "pictures.csv"])
def test_recorded_embeddings_need_no_pictures(tmp_path: Path, table: str) -> None:
    record_vectors(tmp_path)
    text = STUDY.format(use="embeddings", parameters='path = "vectors.npz"', table=table)
    (tmp_path / "study.toml").write_text(text)
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    row = pl.read_parquet(tmp_path / "run" / "results.parquet").filter(pl.col("measure") == "eat")
    assert row.select("n", "n_missing", "counted").row(0) == (5, 0, "people")
    assert row["value"][0] > 1.5
    assert row["p"][0] == pytest.approx(1 / 32)  # five people, all one way: one of 2^5 sign patterns
    stimuli = pl.read_parquet(tmp_path / "run" / "stimuli.parquet")
    assert stimuli["hash"].n_unique() == stimuli.height  # a name stands for a picture that is not here


def test_a_picture_that_is_here_is_known_by_its_bytes(tmp_path: Path) -> None:
    record_vectors(tmp_path)
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "1_AN2_NO_1.jpg").write_bytes(b"picture")
    study = make_study(
        {
            "name": "s",
            "audit": "associations",
            "systems": [{"name": "r", "use": "embeddings", "parameters": {"path": "vectors.npz"}}],
            "associations": {
                "test": [
                    {
                        "name": "t",
                        "kind": "image",
                        "x": ["gone/1_AN2_NO_1.jpg"],
                        "y": ["gone/1_AN2_O_1.jpg"],
                        "a": ["a", "b"],
                        "b": ["c", "d"],
                    }
                ]
            },
        },
        tmp_path,
    )
    hashes = dict(make_stimuli(study).select("stimulus", "hash").iter_rows())
    assert hashes["gone/1_AN2_NO_1.jpg"] == hashlib.sha256(b"picture").hexdigest()
    assert hashes["gone/1_AN2_O_1.jpg"] == hashlib.sha256(b"name:1_AN2_O_1.jpg").hexdigest()


def test_an_encoder_that_looks_needs_the_pictures(tmp_path: Path) -> None:
    record_vectors(tmp_path)
    text = STUDY.format(use="http://127.0.0.1:9/", parameters="", table="pictures.csv")
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(PortrayalError, match="no picture at .*only recorded answers do without pictures"):
        flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)


SALIENCY = """
name = "recorded maps"
audit = "associations/saliency"

[[systems]]
name = "recorded"
use = "replay:shares.csv"

[associations]
table = "sobem:names.txt"
prompts = { anger = "a photo of an angry person" }
"""


def test_recorded_saliency_needs_no_pictures(tmp_path: Path) -> None:
    record_vectors(tmp_path)
    rows = [
        {"stimulus": f"a photo of an angry person | {name}", "tag": region, "confidence": share}
        for name in NAMES
        if "AN" in name
        for region, share in (("face", 0.7 if "_NO_" in name else 0.4), ("torso", 0.3 if "_NO_" in name else 0.6))
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "shares.csv")
    (tmp_path / "study.toml").write_text(SALIENCY)
    flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    face = table.filter(pl.col("measure") == "saliency_difference", pl.col("region") == "face")
    assert face["value"].to_list() == [pytest.approx(-0.3)]
