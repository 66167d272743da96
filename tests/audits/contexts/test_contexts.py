"""The contexts audit as a study: recorded tags, composed pictures, phantom and local tagger, charts and sentences."""

import re
from pathlib import Path

import polars as pl
import pytest
from PIL import Image, ImageDraw

from portrayal import flow
from portrayal.audits.contexts import AUDIT
from portrayal.audits.contexts.figures import change_chart, tradeoff_table
from portrayal.audits.contexts.measures.coding import agreement
from portrayal.audits.contexts.measures.design import FACETS
from portrayal.audits.contexts.stimuli import make_stimuli, read_inputs
from portrayal.errors import PortrayalError
from portrayal.reporting.charts.drawing import to_svg
from portrayal.reporting.page.section import find
from portrayal.stats.decisions.decision import DECISIONS
from portrayal.study.study_file import make_study, read_study
from portrayal.tables import REVIEWS


def study(folder, systems, settings, name="test"):
    tables = "".join(f'[[systems]]\nname = "{n}"\nuse = "{use}"\n' for n, use in systems.items())
    lines = "\n".join(f"{key} = {value}" for key, value in settings.items())
    path = Path(folder) / ("study.toml" if name == "test" else f"{name}.toml")
    path.write_text(f'name = "{name}"\naudit = "contexts"\n[contexts]\n{lines}\n{tables}')
    return path


def only(results, measure, **columns):
    """Return the one row of a measure whose other columns are these."""
    wanted = {"measure": measure, **columns}
    rows = results.filter(pl.col(name).eq_missing(pl.lit(item)) for name, item in wanted.items())
    (row,) = rows.iter_rows(named=True)
    return row


