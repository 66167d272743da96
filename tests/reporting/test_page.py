from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.reporting.charts import charts
from portrayal.reporting.page.evidence import trace
from portrayal.reporting.page.page import OPEN_FOUND, SHOWN_ROWS, render, row_pages
from portrayal.reporting.page.section import shown_names
from portrayal.study.audit import Chart, Finding, Measured, ReportTable
from portrayal.tables import results
from reporting.factory import NASTY, STEMS, coloured, five_sections, make_section, nasty_section
from reporting.reader import read


@pytest.fixture(scope="module")
def html() -> str:
    return render(five_sections(), "Five audits")


@pytest.fixture(scope="module")
def page(html):
    return read(html)


@pytest.fixture(scope="module")
def nasty() -> str:
    return render([nasty_section()], NASTY)


def quick(**changes) -> str:
    """Render one section without charts, changed."""
    return render([replace(make_section(with_charts=False), **changes)], "One audit")


def rows_page(**changes):
    """Read the page of all rows of a section without charts, changed."""
    section = replace(make_section(with_charts=False), **changes)
    return read(dict(row_pages(trace(section)))[f"{section.anchor}.html"])


def test_each_audit_is_a_section_named_by_its_stem(page):
    assert [section.attributes["id"] for section in page.find("section", class_="audit")] == list(STEMS)


def test_a_section_says_all_there_is_to_know(page):
    section = page.find("section", id="search")[0]
    text = section.text
    headings = [heading.text for heading in section.find("h3")]
    assert headings == ["Findings", "What it does not show"]
    assert [fold.find("summary")[0].text for fold in section.find("details", class_="fold")] == [
        "What was asked",
        "1 more chart",
        "The rows behind the sentences",
        "2 further tables",
        "Provenance",
    ]
    assert "Do result lists repeat the gender stereotype in the query?" in text
    assert "720 questions to 3 systems; 708 answered (98%)." in text  # 3 x 240, of which 4 each refused
    assert "Asked in 1 wave, 2026-01-05 10:00 to 2026-01-05 10:12 UTC." in text
    assert "p is adjusted by Holm's method over the declared family of 12 tests: Gender stereotype" in text
    assert "Gender labels were assigned by annotators from pictures" in text
    assert len(section.find("figure")) == 2


def test_what_was_shown_is_told_and_pictures_are_not(html, page):
    texts = page.find("section", id="search")[0].find("dl", class_="shown")[0].text
    assert texts.startswith("shown 240 texts person 10 different gender man (80), nonbinary person (80), woman (80)")
    assert "source made up for this example license CC0-1.0 consent generated" in texts
    assert "a person who works, 40" in texts
    pictures = page.find("section", id="contexts")[0].find("dl", class_="shown")[0].text
    assert pictures.startswith("shown 240 images")
    assert "/secret/" not in html


def test_findings_lead_to_the_rows_they_speak_of(page):
    ids = {element.attributes["id"] for element in page.walk() if "id" in element.attributes}
    traces = page.find("a", class_="trace")
    assert len(traces) == 10
    assert {trace.attributes["href"][1:] for trace in traces} <= ids


