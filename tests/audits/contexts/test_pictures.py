"""From tags to pictures: what the counting on numbers finds is what a loop over strings finds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.pictures import KEYS, WordLists, describe_pictures
from portrayal.audits.contexts.measures.views import cluster_shares, column
from portrayal.tables import changes, starts

TYPOLOGY = pl.DataFrame(
    {
        "tag": ["woman", "man", "enby", "smile", "café"],
        "super_cluster": ["demographics", "demographics", "demographics", "concrete", "concrete"],
        "sub_cluster": ["feminine", "masculine", "neither", "face", None],
    }
)
PLACES = pl.DataFrame({"context": ["kitchen", "office"], "tag": ["stove", "desk"]})
GENDERS = ("feminine", "masculine", "neither")
TAGS = ["woman", "man", "enby", "smile", "café", "stove", "desk", "unheard of", "東京", None]


def _answers(pictures: int, seed: int = 0, most: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{place % 3}", f"p{place // 3}", 0, "answered", TAGS[tag])
        for place in range(pictures)
        for tag in rng.integers(0, len(TAGS), rng.integers(1, most))
    ]
    return _table(rows)


def _table(rows: list[tuple[str, str, int, str, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(
        rows,
        schema={"system": pl.String, "stimulus": pl.String, "repeat": pl.Int64, "status": pl.String, "tag": pl.String},
        orient="row",
    )  # fmt: skip


def _stimuli(answers: pl.DataFrame) -> pl.DataFrame:
    names = sorted({*answers["stimulus"], "never shown"})
    contexts = ["kitchen" if place % 2 else "office" for place in range(len(names))]
    return pl.DataFrame({"stimulus": names, "context": contexts}, schema_overrides={"stimulus": pl.String})


def _by_loop(answers: pl.DataFrame) -> dict[tuple[object, ...], dict[str, object]]:
    """Count word by word: tags, those of each gender, smiles, and who has most."""
    found: dict[tuple[object, ...], dict[str, object]] = {}
    for (*key,), part in answers.group_by(KEYS, maintain_order=True):
        said = Counter(part.filter(pl.col("status") == "answered")["tag"].drop_nulls().to_list())
        of_gender = [said["woman"], said["man"], said["enby"]]
        best = max(of_gender)
        alone = best > 0 and of_gender.count(best) == 1
        found[tuple(key)] = {
            "tags": said.total(),
            "known": said.total() - said["unheard of"] - said["東京"],
            column("concrete"): said["smile"] + said["café"],
            **{column(name): count for name, count in zip(GENDERS, of_gender, strict=True)},
            "inferred": GENDERS[of_gender.index(best)] if alone else "neutral",
        }
    return found


def _holds(answers: pl.DataFrame, stimuli: pl.DataFrame | None = None) -> pl.DataFrame:
    shown = _stimuli(answers) if stimuli is None else stimuli
    pictures = describe_pictures(shown, answers, WordLists(TYPOLOGY, PLACES), GENDERS)
    wanted = _by_loop(answers)
    assert [tuple(row) for row in pictures.select(KEYS).iter_rows()] == list(wanted)
    for name in next(iter(wanted.values()), {}):
        assert pictures[name].to_list() == [row[name] for row in wanted.values()], name
    of_stimulus = dict(shown.select("stimulus", "context").iter_rows())
    assert pictures["context"].to_list() == [of_stimulus[name] for name in pictures["stimulus"]]
    return pictures


def test_counts_and_three_genders_are_those_of_a_loop() -> None:
    _holds(_answers(60))
    _holds(_answers(60, most=300))


def test_rows_in_any_order_and_stimuli_in_theirs() -> None:
    answers = _answers(40, seed=1)
    mixed = answers.sample(fraction=1.0, shuffle=True, seed=2)
    _holds(mixed)
    _holds(answers, _stimuli(answers).reverse())
    alone = answers.filter(pl.col("system") == "s0")
    _holds(alone, _stimuli(alone).filter(pl.col("stimulus") != "never shown").sort("stimulus"))


def test_a_system_that_failed_is_silent_and_a_null_is_no_tag() -> None:
    rows = [
        ("s", "p0", 0, "failed", None),
        ("s", "p1", 0, "answered", None),
        ("s", "p2", 0, "failed", "woman"),  # told with a failure: not counted
        ("s", "p3", 0, "answered", "woman"),
        ("s", "p3", 0, "answered", "woman"),
    ]
    pictures = _holds(_table(rows))
    assert pictures["tags"].to_list() == [0, 0, 0, 2]
    assert np.isnan(cluster_shares(pictures, ["feminine"])[:, 0]).tolist() == [True, True, True, False]
    assert pictures["inferred"].to_list() == ["neutral", "neutral", "neutral", "feminine"]


def test_one_picture_no_picture_and_more_tags_than_a_byte_counts() -> None:
    _holds(_answers(1))
    _holds(_answers(60)[:0])
    long = _table([("s", "p0", 0, "answered", "man")] * 300 + [("s", "p1", 0, "answered", "smile")])
    assert _holds(long)[column("masculine")].to_list() == [300, 0]


def test_a_second_batch_of_a_picture_counts_with_the_first() -> None:
    rows = [("s", "p0", 0, "answered", "man"), ("s", "p1", 0, "answered", "man"), ("s", "p0", 0, "answered", "woman")]
    assert _holds(_table(rows))["inferred"].to_list() == ["neutral", "masculine"]


def test_a_key_that_is_null_is_a_key() -> None:
    told = pl.DataFrame({"stimulus": ["a", None, None, "b", "b"]}, schema={"stimulus": pl.String})
    assert starts(told, ["stimulus"]).to_list() == [True, True, False, True, False]
    assert changes(told, ["stimulus"]).to_list() == [True, False, True, False]
    assert starts(told[:0], ["stimulus"]).to_list() == []
    assert starts(told[:1], ["stimulus"]).to_list() == [True]