@pytest.fixture(scope="module")
def real_tags(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("coco")
    data = shared("data/tags/coco_2019/people.csv").parent
    for name in ("tags.csv.gz", "people.csv"):
        (folder / name).symlink_to(data / name)
    systems = dict.fromkeys(("google", "amazon", "microsoft"), "replay:tags.csv.gz")
    path = study(folder, systems, {"people": '"people.csv"'})
    flow.record(path, folder / "run", quiet=True)
    return flow.measure(folder / "run").results


def test_real_tags_of_three_vendors(real_tags):
    for vendor, usable in {"google": 4097, "amazon": 4106, "microsoft": 4106}.items():
        told = [
            only(real_tags, "inferred_count", system=vendor, place="baseline", inferred=outcome)
            for outcome in ("feminine", "masculine", "neutral")
        ]
        assert sum(row["value"] for row in told) == usable
        assert all(row["low"] <= row["value"] <= row["high"] for row in told)


def test_the_nine_missing_google_answers_are_missing(real_tags):
    about = {"place": "baseline", "inferred": "feminine"}
    row = only(real_tags, "inferred_count", system="google", **about)
    assert row["n_missing"] == 9
    assert row["note"].startswith("9 failed")
    assert only(real_tags, "inferred_count", system="amazon", **about)["n_missing"] == 0  # 26 lists are empty: answers


def test_f1_by_labelled_group_equals_a_naive_count(real_tags, shared):
    f1 = only(real_tags, "gender_f1", system="microsoft", place="baseline", group="female")
    tags = pl.read_csv(shared("data/tags/coco_2019/tags.csv.gz"), schema_overrides={"image_id": pl.String})
    people = dict(pl.read_csv(shared("data/tags/coco_2019/people.csv"), infer_schema=False).iter_rows())
    feminine, masculine = {"woman", "female", "girl", "lady"}, {"man", "male", "boy", "guy"}
    told: dict[str, int] = {}
    for image, tag in tags.filter(pl.col("tagger") == "microsoft").select("image_id", "tag").drop_nulls().iter_rows():
        told[image] = told.get(image, 0) + (tag in feminine) - (tag in masculine)
    labelled = [(people[image], score) for image, score in told.items() if people[image] in ("female", "male")]
    hits = sum(label == "female" and score > 0 for label, score in labelled)
    naive = 2 * hits / (sum(score > 0 for _, score in labelled) + sum(label == "female" for label, _ in labelled))
    assert f1["value"] == pytest.approx(naive, abs=0.01)  # the typology holds a few rarer words


def portrait(path, colour):
    image = Image.new("RGB", (240, 240), (236, 236, 236))
    draw = ImageDraw.Draw(image)
    draw.ellipse((80, 30, 160, 140), fill=colour)
    draw.rectangle((50, 135, 190, 240), fill=(60, 70, 90))
    image.save(path)


@pytest.fixture(scope="module")
def composed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composed")
    rows = ["image_id,gender,race"]
    for number in range(16):
        portrait(folder / f"p{number:02d}.png", (120 + 5 * number, 90, 70))
        rows.append(f"p{number:02d},{'female' if number % 2 else 'male'},{'AB'[number // 2 % 2]}")
    (folder / "people.csv").write_text("\n".join(rows))
    settings = {
        "people": '"people.csv"',
        "consent": '"generated"',
        "per_context": 1,
        "width": 96,
        "height": 72,
        "pictures": '"made"',
    }
    path = study(folder, {"phantom": "phantom:contexts"}, settings)
    flow.record(path, folder / "run", quiet=True)
    return folder, flow.measure(folder / "run")


def test_a_planted_stereotype_is_found_in_every_question(composed):
    _, measured = composed
    results = measured.results
    row = only(results, "congruence")
    assert 0.3 < row["value"] < 0.7
    assert row["decision"] == "found"
    assert only(results, "expectancy")["low"] > 0
    assert only(results, "recognised", place="Wedding Dress Shop", inferred="any")["value"] > 0.6
    assert 0 < only(results, "gender_f1", place="Wedding Dress Shop", group="female")["value"] <= 1
    assert only(results, "distance_anova", place="Wedding Dress Shop", factor="gender x race")["n"] == 16


def test_the_family_is_corrected_and_every_row_names_its_coverage(composed):
    results = composed[1].results
    tested = results.filter(pl.col("family") == "confirmatory")
    assert set(tested["measure"]) <= {*AUDIT.family, "unanswered_difference"}
    assert tested["p_adjusted"].null_count() == 0
    assert (tested["p_adjusted"] >= tested["p"]).all()
    # The family is counted as it was corrected: Tukey's pairs are not in it.
    assert results.filter(pl.col("p_adjusted").is_not_null()).height == tested.height
    assert set(results.filter(pl.col("measure").str.starts_with("distance_tukey"))["decision"]) == {"not tested"}
    of_tags = results.filter(~pl.col("measure").str.contains("answered"))
    assert of_tags.filter(~pl.col("note").str.contains("typology knows")).is_empty()
    assert of_tags["counted"].null_count() == 0
    bare = results.filter(pl.col("value").is_not_null() & pl.col("low").is_null())
    assert set(bare["decision"]) <= {"not tested"}


def test_charts_sentences_tables_and_contact_sheet(composed):
    _, measured = composed
    charts = {chart.name: chart for chart in AUDIT.charts(measured, AUDIT.settings.model_construct())}
    assert {"places", "tradeoff", "inferred_change", "contact_sheet"} <= set(charts)
    assert charts["contact_sheet"].png.startswith(b"\x89PNG")
    assert "<svg" in to_svg(change_chart(measured.results, "phantom", "Wedding Dress Shop"))
    assert tradeoff_table(measured.results).columns[:4] == ["system", "f1", "congruence", "neutral"]
    findings = AUDIT.findings(measured, AUDIT.settings.model_construct())
    (sentence,) = [one.sentence for one in findings if measured.results["measure"][one.row] == "congruence"]
    assert "names the gender of a place's stereotype more often than the other, whoever is shown there" in sentence
    for finding in findings:
        assert measured.results["decision"][finding.row] in DECISIONS
        assert not re.search(r"\b[FM][1-4]\b", finding.sentence)  # places by name
    assert [table.name for table in AUDIT.tables(measured, AUDIT.settings.model_construct())] == [
        "tradeoff",
        "errors",
        "unknown_tags",
        "coverage",
    ]


def test_the_report_is_written(composed):
    folder, _ = composed
    page = flow.report([folder / "run"])
    text = page.read_text()
    assert "People in stereotyped places" in text
    assert "Every picture of the design" in text


def test_a_real_persons_picture_never_reaches_the_report(composed, tmp_path):
    folder, _ = composed
    text = (folder / "study.toml").read_text().replace('consent = "generated"', 'consent = "signed release"')
    (folder / "real.toml").write_text(text)
    assert read_inputs(read_study(folder / "real.toml"))["contact_sheet"] is None


def test_the_same_answers_from_a_recording_alone(composed):
    """Recorded tags and a people table give the numbers of the study that composed the pictures."""
    folder, measured = composed
    responses = pl.read_parquet(folder / "run" / "responses.parquet")
    stimuli = pl.read_parquet(folder / "run" / "stimuli.parquet")
    tags = responses.select(
        pl.lit("phantom").alias("tagger"), pl.col("stimulus").alias("image_id"), "tag", "confidence",
        pl.when(pl.col("status") == "answered").then(pl.lit("ok")).otherwise("status").alias("status"),
    )  # fmt: skip
    tags.write_csv(folder / "tags.csv")
    stimuli.select(
        pl.col("stimulus").alias("image_id"), "role", "person", "context", "background", "gender", "race"
    ).write_csv(folder / "recorded.csv")
    (folder / "again").mkdir()
    path = study(folder, {"phantom": "replay:tags.csv"}, {"people": '"recorded.csv"'}, "again")
    flow.record(path, folder / "again" / "run", quiet=True)
    again = flow.measure(folder / "again" / "run").results
    keys = ["measure", "group", "versus", *FACETS]
    left, right = (table.sort(keys).select(*keys, "value", "p") for table in (measured.results, again))
    assert left.select(keys).equals(right.select(keys))
    assert (left["value"] - right["value"]).abs().max() < 1e-9


def test_a_tagger_that_was_not_recorded_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("tagger,image_id,tag,confidence,status\ngoogle,1,dog,0.5,ok\n")
    (tmp_path / "p.csv").write_text("image_id,gender\n1,male\n")
    path = study(tmp_path, {"gogle": "replay:t.csv"}, {"people": '"p.csv"'})
    with pytest.raises(PortrayalError, match="Did you mean 'google'"):
        flow.record(path, tmp_path / "run", quiet=True)


def test_an_unknown_gender_cluster_is_named(composed):
    folder, _ = composed
    evidence_study = make_study(
        {
            "name": "x",
            "audit": "contexts",
            "systems": [{"name": "a", "use": "local"}],
            "contexts": {"genders": {"femnine": ["f"]}},
        }
    )
    from portrayal.study.audit import Evidence

    stimuli = pl.read_parquet(folder / "run" / "stimuli.parquet")
    responses = pl.read_parquet(folder / "run" / "responses.parquet")
    with pytest.raises(PortrayalError, match="Did you mean 'feminine'"):
        AUDIT.measure(
            Evidence(stimuli, responses, read_inputs(read_study(folder / "study.toml"))), evidence_study.settings
        )


def test_nobody_usable_is_an_error_with_its_reason(tmp_path):
    (tmp_path / "a.png").touch()
    (tmp_path / "people.csv").write_text("image_id,gender\na,female\n")
    path = study(tmp_path, {"local": "local"}, {"people": '"people.csv"', "pictures": '"made"', "per_context": 1})
    with pytest.raises(PortrayalError, match=r"no person's picture can be used. The first: a\.png is empty"):
        make_stimuli(read_study(path))


def test_two_coders_agreement_by_hand():
    rows = [(f"t{i}", "cluster", "ann", "concrete" if i < 5 else "other", "") for i in range(10)]
    rows += [(f"t{i}", "cluster", "bo", "concrete" if i < 4 else "other", "") for i in range(10)]
    found = {row["unit"]: row for row in agreement(pl.DataFrame(rows, schema=dict(REVIEWS), orient="row"))}
    # They agree on 9 of 10. By chance .5 * .4 + .5 * .6 = .5, so kappa = (.9 - .5) / .5 = .8.
    assert found["share"]["value"] == pytest.approx(0.9)
    assert found["Cohen's kappa"]["value"] == pytest.approx(0.8)
    assert (found["share"]["group"], found["share"]["versus"]) == ("ann", "bo")


def test_ratings_of_places_come_in_with_the_study(composed):
    folder, _ = composed
    rows = ["item,question,reviewer,judgment,note"]
    for rater, score, code in [("a", 0, "correct"), ("b", 2, "partial"), ("c", 9, "wrong")]:
        rows += [f"F1,gendered,{rater},{score},", f"F1,place,{rater},{code},a shop", f"F1,rater_gender,{rater},female,"]
    (folder / "ratings.csv").write_text("\n".join(rows))
    text = (folder / "study.toml").read_text().replace("[contexts]", '[contexts]\nratings = "ratings.csv"')
    (folder / "rated.toml").write_text(text)
    rated = read_study(folder / "rated.toml")
    from portrayal.study.audit import Evidence

    stimuli, responses = (pl.read_parquet(folder / "run" / f"{name}.parquet") for name in ("stimuli", "responses"))
    evidence = Evidence(stimuli, responses, read_inputs(rated))
    measured = AUDIT.measure(evidence, rated.settings)
    row = only(measured.results, "place_rating", place="Wedding Dress Shop", group=None)
    assert (row["value"], row["n"], row["n_missing"]) == (1, 2, 1)
    said = [one.sentence for one in find(rated, flow.measure_evidence(rated, evidence))]
    assert said
    assert all("raters" not in sentence for sentence in said)


def test_the_plan_says_what_could_be_found(composed):
    folder, _ = composed
    *floors, line = AUDIT.power(read_study(folder / "study.toml"), pl.read_parquet(folder / "run" / "stimuli.parquet"))
    assert floors[1:] == [
        "a test in which fewer than 8 of 16 people differ could not reach the level in a family of 25"
    ]
    # At half the pictures nearly all of 16 people score far above 0.
    assert line.startswith(
        "with 16 people, a tagger in which the place decides the gender named is found in so many of 100"
    )
    assert line.endswith(", 99 where it is 50")


def test_the_demonstration_study_reads_and_names_both_systems():
    (path,) = AUDIT.demo
    names = [system.name for system in read_study(path).systems]
    assert names == ["face reader (real)", "ImageNet network (real)", "phantom with a planted stereotype (simulated)"]
