"""The paper's tests as its authors ran them: their articles, their one-sided p, and their tables beside ours."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal import flow
from portrayal.audits.associations.measures.authors import authors_p
from portrayal.audits.associations.published import beside_published
from portrayal.audits.associations.stimuli import declared_tests
from portrayal.run.contents import read_measured
from portrayal.run.folder import Run
from portrayal.study.study_file import make_study
from portrayal.text.lexicons import read_lexicon

PROMPTS = ("{0}", "{1} {0}", "a photo of {1} {0}", "an image of {1} {0}", "a picture of {1} {0}")


def asked(base: str, side: str, **settings) -> list[str]:
    study = make_study(
        {
            "name": "s",
            "audit": "associations",
            "systems": [{"name": "e", "use": "phantom:associations"}],
            "associations": {
                **settings,
                "test": [{"name": "t", "base": base, "x": ["ada", "eva"], "y": ["bob", "tom"]}],
            },
        }
    )
    return [item.content for item in declared_tests(study)[0].items(side) if item.is_spelt(study.settings.article)]


# The published code (github.com/yanyiwei/clip-gender-bias) writes "an" before every stimulus of anger and "a" before all
# others, whatever they begin with: "a individual", "a adult", "a engineer", "a executive".
SIDES = [
    ("emotion_angry", "a", "an", "angry individual"),
    ("emotion_angry", "b", "a", "individual"),
    ("emotion_angry", "b", "a", "adult"),
    ("emotion_sad", "a", "a", "sad adult"),
    ("profession_science", "b", "a", "engineer"),
    ("profession_science", "a", "a", "person to undress"),
    ("profession_business", "b", "a", "executive"),
]


@pytest.mark.parametrize(("base", "side", "article", "stimulus"), SIDES)
def test_the_authors_articles(base, side, article, stimulus) -> None:
    texts = asked(base, side, procedure="wolfe2023")
    assert len(texts) == 30  # six stimuli in five formats
    for prompt in PROMPTS:
        assert prompt.format(stimulus, article) in texts


def test_the_other_articles_stay_what_they_are() -> None:
    assert "a photo of an individual" in asked("emotion_angry", "b")
    assert "a photo of a angry adult" in asked("emotion_angry", "a", article="literal")
    # A study may have the paper's p with the right articles.
    assert "a photo of an individual" in asked("emotion_angry", "b", procedure="wolfe2023", article="right")


def naive_p(x, y, draws, seed):
    """The authors' way step by step: shuffle, cut in half, fit a normal distribution."""
    rng = np.random.default_rng(seed)
    together = [*x, *y]
    drawn = []
    for _ in range(draws):
        order = rng.permutation(len(together))
        half = [together[place] for place in order[: len(order) // 2]]
        drawn.append(2 * sum(half) - sum(together))
    return 1 - stats.norm.cdf(sum(x) - sum(y), np.mean(drawn), np.std(drawn, ddof=1))


@pytest.mark.parametrize("shift", [-0.8, 0.0, 0.4, 0.9])
def test_the_authors_p_is_that_of_a_fitted_normal(shift) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(shift, 1, 20), rng.normal(0, 1, 20)
    # By formula: the difference of the sums of two random halves has mean 0 and variance n s^2 (s over all n = 40, ddof 1).
    pooled = np.concatenate([x, y]).std(ddof=1)
    exact = stats.norm.sf((x.sum() - y.sum()) / (np.sqrt(40) * pooled))
    assert authors_p(x, y, draws=20_000) == pytest.approx(exact, abs=0.006)
    assert authors_p(x, y, draws=1_000) == pytest.approx(naive_p(x, y, 1_000, 5), abs=0.03)
    assert authors_p(x[::-1], y[::-1]) == pytest.approx(authors_p(x, y), rel=1e-9)


def test_equal_associations_have_no_p() -> None:
    assert authors_p(np.ones(5), np.ones(5)) is None


def test_the_published_stars_follow_from_the_published_d() -> None:
    # d of 20 + 20 targets is a difference of d s; of sums 20 d s, over sqrt(40) s: z = d sqrt(10). Stars mark p < .05 or
    # p > .95, but for d = 0.51 and 0.52, whose p of .053 and .0500 lie within rounding and the noise of 1,000 draws
    # (z is known to 1 part in 45).
    table = read_lexicon("published_associations")
    assert table.height == 54 + 27
    odd = []
    for row in table.iter_rows(named=True):
        p = stats.norm.sf(float(row["d"]) * np.sqrt(10))
        if (p < 0.05 or p > 0.95) != (row["starred"] == "yes"):
            odd.append((row["system"], row["test"], row["d"]))
    assert odd == [("CLIP ViT-B16", "sad, high", "0.51"), ("CLIP RN50", "sad, low", "0.52")]


def test_the_tables_that_ship_are_the_published_ones(shared) -> None:
    ours = {
        (row["system"], row["test"]): (row["d"], row["starred"])
        for row in read_lexicon("published_associations").iter_rows(named=True)
    }
    theirs = {}
    for name, test in (
        ("emotion", lambda row: f"{row['emotion']}, {row['intensity']}"),
        ("profession", lambda row: row["profession"]),
    ):
        path = shared(f"published/associations/{name}_effect_sizes.csv")
        for row in csv.DictReader(path.read_text().splitlines()):
            theirs[row["model"], test(row)] = (row["d"], row["significant"])
    assert ours == theirs


STUDY = """
name = "as published"
audit = "associations"

[[systems]]
name = "CLIP ViT-B/32"
use = "embeddings"
parameters = {{ path = "vectors.npz" }}

[[systems]]
name = "another model"
use = "embeddings"
version = "2"
parameters = {{ path = "vectors.npz" }}

[associations]
{procedure}
alternative = "two-sided"
variants = []

[[associations.test]]
name = "angry, high"
base = "emotion_angry"
kind = "image"
cluster = "person"
x = {{ table = "sobem:names.txt", where = {{ emotion = "anger", condition = "nonobjectified" }} }}
y = {{ table = "sobem:names.txt", where = {{ emotion = "anger", condition = "objectified" }} }}

[[associations.test]]
name = "of our own"
kind = "image"
x = {{ table = "sobem:names.txt", where = {{ emotion = "sadness", condition = "nonobjectified" }} }}
y = {{ table = "sobem:names.txt", where = {{ emotion = "sadness", condition = "objectified" }} }}
a = ["sad person", "sad adult"]
b = ["person", "adult"]
"""
NAMES = [
    f"{person}_{emotion}2_{condition}_{take}"
    for person in range(1, 11)
    for emotion in ("AN", "SA")
    for condition in ("NO", "O")
    for take in (1, 2)
]


def run(folder: Path, procedure: str) -> Path:
    rng = np.random.default_rng(1)
    (folder / "names.txt").write_text("\n".join(NAMES))
    (folder / "study.toml").write_text(STUDY.format(procedure=procedure))
    study = make_study_of(folder)
    texts = {item.content for test in declared_tests(study) for side in "ab" for item in test.items(side)}
    vectors = {text: rng.normal(size=8) + (text.count("angry") - 0.5) for text in sorted(texts)}
    vectors |= {name: rng.normal(size=8) + (0.4 if "_NO_" in name else 0) for name in NAMES}
    np.savez(folder / "vectors.npz", names=np.array(list(vectors)), embeddings=np.array(list(vectors.values())))
    flow.audit(folder / "study.toml", folder / "run", quiet=True)
    return folder / "run"


def make_study_of(folder: Path):
    from portrayal.study.study_file import read_study

    return read_study(folder / "study.toml")


def test_the_papers_procedure_stands_beside_ours_and_beside_the_published(tmp_path) -> None:
    folder = run(tmp_path, 'procedure = "wolfe2023"')
    table = pl.read_parquet(folder / "results.parquet")
    theirs = table.filter(pl.col("measure") == "eat_published")
    ours = table.filter(pl.col("measure") == "eat")
    assert theirs.height == ours.height == 4
    assert theirs["value"].to_list() == ours["value"].to_list()
    assert set(theirs["sided"]) == {"one-sided"}
    assert set(ours["sided"]) == {"two-sided"}
    assert theirs["p_adjusted"].null_count() == 4  # outside the family
    assert theirs["note"].str.starts_with("the authors' procedure").all()
    beside = beside_published(read_measured(Run(folder)))
    rows = {(row["system"], row["test"]): row for row in beside.iter_rows(named=True)}
    known = rows["CLIP ViT-B/32", "angry, high"]
    assert (known["published_d"], known["published_starred"]) == (1.09, "yes")  # Table 1
    assert known["difference"] == pytest.approx(known["d"] - 1.09)
    assert rows["CLIP ViT-B/32", "of our own"]["published_d"] is None
    assert rows["another model", "angry, high"]["published_d"] is None
    page = (folder / "report.html").read_text()
    assert "Beside the published effect sizes" in page
    assert "Effect sizes as published" in page


def test_without_the_procedure_nothing_of_it_shows(tmp_path) -> None:
    folder = run(tmp_path, "")
    assert "eat_published" not in pl.read_parquet(folder / "results.parquet")["measure"]
    page = (folder / "report.html").read_text()
    assert "Effect sizes as published" not in page
    assert "Beside the published" not in page


@pytest.mark.parametrize(("name", "cells"), [("emotion", 54), ("professions", 27)])
def test_the_studies_that_ship_find_every_published_cell(name, cells) -> None:
    """Models and tests are named such that each of the paper's cells stands beside one of ours."""
    import tomllib

    from portrayal.audits.associations.shipped import shipped_study

    data = tomllib.loads(shipped_study(f"associations_{name}.toml").read_text())
    assert data["associations"]["procedure"] == "wolfe2023"
    plain = {
        ("".join(letter for letter in row["system"].lower() if letter.isalnum()), row["test"])
        for row in read_lexicon("published_associations").iter_rows(named=True)
    }
    asked = {
        ("".join(letter for letter in system["name"].lower() if letter.isalnum()), test["name"])
        for system in data["systems"]
        for test in data["associations"]["test"]
    }
    assert len(asked & plain) == len(asked) == cells
