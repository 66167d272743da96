"""The organiser's pages: answers by system, group, place, label and decision; tables; two systems; rows and what is behind them."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from portrayal.reporting.answers.answers import Chosen, answers_of, factors_of, narrowed, raw_text
from portrayal.reporting.answers.behind import Bases
from portrayal.study.audit import Evidence
from portrayal.study.registry import get_audit
from portrayal_review.browse import listed, side_by_side
from review.made_runs import SCRIPT

TAGS = pl.DataFrame(
    [
        ("a", "s1", 0, "answered", None, "man", 0.9),
        ("a", "s1", 0, "answered", None, "hat", 0.5),
        ("a", "s2", 0, "refused", "no", None, None),
        ("b", "s1", 0, "answered", None, "hat", None),
        ("b", "s2", 0, "empty", None, None, None),
    ],
    schema=["system", "stimulus", "repeat", "status", "reason", "tag", "confidence"],
    orient="row",
)
STIMULI = pl.DataFrame(
    {"stimulus": ["s1", "s2"], "gender": ["female", "male"], "context": ["F1", None], "kind": "image"}
)


def total(text: str, what: str = "answer") -> int:
    found = re.search(rf"([\d,]+) {what}", text)
    assert found
    return int(found[1].replace(",", ""))


def test_answers_are_one_row_a_question() -> None:
    answers = answers_of(TAGS, "tagger")
    assert answers.select("system", "stimulus", "status", "texts").rows() == [
        ("a", "s1", "answered", ["man", "hat"]), ("a", "s2", "refused", []), ("b", "s1", "answered", ["hat"]),
        ("b", "s2", "empty", []),
    ]  # fmt: skip
    assert answers["scores"].to_list() == [[0.9, 0.5], [], [None], []]


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        (Chosen(), 4),
        (Chosen(systems=["a"]), 2),
        (Chosen(status="refused"), 1),
        (Chosen(label="man"), 1),
        (Chosen(words="HAT"), 2),
        (Chosen(words="s2"), 2),
        (Chosen(factors={"gender": ["female"]}), 2),
        (Chosen(factors={"gender": ["female", "male"], "context": ["F1"]}), 2),
        (Chosen(factors={"gender": ["nobody"]}), 0),
    ],
)
def test_answers_are_narrowed_down(chosen: Chosen, left: int) -> None:
    assert narrowed(answers_of(TAGS, "tagger"), STIMULI, chosen).height == left


def test_factors_are_what_varies() -> None:
    table = STIMULI.with_columns(source=pl.lit("x"), constant=pl.lit("one"), value=pl.Series([1.5, -2.0]))
    assert factors_of(table) == {"gender": ["female", "male"], "value": ["-2.0", "1.5"]}


NOTHING = dict.fromkeys(("group", "versus", "place", "background", "factor", "of", "axis", "within", "inferred"))


def contexts_bases() -> Bases:
    places = pl.DataFrame({"context": ["F1"], "name": ["Wedding Dress Shop"], "stereotype": ["female"]})
    audit = get_audit("contexts")
    return Bases(audit, audit.settings(), Evidence(STIMULI, pl.DataFrame(), {"contexts": places}))


@pytest.mark.parametrize(
    ("own", "factors", "words"),
    [
        ({"measure": "attribute_between", "group": "female", "versus": "male", "place": "Wedding Dress Shop"},
         {"gender": ["female", "male"], "context": ["F1"]}, ("group: female", "versus: male", "place: Wedding Dress Shop")),
        ({"measure": "inferred_change", "inferred": "female", "place": "baseline"}, {"role": ["baseline"]}, ("place: baseline",)),
        ({"measure": "distance", "group": "female, dark"}, {"gender": ["female"], "race": ["dark"]}, ("group: female, dark",)),
        # Groups that the tagger sees pick out no pictures of people of these groups.
        ({"measure": "recognition_independence", "group": "female", "versus": "male"}, {}, ()),
    ],
)  # fmt: skip
def test_a_row_of_contexts_stands_on_pictures_of_its_place_and_of_people_of_its_groups(own, factors, words) -> None:
    behind = contexts_bases().behind({**NOTHING, "system": "a", **own})
    assert behind.chosen == Chosen(["a"], factors=factors)
    assert behind.narrowed_by == words


def test_a_row_about_silence_stands_on_questions_about_its_groups() -> None:
    groups = pl.DataFrame(
        {"stimulus": ["x", "y", "z"], "axis": "gender", "group": ["f", "m", "n"], "unit": ["1", "2", "3"]}
    )
    bases = replace(contexts_bases(), audit=replace(get_audit("contexts"), groups=lambda evidence, settings: groups))
    row = {**NOTHING, "system": "a", "measure": "unanswered_difference", "axis": "gender", "group": "f", "versus": "m"}
    assert bases.behind(row).chosen == Chosen(["a"], stimuli=["x", "y"])
    assert bases.behind({**row, "versus": "the others"}).chosen == Chosen(["a"], stimuli=["x", "y", "z"])


def test_two_systems_are_compared_by_what_both_say() -> None:
    pairs = side_by_side(answers_of(TAGS, "tagger"), "a", "b")
    (first, second) = pairs.iter_rows(named=True)
    # a says man and hat, b says hat: one of two things is shared. Both silent: nothing to share, and last.
    assert (first["stimulus"], first["alike"], first["both"], first["only_first"]) == ("s1", 0.5, ["hat"], ["man"])
    assert second["stimulus"] == "s2"
    assert second["status_second"] == "empty"


def test_a_listing_sorts_with_missing_last_and_narrows() -> None:
    table = pl.DataFrame({"name": ["b", "a", "C"], "value": [None, 2.0, 1.0]})
    assert [row["name"] for row in listed(table, "value").rows] == ["C", "a", "b"]
    assert [row["name"] for row in listed(table, "value", True).rows] == ["a", "C", "b"]
    assert [row["name"] for row in listed(table, words="c").rows] == ["C"]
    assert listed(table, "no such column").sort == ""
    assert listed(table, page=99, size=2).page == 2


def test_bytes_that_are_no_text_are_counted() -> None:
    assert raw_text(b"\xff\xfe\x00") == "(3 bytes that are no text)"
    assert raw_text(b"a" * 30, most=20).endswith("(10 more characters)")


def test_every_page_of_both_runs(site) -> None:
    client = site.browser()
    assert "drawn captions" in client.get("/").text
    for number in (1, 2):
        page = client.get(f"/run/{number}")
        assert page.status_code == 200
        links = {html.unescape(link) for link in re.findall(r'(?:href|src)="(/[^"#]+)"', page.text)}
        for link in sorted(links):
            assert client.get(link).status_code == 200, link


def test_answers_by_system_group_place_label_and_decision(site) -> None:
    client = site.browser()
    ask = lambda query: total(client.get(f"/run/2/answers?{query}").text)  # noqa: E731
    # Two people alone and in eight places, and eight places alone, before two taggers: (2 + 16 + 8) x 2.
    assert ask("") == 52
    assert ask("system=tag") == 26
    assert ask("of_gender=female") == 18
    assert ask("of_context=F1") == 6
    assert ask("label=quuxen") == 26
    assert ask("status=answered") == 52
    assert ask("system=tag&of_context=F1&of_gender=male&label=woman") == 1
    decided = site.shelf.run(2).measured.results["decision"].drop_nulls()[0]
    assert 0 < ask(f"decision={decided.replace(' ', '+')}") <= 52
    assert "No answer matches" in client.get("/run/2/answers?label=nothing").text


def test_a_row_opens_the_answers_behind_it(site) -> None:
    client, opened = site.browser(), site.shelf.run(1)
    results = opened.measured.results.with_row_index("row")
    row = results.filter(pl.col("system") == "girls", pl.col("group") == "female").row(0, named=True)
    text = client.get(f"/run/1/answers?row={row['row']}").text
    assert f"behind row {row['row'] + 1}" in text
    assert total(text) == 24  # half of the images are annotated female
    for finding in opened.findings:
        assert client.get(f"/run/1/answers?row={finding.row}").status_code == 200


def test_one_answer_shows_picture_raw_and_reading(site) -> None:
    client = site.browser()
    text = client.get("/run/1/answer?system=girls&stimulus=i07").text
    assert SCRIPT not in text
    assert html.escape(SCRIPT, quote=False).replace('"', "&#34;") in text or "&lt;script&gt;" in text
    assert "How it was read" in text and "The raw answer" in text
    picture = re.search(r'src="(/run/1/picture/[^"]+)"', text)
    assert picture
    answer = client.get(html.unescape(picture[1]))
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content.startswith(b"\xff\xd8")
    assert client.get("/run/1/answer?system=nobody&stimulus=i07").status_code == 404


def test_results_sort_both_ways_and_narrow(site) -> None:
    client = site.browser()
    up = client.get("/run/1/results?sort=n").text
    down = client.get("/run/1/results?sort=n&desc=1").text
    assert 'aria-sort="ascending"' in up
    assert 'aria-sort="descending"' in down
    rows = site.shelf.run(1).measured.results
    assert total(up, "rows?") == rows.height
    assert (
        total(client.get("/run/1/results?system=plain").text, "rows?")
        == rows.filter(pl.col("system") == "plain").height
    )


def test_compare_needs_systems_of_the_run(site) -> None:
    client = site.browser()
    text = client.get("/run/1/compare?first=girls&second=plain").text
    assert "24 of 48 stimuli got the same answer" in text  # the men
    assert client.get("/run/1/compare?first=girls&second=nobody").status_code == 404


@pytest.mark.parametrize(
    "query", ["page=0", "page=99999999999999999999", "page=x", "row=999999", "row=-1", "sort=%00", "words=%ff"]
)
def test_strange_questions_are_answered(site, query: str) -> None:
    client = site.browser()
    assert client.get(f"/run/1/answers?{query}").status_code == 200
    assert client.get(f"/run/1/results?{query}").status_code == 200


def test_a_run_that_is_measured_again_shows_anew(site, runs: list[Path]) -> None:
    from portrayal import flow

    before = site.shelf.run(1)
    assert site.shelf.run(1) is before
    flow.measure(runs[0])
    assert site.shelf.run(1) is not before
