"""The search audit from answers to results, tables, charts and sentences."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from portrayal import flow
from portrayal.audits.search.measure import FACETS
from portrayal.audits.search.measures.comparison import published
from portrayal.audits.search.measures.perfect_system import perfect_lists
from portrayal.errors import PortrayalError
from portrayal.reporting.charts.drawing import to_svg
from portrayal.study.audit import Evidence
from portrayal.study.registry import get_audit
from portrayal.study.study_file import make_study, read_study
from portrayal.text.collections.synthetic import REFERENCES, balanced_collection, reference_run, toy_collection

AUDIT = get_audit("search")


def study(collection="toy", systems=REFERENCES, **settings):
    listed = [{"name": name, "use": name, "parameters": {"collection": collection}} for name in systems]
    return make_study(
        {"name": "test", "audit": "search", "search": {"collection": collection, **settings}, "systems": listed}
    )


def responses(runs):
    """Turn runs into the table a recording gives."""
    parts = [
        run.select(
            system=pl.lit(name),
            stimulus="query",
            repeat=pl.lit(0),
            status=pl.lit("answered"),
            doc="doc",
            rank="rank",
            score="score",
        )
        for name, run in runs.items()
    ]
    return pl.concat(parts)


def measure(made, answers, **more):
    evidence = Evidence(AUDIT.stimuli(made), answers, {**AUDIT.inputs(made), **more}, seed=0)
    return flow.measure_evidence(made, evidence)


@cache
def toy():
    """The three reference systems on the toy collection, measured with everything on."""
    made = study(variants=False, compare={"neutral": ["stereotypical"]}, published={"neutral": "BM25"})
    return measure(made, responses({name: reference_run(toy_collection(), name) for name in REFERENCES}))


def value(measured, **where):
    found = measured.results.filter(**where)
    assert found.height == 1, (where, found.height)
    return found.row(0, named=True)


def test_stimuli_are_the_queries():
    table = AUDIT.stimuli(study())
    assert table.height == 20
    assert set(table["kind"]) == {"query"}
    assert table["hash"].n_unique() == 20


def test_gsr_of_the_reference_systems():
    slopes = {name: value(toy(), measure="gsr", system=name)["value"] for name in REFERENCES}
    assert slopes["stereotypical"] > 0.5
    assert slopes["neutral"] == 0
    assert slopes["counter-stereotypical"] == pytest.approx(-slopes["stereotypical"], abs=1e-9)
    # the perfect system returns both documents of every occupation: no slope, so no ratio
    assert value(toy(), measure="gsr", system="perfect")["value"] == 0
    ratio = value(toy(), measure="gsr_ratio", system="stereotypical")
    assert ratio["value"] is None
    assert "GSR is zero" in ratio["note"]


def test_every_estimate_has_an_interval_and_n():
    estimates = toy().results.drop_nulls("value")
    assert estimates["n"].null_count() == 0
    without = estimates.filter(pl.col("low").is_null() | pl.col("high").is_null())
    assert without.is_empty(), without.select("measure", "system", "versus")
    inside = estimates.filter((pl.col("low") > pl.col("value") + 1e-9) | (pl.col("high") < pl.col("value") - 1e-9))
    assert inside.is_empty(), inside.select("measure", "system", "value", "low", "high")


def test_direct_stereotypes_follow_the_query():
    # The stereotypical system shows women for female occupations alone, the relevant documents show both.
    trend = value(toy(), measure="over_representation_trend", system="stereotypical")
    assert trend["value"] > 0.5
    assert trend["p"] < 0.05
    shares = toy().results.filter(measure="over_representation", system="stereotypical")
    assert shares["value"].sum() == pytest.approx(1)
    assert shares["group"].to_list() == ["female", "male", "neither", "no documents of either"]
    exposed = toy().results.filter(measure="exposure", system="neutral").filter(pl.col("versus").is_null())
    # "The man is a maid", second in its list, names a man and a (female) maid, so it is of neither group; every
    # other document is of one. Its rank has 0.6309 / 1.6309 of that list's attention.
    assert exposed["value"].sum() == pytest.approx(1 - 0.630930 / 1.630930 / 20, abs=1e-6)


def test_variants_are_compared():
    change = value(toy(), measure="gsr_change", system="stereotypical", versus="neutral")
    assert change["value"] == pytest.approx(value(toy(), measure="gsr", system="stereotypical")["value"], abs=1e-9)
    # neutral lists [woman, man], stereotypical one of them: the pair is apart only when the absent one stood first
    distance = value(toy(), measure="kendall_distance", system="stereotypical")
    assert 0 < distance["value"] < 1
    # the stereotypical system finds one of two relevant documents: MAP 1/2 instead of 1
    assert value(toy(), measure="map_change", system="stereotypical")["value"] == pytest.approx(-0.5)


def test_the_ruler_is_checked():
    tested = toy().results.filter(measure="dichotomy")
    assert tested.height == 4
    assert (tested["p"] < 0.05).all()
    assert toy().results.filter(measure="gsr_reference").height == 12
    assert value(toy(), measure="parity_correlation", n=4096)["value"] > 0.85


def test_warnings_name_small_collections():
    assert any("Only 20 queries" in warning for warning in toy().warnings)
    assert any("'maid'" in remark for remark in toy().remarks)


def test_charts_draw_and_findings_point_at_their_rows():
    charts = AUDIT.charts(toy(), AUDIT.settings.model_construct())
    assert len({chart.name for chart in charts}) == len(charts)
    figures = " ".join(chart.title for chart in charts)
    for number in (
        "Figure 1",
        "Figure 2",
        "Figure 4",
        "Figure 5",
        "Figure 6",
        "Figure 7",
        "Figures 8, 9",
        "Figure 10",
        "Figure 12",
    ):
        assert number in figures
    for chart in charts:
        assert "<svg" in to_svg(chart.chart, chart.text)
    for finding in AUDIT.findings(toy(), AUDIT.settings.model_construct()):
        row = toy().results.row(finding.row, named=True)
        assert row["system"] in finding.sentence
        assert row["decision"] != "found" or f"the word vectors {row['ruler']}" in finding.sentence


def test_tables_stand_beside_the_published_ones():
    tables = {table.name: table.table for table in AUDIT.tables(toy(), AUDIT.settings.model_construct())}
    assert {"grid", "quality", "published_gsr", "published_quality"} <= set(tables)
    row = tables["published_gsr"].row(0, named=True)
    # Table 2: BM25 9.4e-2, 11%
    assert (row["paper: absolute w2v"], row["paper: relative percent w2v"]) == (0.094, 11)


def test_the_order_of_answers_does_not_matter():
    made = study(variants=False, validate_direction=False)
    answers = responses({name: reference_run(toy_collection(), name) for name in REFERENCES})
    plain = measure(made, answers).results
    mixed = measure(made, answers.sample(fraction=1, shuffle=True, seed=3)).results
    keys = ["system", "measure", "group", "versus", *FACETS]
    left, right = (table.sort(keys).select(*keys, "value", "low", "high", "p", "n") for table in (plain, mixed))
    assert left.select(keys).equals(right.select(keys))
    for column in ("value", "low", "high", "p"):
        assert ((left[column] - right[column]).abs().max() or 0.0) < 1e-9


def test_renaming_a_system_renames_its_rows_only():
    made = study(variants=False, validate_direction=False)
    run = reference_run(toy_collection(), "stereotypical")
    first = measure(made, responses({"a": run})).results
    second = measure(made, responses({"b": run})).results
    assert first.with_columns(pl.col("system").replace({"a": "b"})).equals(second)


def test_any_two_poles_can_be_a_direction():
    pairs = [("old", "young"), ("elderly", "youthful"), ("senior", "junior")]
    words = {"old": ["grandmother", "elder"], "young": ["teenager"], "middle": ["adult"]}
    made = study("balanced", ("bm25",), pairs=pairs, poles=["old", "young"], mentions=words, variants=False)
    collection = balanced_collection()
    run = pl.DataFrame(
        [(q, d, rank, -float(rank)) for q, docs in collection.qrels.items() for rank, d in enumerate(docs, 1)],
        schema=["query", "doc", "rank", "score"],
        orient="row",
    )
    measured = measure(made, responses({"bm25": run}))
    assert measured.results.filter(measure="gsr", system="bm25").height == 1
    # the checks of the gender direction are not made for another one
    assert measured.results.filter(pl.col("measure").is_in(["dichotomy", "gsr_reference"])).is_empty()
    assert "old" in " ".join(chart.name for chart in AUDIT.charts(measured, AUDIT.settings.model_construct()))
    # any number of groups may be named; the direction has two poles
    exposed = measured.results.filter(pl.col("versus").is_null(), measure="exposure")
    assert set(exposed["group"]) == {"old", "young", "middle"}


def test_repeats_are_averaged():
    made = study(variants=False, validate_direction=False)
    runs = {name: responses({"engine": reference_run(toy_collection(), name)}) for name in REFERENCES}
    both = pl.concat(
        [runs["stereotypical"], runs["counter-stereotypical"].with_columns(repeat=pl.lit(1))], how="vertical_relaxed"
    )
    # one repeat along the stereotype, one against it: no slope on average
    assert value(measure(made, both), measure="gsr", system="engine")["value"] == pytest.approx(0, abs=1e-9)


def test_queries_without_answers_are_missing_rows_with_reasons():
    made = study(variants=False, validate_direction=False)
    run = reference_run(toy_collection(), "stereotypical").filter(pl.col("query") != "nurse")
    measured = measure(made, responses({"engine": run}))
    row = value(measured, measure="gsr", system="engine")
    assert (row["n"], row["n_missing"]) == (19, 1)
    table = next(
        table.table for table in AUDIT.tables(measured, AUDIT.settings.model_construct()) if table.name == "unused"
    )
    assert table.select("query", "reason").rows() == [("nurse", "no result")]
    counted = measured.results.filter(pl.col("measure").is_in(["map", "P_10", "over_representation"]))
    assert set(counted.select("n", "n_missing").rows()) == {(19, 1)}


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"compare": {"engine": ["motor"]}}, "names 'motor'"), ({"published": {"engine": "BM26"}}, "Did you mean 'BM25'")],
)
def test_bad_settings_of_a_recorded_study_are_one_clear_line(settings, says):
    made = study(variants=False, validate_direction=False, **settings)
    with pytest.raises(PortrayalError, match=says) as raised:
        measure(made, responses({"engine": reference_run(toy_collection(), "neutral")}))
    assert "\n" not in str(raised.value)


def test_responses_without_ranks_are_told():
    made = study(variants=False)
    with pytest.raises(PortrayalError, match="responses lacks column 'rank'.*docs/search.md"):
        measure(made, responses({"a": reference_run(toy_collection(), "neutral")}).drop("rank"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"vektors": ["glove"]}, "Did you mean 'vectors'"), ({"cutoff": 0}, "cutoff"), ({"discount": "zipf"}, "discount")],
)
def test_bad_settings_are_told(settings, says):
    with pytest.raises(PortrayalError, match=says):
        study(**settings)


@pytest.mark.parametrize("name", ["perfect", "random", "instrument"])
def test_systems_may_not_take_the_names_of_the_references(name):
    made = make_study(
        {
            "name": "test",
            "audit": "search",
            "search": {"collection": "toy"},
            "systems": [{"name": name, "use": "perfect", "parameters": {"collection": "toy"}}],
        }
    )
    with pytest.raises(PortrayalError, match="Give the system another name"):
        AUDIT.stimuli(made)
    with pytest.raises(PortrayalError, match="Give the system another name"):
        measure(study(), responses({name: reference_run(toy_collection(), "neutral")}))


def test_a_collection_that_is_not_there_is_told():
    with pytest.raises(PortrayalError, match="no collection at"):
        AUDIT.stimuli(study("nowhere/at/all"))


def test_the_shipped_studies_are_read():
    for path in [*AUDIT.demo, AUDIT.demo[0].with_name("search_table2.toml")]:
        made = read_study(path)
        assert made.audit == "search"
        names = {system.name for system in made.systems}
        assert {*made.settings.compare, *(v for all in made.settings.compare.values() for v in all)} <= names
        assert set(made.settings.published) <= names | {"perfect"}


def test_the_grid_of_table_2_is_whole():
    made = read_study(AUDIT.demo[0].with_name("search_table2.toml"))
    variants = [system.parameters.get("debias", "none") for system in made.systems if "vectors" in system.parameters]
    assert sorted(set(variants)) == ["none", "regular", "strong"]
    assert len(variants) == 3 * len(made.settings.compare)
    assert len(made.settings.vectors) == 2


def test_a_whole_run_from_study_to_report(tmp_path):
    path = tmp_path / "study.toml"
    lines = [
        'name = "toy"',
        'audit = "search"',
        "[search]",
        'collection = "toy"',
        "variants = false",
        "validate_direction = false",
    ]
    for name in REFERENCES[:2]:
        lines += ["[[systems]]", f'name = "{name}"', f'use = "{name}"', 'parameters = { collection = "toy" }']
    path.write_text("\n".join(lines))
    page = flow.audit(path, tmp_path / "run", quiet=True).report
    text = page.read_text()
    assert "Gender stereotype reinforcement by system" in text
    results = pl.read_parquet(tmp_path / "run" / "results.parquet")
    assert results.filter(measure="gsr", system="stereotypical")["value"][0] > 0.5


def test_more_of_the_direction_removed_leaves_less_slope():
    """On the balanced collection relevance has no gender, so what `add` shows is its vectors' own."""
    from portrayal.audits.search.inputs import make_history
    from portrayal.audits.search.measures.gsr import gsr
    from portrayal.audits.search.measures.history import lists_of, score_history, word_scores
    from portrayal.audits.search.measures.scored_runs import make_ruler
    from portrayal.audits.search.stimuli import pole_pairs
    from portrayal.text.vectors.sets import open_vectors
    from portrayal_rankers.base import rank
    from portrayal_rankers.registry import Searchable, make_ranker

    collection = balanced_collection()
    history = make_history(collection)
    ruler = make_ruler(
        open_vectors("glove"), pole_pairs(study(validate_direction=False).settings), "component", history
    )
    scores = word_scores(ruler.space, ruler.direction, history)
    slopes = {}
    for kind in ("none", "regular", "strong"):
        run = rank(collection, make_ranker("add", Searchable(collection), {"debias": kind}), 100)
        slopes[kind] = gsr(score_history(history, lists_of(run), scores)).value
    perfect = gsr(score_history(history, perfect_lists(history), scores, True)).value
    assert abs(perfect) < 0.02
    assert slopes["none"] > 2 * slopes["regular"] > 0
    assert slopes["none"] > 2 * slopes["strong"] > 0


def test_quality_is_measured_by_the_names_a_study_gives():
    run = reference_run(toy_collection(), "stereotypical")
    made = study(variants=False, validate_direction=False, quality=["AP", "nDCG@10"], compare={"a": ["b"]})
    measured = measure(made, responses({"a": run, "b": run}))
    both, change = (measured.results.filter(measure=f"{name}") for name in ("nDCG@10", "nDCG@10_change"))
    assert (both.height, change.height) == (2, 1)
    assert measured.results.filter(measure="map").is_empty()
    tables = {table.name: table.table for table in AUDIT.tables(measured, made.settings)}
    assert set(tables["quality"]["measure"]) == {"AP", "nDCG@10", "AP_change", "nDCG@10_change"}
    with pytest.raises(PortrayalError, match="no measure 'nDGC'"):
        AUDIT.stimuli(study(quality=["nDGC"]))


def test_the_page_on_the_authors_runs_writes_a_study_of_all_eighteen(tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "robust04.md").read_text()
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    made = read_study(tmp_path / "robust04_runs.toml")
    rows = [name for name in published("gsr")["name"].unique() if name != "perfect"]
    assert sorted(system.name for system in made.systems) == sorted(rows) == sorted(made.settings.published.values())
    assert len(rows) == 18
