"""The associations audit: stimuli, declared tests, what is missing, variants, words, and the whole flow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.associations import AUDIT
from portrayal.audits.associations.measures import eat
from portrayal.errors import PortrayalError
from portrayal.study.audit import Evidence, Measured
from portrayal.study.questions import make_stimuli
from portrayal.study.registry import get_audit
from portrayal.study.study import Study
from portrayal.study.study_file import make_study, read_study
from portrayal.tables import check_stimuli
from portrayal.text.lexicons import ASSOCIATIONS, association_test, load, word_list

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
    texts = [word for test in ("weat1", "weat2") for side in "xyab" for word in word_list(association_test(test)[side])]
    assert stimuli.height == len(set(texts)) < len(texts)
    assert stimuli["hash"].n_unique() == stimuli.height
    love = stimuli.row(by_predicate=pl.col("stimulus") == "love", named=True)
    assert love["sets"] == "pleasant words"  # the first attribute of both tests
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
    # Sets without a name are called by their first stimuli, never X or A.
    about = [row[name] for name in ("system", "group", "versus", "attribute", "other_attribute", "sided")]
    assert about == ["e", "ada, eva and 1 more", "bob, tom and 1 more", "warm and kind", "cold and stern", "one-sided"]
    assert row["test"] == "ada, eva and 1 more and bob, tom and 1 more with warm and kind and cold and stern"
    assert (row["counted"], row["p_floor"]) == ("words", 1 / 20)  # of C(6, 3) divisions
    # Three against three cannot get under .05, whatever was answered.
    assert (row["decision"], row["p_adjusted"]) == ("not tested", None)
    assert row["reason"] == "so few units that the smallest p possible is .050, too large for the correction"


def test_missing_words_are_reported_and_counted() -> None:
    this = study(test=[own()], variants=[])
    vectors = random_vectors(this)
    del vectors["tom"], vectors["kind"]
    vectors["stern2"] = vectors["stern"]
    with pytest.raises(PortrayalError, match="has 1 of 2 warm and kind left. A test needs two on a side"):
        measured(this, vectors)
    names = {"x_name": "women", "y_name": "men", "a_name": "warm words", "b_name": "cold words"}
    this = study(test=[own(a=["warm", "kind", "mild"], **names)], variants=[])
    vectors = random_vectors(this)
    del vectors["tom"], vectors["kind"]
    found = measured(this, vectors)
    row = found.results.row(0, named=True)
    assert (row["n"], row["n_missing"]) == (5, 1)
    assert "Y 2 of 3, A 2 of 3" in row["note"]
    test = "women and men with warm words and cold words"
    assert found.tables["missing"].rows() == [("e", test, "men", 3, "tom"), ("e", test, "warm words", 3, "kind")]
    assert found.remarks == [f"e: {test} is computed without 1 of 3 men (tom) and 1 of 3 warm words (kind): no vector."]


def test_refused_and_failed_answers_are_missing_too() -> None:
    this = study(test=[own(x=["ada", "eva", "ida", "una"])], variants=[])
    vectors = random_vectors(this)
    del vectors["una"], vectors["eva"]
    found = measured(this, vectors, {"una": "refused", "eva": "failed"})
    assert found.results["n_missing"][0] == 2


def test_a_test_left_too_small_is_an_error_or_a_row() -> None:
    vectors = random_vectors(study(test=[own()]))
    del vectors["bob"], vectors["tom"]
    with pytest.raises(PortrayalError, match=r"has 1 of 3 bob, tom and 1 more left\..*too_few"):
        measured(study(test=[own()]), vectors)
    row = measured(study(test=[own()], too_few="report"), vectors).results.row(0, named=True)
    assert (row["value"], row["p"], row["n"], row["n_missing"]) == (None, None, 4, 2)
    assert row["decision"] == "not measurable"
    assert row["reason"] == "1 of 3 bob, tom and 1 more left, and a test needs two on a side"


def test_people_in_both_sets_get_both_p_values() -> None:
    this = study(test=[own(x_cluster=["1", "2", "3"], y_cluster=["3", "1", "2"])], variants=[])
    found = measured(this, random_vectors(this)).results
    assert found["measure"].to_list() == ["eat", "eat_unpaired", "answered"]
    assert (found["n"][0], found["counted"][0]) == (3, "people")
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
    this = study(test=[own(base="emotion_angry", a=None, b=None)])
    found = measured(this, random_vectors(this))
    table = found.tables["specifications"]
    # (all + 5 prompts) x 2 articles, and each of the 6 + 6 attribute words left out
    assert table.height == 6 * 2 + 12
    assert "ddof" not in table.columns  # it cannot change p
    whole = table.filter(
        (pl.col("prompt") == "all") & (pl.col("article") == "right") & pl.col("without").is_null()
    ).row(0, named=True)
    main = found.results.row(0, named=True)
    assert whole["value"] == pytest.approx(main["value"])
    assert whole["p"] == pytest.approx(main["p"], abs=0.03)  # 4,999 rearrangements in place of all
    literal = table.filter((pl.col("article") == "literal") & (pl.col("prompt") == "a [stimulus]"))
    right = table.filter((pl.col("article") == "right") & (pl.col("prompt") == "a [stimulus]"))
    assert not np.allclose(literal["value"], right["value"])
    shares = {shown.name: shown for shown in AUDIT.tables(found, AUDIT.settings.model_construct())}["support"].table
    assert (shares["specifications"].item(), shares["joint_p"].item()) == (24, table["joint_p"][0])


def leaning(this: Study, lean: float, seed: int = 0) -> dict[str, list[float]]:
    """Draw vectors of weat6 whose X leans to A by `lean` deviations, and away from it where that is negative."""
    rng = np.random.default_rng(seed)
    sides = {word: side for side in "xyab" for word in word_list(association_test("weat6")[side])}
    axis = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    vectors = {}
    for word in sorted(make_stimuli(this)["stimulus"]):
        side = sides[word]
        drawn = rng.normal(0, 0.05, 2)
        if side in "xy":
            drawn = drawn + [1.0, 1.0] + np.array([0.05, -0.05]) * lean * (1 if side == "x" else -1)
        vectors[word] = (drawn + axis.get(side, [0.0, 0.0])).tolist()
    return vectors


def test_a_specification_of_the_other_sign_does_not_support_a_claim() -> None:
    # A one-sided test claims X with A. Here X lies with B, strongly: no way of asking supports the claim.
    this = study(tests=["weat6"])
    against = measured(this, leaning(this, -3.0)).tables["specifications"]
    assert against["value"].max() < -1.0
    assert not against["supports"].any()
    assert against["joint_p"][0] > 0.99
    towards = measured(this, leaning(this, 3.0)).tables["specifications"]
    assert towards["supports"].all()
    assert towards["joint_p"][0] == 1 / 5000  # no rearrangement of 4,999 has such a median


def test_each_test_and_system_has_a_curve_of_its_own() -> None:
    this = study(tests=["weat6", "weat7"])
    found = measured(this, random_vectors(this))
    curves = [chart for chart in AUDIT.charts(found, this.settings) if chart.name.startswith("specifications")]
    assert [chart.title for chart in curves] == [
        "Specification curve: men's names and women's names with career words and family words, e",
        "Specification curve: mathematics and the arts with male terms and female terms, e",
    ]


def test_relabelling_only_relabels_and_order_never_matters() -> None:
    this = study(tests=["weat6"], variants=[])
    vectors = random_vectors(this)
    one = measured(this, vectors)
    turned = study(
        test=[{"name": "weat6", "base": "weat6", "x": list(reversed(word_list("weat:male_names"))), "x_name": "Xs"}],
        variants=[],
    )
    other = measured(turned, vectors)
    assert other.results["value"][0] == pytest.approx(one.results["value"][0])
    assert other.results["p"][0] == one.results["p"][0]
    assert (other.results["group"][0], other.results["versus"][0]) == ("Xs", "women's names")


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
        (
            {"test": [own(x_cluster=["1", "", "3"], y_cluster=["1", "2", "3"])]},
            r"row 2 \('eva'\) of x of test 'warmth'",
        ),
        ({"test": [own(x_cluster=["1", "2", "3"])]}, "test 'warmth' does not say who y shows"),
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
    this = study(tests=["weat6"])
    found = measured(this, leaning(this, 3.0))
    (finding,) = AUDIT.findings(found, this.settings)
    assert finding.row == 0
    assert finding.sentence.startswith("e ties men's names to career words and women's names to family words: d = 1.")
    assert (
        "16 words, one-sided adjusted p < .001). It is a sign of the stereotype that careers are for men and families for women."
        " It holds in all 17 variants tried"
    ) in finding.sentence
    assert finding.sentence.endswith("(joint test of all: p < .001).")


def test_findings_say_where_they_do_not_hold() -> None:
    this = study(tests=["weat6"])
    found = measured(this, leaning(this, 3.0))
    table = found.tables["specifications"].with_columns(
        supports=~pl.col("without").is_in(["home", "salary"]).fill_null(False)
    )
    changed = replace(found, tables={**found.tables, "specifications": table})
    (finding,) = AUDIT.findings(changed, this.settings)
    assert "It holds in 15 of 17 variants tried, but not without 'salary' and without 'home' (" in finding.sentence


def test_a_constant_encoder_is_not_tested() -> None:
    this = study(tests=["weat6"])
    words = make_stimuli(this)["stimulus"]
    # All vectors equal, and all equal but for rounding (a sum in another order).
    for vectors in (
        {word: [0.1, 0.2, 0.3] for word in words},
        {word: [0.1 + place % 2 * 1e-16, 0.2, 0.3] for place, word in enumerate(words)},
    ):
        found = measured(this, vectors)
        row = found.results.row(0, named=True)
        assert (row["value"], row["decision"]) == (None, "not tested")
        (finding,) = AUDIT.findings(found, this.settings)
        assert finding.sentence == (
            "It was not tested whether e ties men's names to career words and women's names to family words: "
            "its associations do not differ from one stimulus to the next."
        )


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
    head, line = AUDIT.power(this, make_stimuli(this))
    assert head == "nothing is corrected: p under .05 is found"
    # A one-sided t-test of 25 + 25 at 2.5%, which the 95% interval asks for, finds 0.81 deviations within groups, 0.75 over
    # the pooled one; the bootstrap interval asks for a little more.
    assert line.endswith("25 + 25 targets find d of 0.80 or more with 80% power")


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("name", ["associations_emotion.toml", "associations_professions.toml"])
def test_the_papers_studies_can_be_planned(name: str, alternative: str) -> None:
    # The paper's sizes as lists of words, since its pictures do not ship: ten women twice on each side, and 30 + 30.
    people = [str(person) for person in range(10) for _ in range(2)]
    emotion = {"x_cluster": people, "y_cluster": people} if "emotion" in name else {}
    size = len(people) if emotion else 30
    test = own(x=[f"x{i}" for i in range(size)], y=[f"y{i}" for i in range(size)], **emotion)
    this = study(test=[test], alternative=alternative)
    lines = AUDIT.power(this, make_stimuli(this))
    assert "with 80% power" in lines[1]


def test_a_test_too_small_to_find_anything_says_so_in_the_plan() -> None:
    this = study(test=[own()])
    assert AUDIT.power(this, make_stimuli(this))[1].endswith(
        "3 + 3 targets are too few to find anything under this correction"
    )


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
        f'[[associations.test]]\nname = "t"\nharm = "harming X"\n{lines}\n'
    )
    page = flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True).report
    table = pl.read_parquet(tmp_path / "run" / "results.parquet")
    planted, null = (
        table.row(by_predicate=(pl.col("system") == name) & (pl.col("measure") == "eat"), named=True)
        for name in ("planted", "null")
    )
    assert planted["low"] < 1.4 < planted["high"]
    assert planted["p_adjusted"] < 0.01 < null["p_adjusted"]
    text = page.read_text()
    assert 'id="associations"' in text
    assert "a sign of harming X" in text
    assert "Specification curve" in text


def test_targets_in_prompts_stay_one_target_each() -> None:
    templates = ["[stimulus]", "the name [stimulus]"]
    this = study(test=[own()], templates=templates, template_sets=["x", "y"], variants=["words"])
    found = measured(this, random_vectors(this))
    row = found.results.row(0, named=True)
    assert (row["n"], row["counted"]) == (6, "targets")  # 3 + 3, each in two prompts
    assert "between persons" in row["note"]
    assert row["p"] * 20 == pytest.approx(round(row["p"] * 20))  # of C(6, 3), not of C(12, 6)
    assert "specifications" not in found.tables  # two words a side: none can be left out


def test_a_vector_of_nan_is_named() -> None:
    this = study(test=[own()])
    for bad in ([float("nan")] * 8, [0.0] * 8):
        vectors = {**random_vectors(this), "tom": bad}
        with pytest.raises(PortrayalError, match="'e' answered 'tom' with a vector of NaN or of length zero"):
            measured(this, vectors)
    with pytest.raises(PortrayalError, match=r"vectors of widths \[2, 8\]"):
        measured(this, {**random_vectors(this), "tom": [1.0, 2.0]})