def test_every_link_inside_the_page_arrives(page):
    ids = [element.attributes["id"] for element in page.walk() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    targets = {link.attributes["href"][1:] for link in page.find("a") if link.attributes["href"].startswith("#")}
    assert targets <= set(ids)


def test_numbers_are_rounded_and_intervals_stand_beside_them():
    row = {"audit": "associations", "system": "A", "measure": "effect_size", "group": "x", "versus": "y"}
    row |= {"value": 1.504321, "low": 1.12345, "high": 1.79876, "p": 0.00002, "p_adjusted": 0.0316, "n": 20}
    table = results([{**row, "n_missing": 3, "unit": "d", "decision": "found", "counted": "words"}], facets=())
    text = read(quick(measured=Measured(table), findings=[Finding("It is so.", 0)])).text
    assert "1.50 [1.12, 1.80]" in text
    assert "< .001 .032 found 20 words 3" in text
    assert "1.504321" not in text


def test_a_missing_estimate_is_a_dash_and_never_a_zero():
    rows = rows_page().find("tr")
    note = next(row for row in rows if "no usable answer; not counted as zero" in row.text)
    row = rows[rows.index(note) - 1]
    assert row.find("td", class_="value")[0].text == "–"
    assert row.find("td")[-1].text == "12"


def test_what_all_notes_say_is_said_once():
    row = {"audit": "associations", "system": "A", "measure": "eat", "value": 0.1, "n": 5, "low": 0.0, "high": 0.2}
    rows = [
        {**row, "group": "a", "note": "exact (all; 9 splits); 5 of 6 words left; one-sided"},
        {**row, "group": "b", "note": "exact (all; 9 splits); one-sided"},
    ]
    block = rows_page(measured=Measured(results(rows))).find("div", class_="block")[0]
    assert block.text.count("exact (all; 9 splits); one-sided") == 1
    assert [one.text for one in block.find("tr", class_="note")] == ["On the row above: 5 of 6 words left"]


def test_a_long_contrast_stands_below_its_row():
    row = {"audit": "associations", "system": "A", "measure": "eat", "value": 0.1, "n": 5}
    long = "European American names - African American names: pleasant - unpleasant"
    rows = [{**row, "group": "a", "versus": long}, {**row, "group": "b", "versus": "short"}]
    block = rows_page(measured=Measured(results(rows))).find("div", class_="block")[0]
    assert [one.text for one in block.find("th") if one.attributes["scope"] == "row"] == ["a", "b"]
    assert [one.text for one in block.find("span", class_="below")] == [long, "short"]


def test_long_names_of_systems_stand_above_their_rows():
    row = {"audit": "associations", "measure": "eat", "value": 0.1, "n": 5}
    names = ["a simulated system of the first kind", "a simulated system of the second kind"]
    rows = [{**row, "system": name, "group": group} for name in names for group in "abc"]
    block = rows_page(measured=Measured(results(rows))).find("div", class_="block")[0]
    assert [one.text for one in block.find("tr", class_="run")] == names
    assert [one.text for one in block.find("th", scope="row")] == list("abcabc")
    mixed = results(sorted(rows, key=lambda one: one["group"]))  # names that change from row to row stay in them
    block = rows_page(measured=Measured(mixed)).find("div", class_="block")[0]
    assert block.find("tr", class_="run") == []


def test_measures_are_put_into_words_where_the_audit_has_them():
    section = make_section(with_charts=False)
    audit = replace(section.audit, names={"effect_size": "Association test, effect size"})
    headings = [one.text for one in rows_page(audit=audit).find("h4")]
    assert headings == ["Association test, effect size in d", "refusal rate in share of questions"]


def test_failed_checks_and_unfinished_work_are_said_before_anything_else(page):
    header = page.find("header", class_="masthead")[0]
    first = next(child for child in header.children if child.tag in ("div", "dl"))
    assert first.attributes["class"] == "alarm"
    # 12 a system and three systems; a sixth of the 12 is unknown.
    assert "36 of 720 questions have no answer yet (30 planned and 6 unknown)." in first.text
    assert "14 of 480 questions failed and count as missing." in first.text
    assert first.find("li")[0].text == (
        "Only the face changes: The reader saw the gender cue change in only 61% of the faces; at least 80% was declared."
    )  # a failed check is graver than work not done


def test_many_warnings_do_not_bury_the_page():
    section = make_section(with_charts=False, warnings=tuple(f"Check {number} failed." for number in range(9)))
    banner = read(render([section], "t")).find("div", class_="alarm")[0]
    assert banner.find("details")[0].find("summary")[0].text == "6 more warnings"
    assert len(banner.find("li")) == 9


def test_finished_work_without_warnings_has_no_banner():
    assert 'class="alarm"' not in quick()


def test_answers_that_cannot_be_read_are_a_state_of_their_own_and_told_in_the_banner():
    counts = {"done": 7, "refused": 1, "unreadable": 2, "failed": 1}
    page = read(quick(states=pl.DataFrame([{"system": "A", **counts}])))
    assert "2 of 11 questions got an answer that cannot be read and count as missing." in page.text
    assert "1 of 11 questions failed and counts as missing." in page.text
    table = page.find("table", class_="states")[0]
    assert [cell.text for cell in table.find("th", class_="figure")] == [
        "answered", "refused", "unreadable", "failed", "unknown", "in flight", "planned", "questions"
    ]  # fmt: skip
    assert [cell.text for cell in table.find("td", class_="figure")] == ["7", "1", "2", "1", "0", "0", "0", "11"]


def test_one_missing_answer_is_told_in_the_singular():
    counts = {"planned": 1, "in_flight": 0, "done": 9, "failed": 0, "refused": 0, "unreadable": 0, "unknown": 0}
    states = pl.DataFrame([{"system": "A", **counts}])
    assert "1 of 10 questions has no answer yet (1 planned)." in read(quick(states=states)).text


def test_the_same_audit_twice_makes_two_sections():
    sections = [
        make_section("search", with_charts=False, study="first"),
        make_section("search", with_charts=False, study="second", anchor="search-2"),
    ]
    page = read(render(sections, "Two"))
    assert [one.attributes["id"] for one in page.find("section", class_="audit")] == ["search", "search-2"]
    ids = [element.attributes["id"] for element in page.walk() if "id" in element.attributes]
    assert len(ids) == len(set(ids))


def test_the_same_chart_twice_does_not_share_ids():
    one = make_section("search", study="first", with_charts=False)
    rows = one.measured.results.drop_nulls("value")
    heat = Chart("heat", "Heat", "In colours.", coloured(rows))
    one = replace(one, charts=[heat, heat])
    page = read(render([one, replace(one, anchor="search-2")], "Two"))
    ids = [element.attributes["id"] for element in page.walk() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    # What each drawing calls the same: two charts a section, and the main one once more for phones.
    assert len([name for name in ids if name.endswith("part-1")]) == 6


def test_text_from_systems_is_escaped_everywhere(nasty):
    page = read(nasty)  # raises when a tag in the text had opened or closed an element
    assert page.find("script") == []
    assert nasty.count("<style>") == 1
    shown = "<script>window.__ran = true</script>␀␛[31m\ufffd"
    places = ["title", "h1", "th", "td", "li", "caption", "summary", "h4", "p"]
    found = {tag for tag in places if any(shown in one.text for one in page.find(tag))}
    assert found >= {"title", "h1", "th", "td", "li", "caption", "h4", "p"}
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202e]", nasty)
    assert nasty.encode("utf-8")


def test_the_page_asks_for_nothing_outside(html, nasty):
    for text in (html, nasty):
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert policy and "default-src 'none'" in policy[1] and "script-src" not in policy[1]
        page = read(text)
        for element in page.walk():
            for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                address = element.attributes.get(name, "#")
                beside = ("#", "data:", "tables/", "rows/", "charts/", "results.", "summary.md")
                assert address.startswith(beside), (element.tag, name, address)
            assert not any(name.startswith("on") for name in element.attributes)
        assert "@import" not in text
        assert not re.search(r"url\((?!#)", text.split("</style>")[0])


def test_headings_go_down_one_step_at_a_time(page):
    levels = [int(one.tag[1]) for one in page.walk() if re.fullmatch("h[1-6]", one.tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_can_be_read_aloud(page):
    assert page.find("html")[0].attributes["lang"] == "en"
    tables = page.find("table")
    assert len(tables) >= 25
    for table in tables:
        assert table.find("caption")[0].text
        assert all(head.attributes.get("scope") in ("col", "row", "rowgroup") for head in table.find("th"))


def test_figures_say_in_words_what_they_show(page):
    for figure in page.find("figure"):
        drawing = figure.find("svg")[0]
        assert drawing.attributes["role"] == "img"
        assert len(drawing.attributes["aria-label"]) > 20
        assert figure.find("figcaption")[0].text


def test_a_picture_that_comes_as_png_stands_in_the_page():
    chart = Chart("grid", "Faces that do not exist", "Two rows of five.", png=b"\x89PNG\r\n\x1a\nrest")
    picture = read(quick(charts=[chart])).find("img")[0]
    assert picture.attributes["src"].startswith("data:image/png;base64,iVBORw0KGgp")
    assert picture.attributes["alt"] == "Faces that do not exist. Two rows of five."


def numbered_rows(page) -> list:
    return [one for one in page.find("tr") if re.search(r"-row-\d+$", one.attributes.get("id", ""))]


def test_the_page_has_the_rows_that_sentences_speak_of_and_the_page_beside_it_has_all():
    row = {"audit": "search", "measure": "gsr", "system": "A", "value": 0.1, "low": 0.0, "high": 0.2, "n": 5}
    many = results([{**row, "group": f"query {number}"} for number in range(1000)])
    changes = {"measured": Measured(many), "findings": [Finding("One query stands out.", 900)], "tables": []}
    page = read(quick(**changes))
    assert [one.attributes["id"] for one in numbered_rows(page)] == ["associations-row-901"]
    assert page.find("a", class_="trace")[0].attributes["href"] == "#associations-row-901"
    assert page.find("a", href="rows/associations.html")[0].text == "All 1,000 rows"
    assert len(numbered_rows(rows_page(**changes))) == 1000


def test_pictures_come_first_then_the_main_chart_and_the_others_are_folded():
    section = make_section()
    forest, curve = section.charts
    sheet = Chart("sheet", "Faces", "Of nobody.", png=b"x")
    page = read(quick(charts=[forest, replace(curve, main=True), sheet]))
    figures = [one.attributes["id"] for one in page.find("section", id="associations")[0].find("figure")]
    assert figures == ["associations-sheet", "associations-specification_curve", "associations-forest"]
    folded = [figure for fold in page.find("details", class_="fold") for figure in fold.find("figure")]
    assert [one.attributes["id"] for one in folded] == ["associations-forest"]


def test_a_chart_that_shows_nothing_is_not_drawn():
    section = make_section()
    forest = section.charts[0]
    empty = replace(forest, name="empty", chart=charts.forest(section.measured.results.head(0)))
    page = read(quick(charts=[empty, forest]))
    assert [one.attributes["id"] for one in page.find("figure")] == ["associations-forest"]


def test_a_figure_opens_the_rows_and_tables_it_is_drawn_from():
    section = make_section()
    drawn = replace(section.charts[0], of=("effect_size", "specifications", "nothing of the kind"))
    figure = read(quick(charts=[drawn])).find("figure")[0]
    addresses = [link.attributes["href"] for link in figure.find("a")]
    assert addresses == ["rows/associations.html#associations-effect_size", "tables/associations-specifications.csv"]
    assert rows_page().find("div", id="associations-effect_size")


def test_a_simulated_system_is_never_taken_for_a_real_one():
    section = make_section(with_charts=False)
    first = section.measured.results["system"][0]
    systems = [{**one, "use": "phantom:x"} if one["name"] == first else one for one in section.systems]
    assert shown_names(systems) == {first: f"{first} (simulated)"}
    assert shown_names([{"name": "simulated tagger", "use": "phantom:x"}]) == {"simulated tagger": "simulated tagger"}
    assert f"{first} is simulated. The answers were planted" in read(quick(systems=systems)).text
    every = [{**one, "use": "phantom:x"} for one in section.systems]
    assert "All systems here are simulated." in read(quick(systems=every)).text


def test_sentences_stand_under_their_decisions_and_one_on_the_card():
    section = make_section(with_charts=False)
    decisions = section.measured.results["decision"].to_list()
    said = [Finding(f"A sentence of row {row}.", row) for row in range(len(decisions))]
    page = read(quick(findings=said))
    for name in ("found", "not-found", "not-measurable"):
        lists = page.find("section", id="associations")[0].find("ul", class_=name)
        lines = [line for one in lists for line in one.find("li")]
        assert len(lines) == decisions.count(name.replace("-", " ")) > 0
    assert len(page.find("ul", class_="found")[0].find("li")) == min(OPEN_FOUND, decisions.count("found"))
    card = page.find("article", class_="card")[0]
    assert card.find("p")[0].text == f"found A sentence of row {decisions.index('found')}."


def test_the_first_screen_counts_real_and_simulated_systems_apart():
    section = make_section(with_charts=False)
    first, second = section.systems
    page = read(quick(systems=[first, {**second, "use": "phantom:x"}]))
    short = dict(zip([one.text for one in page.find("dt")], [one.text for one in page.find("dd")], strict=True))
    assert short["Of which systems"].startswith(
        "1 real system (glove-6b-50d), and 1 simulated: their answers were planted"
    )
    assert short["What was asked"] == "1 audit: 480 questions, 472 answered (98%)."  # 2 x 240, 4 each refused


def test_remarks_stay_in_their_section():
    section = make_section(with_charts=False)
    measured = replace(section.measured, remarks=("There is no vector for gladiola.",))
    page = read(quick(measured=measured))
    assert "gladiola" not in page.find("header", class_="masthead")[0].text
    assert "gladiola" in page.find("section", id="associations")[0].text


def test_a_long_table_is_cut_with_a_pointer_to_its_file():
    table = ReportTable("cases/..", "Cases", "To read.", pl.DataFrame({"case": range(5000)}))
    page = read(quick(tables=[table]))
    assert f"The first {SHOWN_ROWS} of 5,000 rows; all of them are in tables/associations-cases.csv." in page.text
    assert page.find("a", href="tables/associations-cases.csv")


def test_a_table_writes_each_column_alike():
    table = pl.DataFrame({"share": [1.0, 0.931], "p": [0.00001, 0.5], "count": [1, 20], "tiny": [0.001234, 5.0]})
    page = read(quick(tables=[ReportTable("t", "T", "", table)]))
    rows = [row.text for row in page.find("section", id="associations")[0].find("tr")]
    assert "1.00 < .001 1 0.0012 0.93 .500 20 5" in " ".join(rows)


def test_a_table_names_measures_in_words():
    table = pl.DataFrame({"measure": ["ndcg_cut_100", "own_measure"], "value": [1.0, 2.0]})
    page = read(quick(tables=[ReportTable("t", "T", "", table)]))
    rows = " ".join(row.text for row in page.find("section", id="associations")[0].find("tr"))
    assert "nDCG at 100" in rows
    assert "ndcg_cut_100" not in rows
    assert "own_measure" in rows  # nobody gave it other words


def test_a_study_without_correction_says_so():
    assert "p is not adjusted: the study declared no correction." in quick(manifest={"family": {"method": "none"}})


def test_the_title_says_when_and_with_what(page):
    footer = page.find("footer")[0].text
    assert "Answers recorded 2026-01-05; measured with Portrayal 0.1.0." in footer


def test_an_empty_table_says_none():
    page = read(quick(tables=[ReportTable("t", "Words not found", "", pl.DataFrame({"word": []}))]))
    block = next(one for one in page.find("div", class_="block") if "Words not found" in one.text)
    assert block.text == "Words not found None."


def test_results_of_no_row_and_sections_of_no_kind():
    page = read(quick(measured=Measured(results([])), findings=[], tables=[], systems=[]))
    assert "No result could be computed from the answers that came." in page.text
    assert "Portrayal" in read(render([], "Nothing yet")).text


def test_credentials_never_reach_the_page():
    system = {
        "name": "A",
        "use": "https://user:hunter2@example.org/v1?api_key=hunter2&model=x",
        "parameters": {"api_key": "hunter2", "headers": {"Authorization": "Bearer hunter2"}, "max_tokens": 50},
    }
    html = quick(systems=[system], manifest={"systems": [system]})
    assert "hunter2" not in html
    assert "max_tokens = 50" in html
    assert "model=x" in html


def test_a_manifest_of_many_hashes_is_cut(page):
    text = page.find("section", id="search")[0].text
    assert "stimulus 23 abab" in text
    assert "stimulus 24 abab" not in text
    assert "and 216 more in manifest.json" in text  # 240 less the 24 shown


def test_rendering_twice_gives_the_same_page(html):
    assert render(five_sections(), "Five audits") == html


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)  # polars holds no lone surrogates


@settings(max_examples=25)
@given(ANY_TEXT, ANY_TEXT, st.floats(), st.floats(), st.integers(0, 10**12))
def test_no_text_and_no_number_breaks_the_page(text, other, value, low, n):
    row = {"audit": "associations", "system": text, "measure": other, "group": text, "versus": other, "n": n}
    table = results([{**row, "value": value, "low": low, "high": value, "p": 0.5, "note": text, "unit": other}] * 2)
    html = quick(measured=Measured(table, warnings=(text,)), findings=[Finding(text, 1)], study_name=other)
    page = read(html)
    assert len(page.find("section", class_="audit")) == 1
    assert page.find("script") == []
