"""The associations audit: stimuli, declared tests, what is missing, variants, words, and the whole flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.associations import AUDIT
from portrayal.audits.associations.measures import eat
from portrayal.errors import PortrayalError
from portrayal.runs.audit import Evidence, Measured
from portrayal.runs.registry import get_audit
from portrayal.runs.study import Study
from portrayal.runs.study_file import make_study, read_study
from portrayal.runs.work import make_stimuli
from portrayal.tables import check_stimuli
from portrayal.text.word_lists import ASSOCIATIONS, association_test, load, word_list

SYSTEM = {"name": "e", "use": "glove"}
WARM = {"x": ["ada", "eva", "ida"], "y": ["bob", "tom", "max"], "a": ["warm", "kind"], "b": ["cold", "stern"]}


def study(**settings: Any) -> Study:
    data = {"name": "s", "audit": "associations", "systems": [SYSTEM], "associations": settings}
    return make_study(data)


def own(**changes: Any) -> dict[str, Any]:
    return {"name": "warmth", **WARM, **changes}


def measured(this: Study, vectors: dict[str, Any], status: dict[str, str] | None = None) -> Measured:
    """Measure a study on the vectors given; other stimuli come back with the status named, or empty."""
    stimuli = make_stimuli(this)
    rows = [
        {
            "system": "e",
            "stimulus": stimulus,
            "repeat": 0,
            "status": "answered" if stimulus in vectors else (status or {}).get(stimulus, "empty"),
            "embedding": vectors.get(stimulus),
        }
        for stimulus in stimuli["stimulus"]
    ]
    schema = {"system": pl.String, "stimulus": pl.String, "repeat": pl.Int64, "status": pl.String}
    responses = pl.DataFrame(rows, schema={**schema, "embedding": pl.List(pl.Float64)})
    evidence = Evidence(stimuli, responses, AUDIT.inputs(this), None, this.seed)
    return flow.measure_evidence(this, evidence)


def random_vectors(this: Study, seed: int = 0) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {stimulus: rng.normal(size=8).tolist() for stimulus in sorted(make_stimuli(this)["stimulus"])}


def test_a_text_is_asked_once_however_many_sets_it_stands_in() -> None:
    stimuli = make_stimuli(study(tests=["weat1", "weat2"]))
    texts = [
        word
        for test in ("weat1", "weat2")
        for side in "xyab"
        for word in word_list(association_test(test)[side])
    ]
    assert stimuli.height == len(set(texts)) < len(texts)
    assert stimuli["hash"].n_unique() == stimuli.height
    love = stimuli.row(by_predicate=pl.col("stimulus") == "love", named=True)
    assert love["sets"] == "weat1.a weat2.a"
    assert love["consent"] == "none shown"
    assert check_stimuli(stimuli).height == stimuli.height


def test_the_papers_templates() -> None:
    stimuli = make_stimuli(study(test=[own(base="emotion_angry", a=None, b=None)]))["stimulus"].to_list()
    assert "an image of an angry person" in stimuli
    assert "an image of a angry person" in stimuli  # the printed form, for the variant
    assert "a photo of a woman" in stimuli
    assert "a photo of a ada" not in stimuli  # targets are not put into templates
    # 6 stimuli in 5 formats on each side, 6 targets; the printed article differs in 4 formats for all six of A
    # and for "individual" and "adult" of B.
    assert len(stimuli) == 30 + 30 + 6 + 4 * 6 + 4 * 2


def test_the_row_is_that_of_eat() -> None:
    this = study(test=[own()], variants=[])
    vectors = random_vectors(this)
    row = measured(this, vectors).results.row(0, named=True)
    matrices = [[vectors[word] for word in WARM[side]] for side in "xyab"]
    direct = eat(*matrices).row(0, named=True)
    assert {name: row[name] for name in ("value", "low", "high", "p", "n")} == {
        name: direct[name] for name in ("value", "low", "high", "p", "n")
    }
    assert row["note"].startswith("stimuli left: X 3 of 3, Y 3 of 3, A 2 of 2, B 2 of 2; exact p")
    assert (row["system"], row["group"], row["p_adjusted"]) == ("e", "warmth", row["p"])


def test_missing_words_are_reported_and_counted() -> None:
    this = study(test=[own()], variants=[])
    vectors = random_vectors(this)
    del vectors["tom"], vectors["kind"]
    vectors["stern2"] = vectors["stern"]
    with pytest.raises(PortrayalError, match="test 'warmth' has 1 of 2 stimuli left in A"):
        measured(this, vectors)
    this = study(test=[own(a=["warm", "kind", "mild"])], variants=[])
    vectors = random_vectors(this)
    del vectors["tom"], vectors["kind"]
    found = measured(this, vectors)
    row = found.results.row(0, named=True)
    assert (row["n"], row["n_missing"]) == (5, 1)
    assert "Y 2 of 3, A 2 of 3" in row["note"]
    assert found.tables["missing"].rows() == [("e", "warmth", "Y", "tom"), ("e", "warmth", "A", "kind")]
    assert found.warnings == ["e: warmth is computed without tom, kind (no vector)."]


def test_refused_and_failed_answers_are_missing_too() -> None:
    this = study(test=[own(x=["ada", "eva", "ida", "una"])], variants=[])
    vectors = random_vectors(this)
    del vectors["una"], vectors["eva"]
    found = measured(this, vectors, {"una": "refused", "eva": "failed"})
    assert found.results["n_missing"].item() == 2


def test_a_test_left_too_small_is_an_error_or_a_row() -> None:
    vectors = random_vectors(study(test=[own()]))
    del vectors["bob"], vectors["tom"]
    with pytest.raises(PortrayalError, match=r"e: test 'warmth' has 1 of 3 stimuli left in Y \(Y\).*too_few"):
        measured(study(test=[own()]), vectors)
    row = measured(study(test=[own()], too_few="report"), vectors).results.row(0, named=True)
    assert (row["value"], row["p"], row["n"], row["n_missing"]) == (None, None, 4, 2)
    assert "not computed: 1 of 3 stimuli left in Y" in row["note"]


def test_people_in_both_sets_get_both_p_values() -> None:
    this = study(test=[own(x_cluster=["1", "2", "3"], y_cluster=["3", "1", "2"])], variants=[])
    found = measured(this, random_vectors(this)).results
    assert found["measure"].to_list() == ["eat", "eat_unpaired"]
    assert "within person" in found["note"][0]
    assert found["p"][0] * 8 == pytest.approx(round(found["p"][0] * 8))  # of 2^3 arrangements
    assert found["p"][1] * 20 == pytest.approx(round(found["p"][1] * 20))  # of C(6, 3)
    assert found["value"][0] == found["value"][1]
    assert "taken as different people" in found["note"][1]
    assert found["p_adjusted"][1] is None  # the family is the declared measure alone


def test_the_single_category_form() -> None:
    this = study(test=[own(y=None)], variants=[])
    row = measured(this, random_vectors(this)).results.row(0, named=True)
    assert (row["measure"], row["n"]) == ("scweat", 4)
    assert "target fixed" in row["note"]


def test_the_specification_curve() -> None:
    this = study(test=[own(base="emotion_angry", a=None, b=None)], subsets=3)
    found = measured(this, random_vectors(this))
    table = found.tables["specifications"]
    # (all + 5 prompts) x 2 articles x (all + 3 subsets) x 2 ddof
    assert table.height == 6 * 2 * 4 * 2
    whole = table.filter(
        (pl.col("prompt") == "all")
        & (pl.col("article") == "right")
        & (pl.col("subset") == "all")
        & (pl.col("ddof") == 1)
    ).row(0, named=True)
    main = found.results.row(0, named=True)
    assert whole["value"] == pytest.approx(main["value"])
    assert whole["p"] == main["p"]
    assert table.filter(pl.col("subset") == "1")["n"].unique().to_list() == [4]  # three quarters of 3 + 3
    assert (table["supports"] == (table["p"] < 0.05)).all()
    literal = table.filter((pl.col("article") == "literal") & (pl.col("prompt") == "a [stimulus]"))
    right = table.filter((pl.col("article") == "right") & (pl.col("prompt") == "a [stimulus]"))
    assert not np.allclose(literal["value"], right["value"])
    shares = {shown.name: shown for shown in AUDIT.tables(found, AUDIT.settings.model_construct())}[
        "support"
    ].table
    assert shares["specifications"].item() == 96


def test_relabelling_only_relabels_and_order_never_matters() -> None:
    this = study(tests=["weat6"], variants=[])
    vectors = random_vectors(this)
    one = measured(this, vectors)
    turned = study(
        test=[
            {
                "name": "weat6",
                "base": "weat6",
                "x": list(reversed(word_list("weat:male_names"))),
                "x_name": "Xs",
            }
        ],
        variants=[],
    )
    other = measured(turned, vectors)
    assert other.results["value"].item() == pytest.approx(one.results["value"].item())
    assert other.results["p"].item() == one.results["p"].item()
    assert other.results["contrast"].item().startswith("Xs - women's names")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "names no test"),
        ({"tests": ["weat11"]}, "Did you mean 'weat1'"),
        ({"tests": ["weat1", "weat1"]}, "test 'weat1' is listed twice"),
        ({"tests": ["emotion_angry"]}, "test 'emotion_angry' has no x"),
        ({"test": [own(x=[])]}, "x of test 'warmth' is empty"),
        ({"test": [own(a=["warm", "warm"])]}, "a of test 'warmth' lists 'warm' twice"),
        ({"test": [own(a=["warm", " "])]}, "holds an empty stimulus"),
        ({"test": [own(b=["cold", "warm"])]}, "has .warm. in a and in b"),
        ({"test": [own(b="weat:flower")]}, "Did you mean 'weat:flowers'"),
        ({"test": [own(b="absent.txt")]}, "no file at absent.txt for b of test"),
        ({"test": [own(x_cluster=["1"])]}, "3 stimuli and 1 cluster ids"),
        ({"tests": ["weat1"], "templates": "papers"}, r"has no \[stimulus\]"),
    ],
)
def test_bad_studies_are_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PortrayalError, match=message) as error:
        make_stimuli(study(**settings))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": [{**own(), "z": []}]}, "unknown key"),
        ({"ddoff": 1}, "Did you mean 'ddof'"),
        ({"ddof": 2}, "ddof is 2"),
        ({"alternative": "more"}, "alternative is 'more'"),
    ],
)
def test_unknown_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PortrayalError, match=message):
        study(**settings)


def test_sets_from_files(tmp_path: Path) -> None:
    pl.DataFrame({"content": ["ada", "eva"], "person": ["1", "2"], "license": ["CC0", ""]}).write_csv(
        tmp_path / "x.csv"
    )
    pl.DataFrame({"content": ["bob", "tom"], "person": ["2", "1"]}).write_parquet(tmp_path / "y.parquet")
    (tmp_path / "a.txt").write_text("warm\n\nkind\n")
    test = {"name": "t", "x": "x.csv", "y": "y.parquet", "a": "a.txt", "b": WARM["b"], "cluster": "person"}
    data = {"name": "s", "audit": "associations", "systems": [SYSTEM], "associations": {"test": [test]}}
    this = make_study(data, tmp_path)
    stimuli = make_stimuli(this)
    assert stimuli["stimulus"].to_list() == ["ada", "eva", "bob", "tom", "warm", "kind", "cold", "stern"]
    assert stimuli["license"][0] == "CC0"
    assert [item["cluster"] for item in AUDIT.inputs(this)["tests"][0]["y"]] == ["2", "1"]
    (tmp_path / "x.csv").write_text("word\nada\n")
    with pytest.raises(PortrayalError, match=r"x.csv lacks column 'content' \(found: word\)"):
        make_stimuli(this)


def test_findings_name_the_harm_and_the_figures() -> None:
    this = study(test=[own(harm="denying men warmth", x_name="women", y_name="men")], variants=[])
    axis = {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0]}
    lean = {"x": [0.9, 0.1, 0.0], "y": [0.1, 0.9, 0.0]}
    spread = np.random.default_rng(0).normal(0, 0.01, (6, 3))
    words = [*WARM["x"], *WARM["y"]]
    vectors = {
        word: (lean["x" if word in WARM["x"] else "y"] + spread[i]).tolist() for i, word in enumerate(words)
    }
    vectors |= {word: axis[side] for side in "ab" for word in WARM[side]}
    found = measured(this, vectors)
    (finding,) = AUDIT.findings(found, AUDIT.settings.model_construct())
    assert finding.row == 0
    # Three against three: one of twenty divisions is as extreme, so p = .05 is not under .05.
    assert finding.sentence.startswith("e was not found to tie women to A and men to B: d = ")
    assert "n = 6, adjusted p = .050" in finding.sentence
    assert finding.sentence.endswith("it would have been a sign of denying men warmth.")


def test_findings_against_the_direction_do_not_claim_the_harm() -> None:
    this = study(tests=["weat6"], alternative="two-sided", variants=[])
    names = {name: word_list(association_test("weat6")[name]) for name in "xyab"}
    rng = np.random.default_rng(0)
    lean = {"x": [0.1, 0.9], "y": [0.9, 0.1], "a": [1.0, 0.0], "b": [0.0, 1.0]}
    vectors = {w: (np.array(lean[s]) + rng.normal(0, 0.01, 2)).tolist() for s in "xyab" for w in names[s]}
    (finding,) = AUDIT.findings(measured(this, vectors), AUDIT.settings.model_construct())
    assert "stereotyping" not in finding.sentence
    assert "against the direction of the test" in finding.sentence
    assert "ties men's names to family words and women's names to career words" in finding.sentence


def test_power_for_the_plan() -> None:
    this = study(tests=["weat1"])
    (line,) = AUDIT.power(this, make_stimuli(this))
    assert line.startswith("weat1: 25 + 25 targets find d of 0.6")


@pytest.mark.parametrize("name", [name for file in ASSOCIATIONS for name in load(file)["tests"]])
def test_every_test_that_ships_is_whole(name: str) -> None:
    test = association_test(name)
    sides = [side for side in "xyab" if side in test]
    assert sides in (list("xyab"), list("ab"))
    for side in sides:
        words = word_list(test[side])
        assert len(set(words)) == len(words) >= 2
        assert test[f"{side}_name"]


def test_the_studies_that_ship_are_whole() -> None:
    assert [path.name for path in AUDIT.demo] == ["associations.toml", "associations_templates.toml"]
    for path in AUDIT.demo:
        assert make_stimuli(read_study(path)).height > 100
    assert get_audit("associations") is AUDIT
    assert AUDIT.validity


def test_the_whole_flow_on_a_phantom(tmp_path: Path) -> None:
    sets = {side: [f"{side}{number}" for number in range(14)] for side in "xy"} | {
        side: [f"{side}{number}" for number in range(4)] for side in "ab"
    }
    lines = "\n".join(f"{side} = {words!r}" for side, words in sets.items())
    (tmp_path / "study.toml").write_text(
        'name = "phantom"\naudit = "associations"\n'
        '[[systems]]\nname = "planted"\nuse = "phantom:associations"\n'
        f"[systems.parameters]\nd = 1.4\n{lines}\n"
        '[[systems]]\nname = "null"\nuse = "phantom:associations"\n'
        f"[systems.parameters]\n{lines}\n"
        f'[associations]\nsubsets = 2\n[[associations.test]]\nname = "t"\nharm = "harming X"\n{lines}\n'
    )
    page = flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    planted, null = (
        table.row(by_predicate=pl.col("system") == name, named=True) for name in ("planted", "null")
    )
    assert planted["low"] < 1.4 < planted["high"]
    assert planted["p_adjusted"] < 0.01 < null["p_adjusted"]
    text = page.read_text()
    assert 'id="associations"' in text
    assert "a sign of harming X" in text
    assert "Specification curve" in text


def test_targets_in_prompts_stay_one_target_each() -> None:
    templates = ["[stimulus]", "the name [stimulus]"]
    this = study(test=[own()], templates=templates, template_sets=["x", "y"], variants=["subsets"], subsets=2)
    found = measured(this, random_vectors(this))
    row = found.results.row(0, named=True)
    assert row["n"] == 12  # 3 + 3 targets in two prompts
    assert "between persons" in row["note"]
    assert row["p"] * 20 == pytest.approx(round(row["p"] * 20))  # of C(6, 3), not of C(12, 6)
    assert found.tables["specifications"]["n"].to_list() == [12, 8, 8]


def test_a_vector_of_nan_is_named() -> None:
    this = study(test=[own()])
    for bad in ([float("nan")] * 8, [0.0] * 8):
        vectors = {**random_vectors(this), "tom": bad}
        with pytest.raises(PortrayalError, match="'e' answered 'tom' with a vector of NaN or of length zero"):
            measured(this, vectors)
    with pytest.raises(PortrayalError, match=r"vectors of widths \[2, 8\]"):
        measured(this, {**random_vectors(this), "tom": [1.0, 2.0]})
