"""Systems set beside each other: the error over all groups, the ratio of words, and pairs of systems on the same images."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal import flow
from portrayal.audits.captions.measures import audit, group_words
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import PEOPLE, SYSTEM_CAPTIONS, Options, Stages
from portrayal.stats.tests.proportions import ratio_of_sums

TEXTS = ["A woman.", "A man.", "A man.", "A person.", "A man.", "A man.", "A woman.", "A dog."]
GENDERS = ["female"] * 4 + ["male"] * 4


def read(texts: list[str], axis: str = "gender", groups: list[str] | None = None) -> Stages:
    images = [str(i) for i in range(len(texts))]
    rows = [(i, axis, g, "t") for i, g in zip(images, groups or GENDERS, strict=True)]
    stages = Stages(images, people=pl.DataFrame(rows, schema=PEOPLE, orient="row"))
    table = pl.DataFrame({"image": images, "text": texts})
    return stages.with_system(*read_captions(table, SYSTEM_CAPTIONS, images))


def row_of(outcome, measure: str, **columns) -> dict:
    return next(r for r in outcome.rows if r["measure"] == measure and all(r.get(k) == v for k, v in columns.items()))


def test_the_error_over_all_and_the_ratio_by_hand() -> None:
    outcome = group_words.TECHNIQUE.measure(read(TEXTS), Options())
    # Wrong: two of four women and one of four men.
    overall = row_of(outcome, group_words.WRONG, group="all")
    assert (overall["value"], overall["n"], overall["axis"]) == (3 / 8, 8, "gender")
    # Two captions have words of women and four words of men; as many women as men are annotated.
    ratio = row_of(outcome, group_words.RATIO, group="female", versus="male")
    assert (ratio["value"], ratio["null"], ratio["unit"]) == (0.5, 1.0, "ratio")
    # Its log has variance 1/2 + 1/4, times 8/7, with t of 7 degrees of freedom.
    half = stats.t.ppf(0.975, 7) * np.sqrt((1 / 2 + 1 / 4) * 8 / 7)
    assert (ratio["low"], ratio["high"]) == pytest.approx((0.5 * np.exp(-half), 0.5 * np.exp(half)))
    change = row_of(outcome, group_words.RATIO_CHANGE, group="female", versus="male")
    assert change["value"] == 0.5
    assert outcome.compared[0].values == {"0": 0, "1": 1, "2": 1, "3": 0, "4": 0, "5": 0, "6": 1, "7": 0}


def test_a_ratio_of_nothing_is_not_known() -> None:
    none = ratio_of_sums(np.zeros(4), np.zeros(4))
    assert np.isnan(none.value)
    zero = ratio_of_sums(np.zeros(4), np.ones(4))
    assert (zero.value, np.isnan(zero.low)) == (0.0, True)
    # People annotated three to one, and words three to one: no change, whatever the ratio.
    words, people = np.array([1.0, 1, 1, 0]), np.array([1.0, 1, 1, 0])
    assert ratio_of_sums(words, 1 - words, people, 1 - people).value == 1.0


def test_words_of_every_axis_that_has_some_are_right_or_wrong() -> None:
    texts = [
        "An old man.",
        "A young man.",
        "A man in an old car.",
        "An elderly woman.",
        "A young woman.",
        "An old woman.",
    ]
    outcome = group_words.TECHNIQUE.measure(read(texts, "age", ["old"] * 3 + ["young"] * 3), Options())
    told = {
        (r["group"], r["measure"]): r["value"]
        for r in outcome.rows
        if not r.get("versus") and r["measure"] in (group_words.RIGHT, group_words.WRONG, group_words.NEUTRAL)
    }
    assert told["old", group_words.RIGHT] == told["old", group_words.WRONG] == pytest.approx(1 / 3)
    assert told["old", group_words.NEUTRAL] == pytest.approx(1 / 3)  # the car is old, and nobody said whose age
    assert told["young", group_words.WRONG] == pytest.approx(2 / 3)
    assert row_of(outcome, group_words.TEST, axis="age")["value"] == pytest.approx(1 / 3 - 2 / 3)


def test_three_groups_are_all_compared() -> None:
    texts = ["A Muslim man.", "A Sikh man.", "A Jewish man."] * 2
    outcome = group_words.TECHNIQUE.measure(read(texts, "religion", ["muslim", "sikh", "jewish"] * 2), Options())
    pairs = {(r["group"], r["versus"]) for r in outcome.rows if r["measure"] == group_words.TEST}
    assert pairs == {("jewish", "muslim"), ("jewish", "sikh"), ("muslim", "sikh")}


@pytest.fixture
def run(tmp_path):
    """Three systems on forty images; the second misnames 12 women, the third is silent about ten images."""
    images = [f"i{i:02d}" for i in range(40)]
    (tmp_path / "images.csv").write_text("image\n" + "\n".join(images))
    people = [f"{i},gender,{'female' if int(i[1:]) < 20 else 'male'},t" for i in images]
    (tmp_path / "people.csv").write_text("image,axis,group,assigned_by\n" + "\n".join(people))
    words = {i: "woman" if int(i[1:]) < 20 else "man" for i in images}
    said = {
        "a": {i: f"A {words[i]}." for i in images},
        "b": {i: "A man." if int(i[1:]) < 12 else f"A {words[i]}." for i in images},
        "c": {i: f"A {words[i]}." for i in images[10:]},
    }
    rows = ["system,image,caption", *(f"{s},{i},{t}" for s, texts in said.items() for i, t in texts.items())]
    (tmp_path / "captions.csv").write_text("\n".join(rows))
    study = [
        'name = "t"\naudit = "captions"\n[family]\nmeasures = ["systems_difference"]\n[captions]\nimages = "images.csv"\nprocesses = 1\n'
        'people = { file = "people.csv" }\n'
    ]
    study += [
        f'[[systems]]\nname = "{s}"\nuse = "replay:captions.csv"\nparameters = {{ columns = {{ stimulus = "image" }},'
        f' where = {{ system = "{s}" }} }}\n'
        for s in said
    ]
    (tmp_path / "study.toml").write_text("\n".join(study))
    flow.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    return flow.measure(tmp_path / "run")


def test_systems_are_compared_on_the_images_both_described(run) -> None:
    rows = run.results.filter(pl.col("measure") == audit.PAIRED_TEST, pl.col("quantity") == group_words.WRONG)
    told = {(r["system"], r["against"], r["group"]): r for r in rows.iter_rows(named=True)}
    both = told["a", "b", "all"]
    # 12 images only the second has wrong: 2 / 2^12.
    assert (both["value"], both["n"], both["p"]) == (-12 / 40, 40, pytest.approx(2 / 2**12))
    assert told["a", "b", "female"]["value"] == -12 / 20
    third = told["b", "c", "all"]
    assert (third["n"], third["n_missing"], third["value"]) == (30, 10, pytest.approx(2 / 30))
    assert told["a", "c", "all"]["decision"] == "not tested"


def test_a_study_that_declares_it_reads_of_it(run) -> None:
    from portrayal.audits.captions.findings import find_sentences
    from portrayal.audits.captions.settings import CaptionsSettings

    told = " ".join(f.sentence for f in find_sentences(run, CaptionsSettings(images="images.csv")))
    assert "does less than b with the same images (wrong group word, all)" in told
