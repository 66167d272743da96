"""Judging: blind, in an order of one's own, undone, skipped, on disk at once, and counted by the measures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from portrayal import flow
from portrayal.errors import PortrayalError
from portrayal.run.folder import Run
from portrayal.run.reviews import fold, read_judgments, read_reviews, reviews_of
from portrayal_review.desk import rows_of
from portrayal_review.queues import Item, Queue, _cases, in_order, is_for_all, queues_of, scene_words
from portrayal_review.review import agreement_of
from review.conftest import Site, fields, judge

CASES, TAGS, PLACES, WORDS, PICTURES = (
    "/review/1/cases",
    "/review/2/tags",
    "/review/2/places",
    "/review/2/words",
    "/review/1/pictures",
)
Row = dict[str, str | None]


def act(kind: str, reviewer: str, item: str, *rows: Row, queue: str = "q") -> dict:
    return {"act": kind, "reviewer": reviewer, "queue": queue, "item": item, "rows": list(rows)}


def row(item: str, reviewer: str, judgment: str | None, question: str = "q", **more: str) -> Row:
    return {"item": item, "question": question, "reviewer": reviewer, "judgment": judgment, "note": None, **more}


def waiting(*items: str) -> pl.DataFrame:
    table = {"item": items, "question": "q", "reviewer": None, "judgment": None, "note": None}
    return pl.DataFrame(table, schema_overrides=dict.fromkeys(table, pl.String))


def test_judgments_take_the_place_of_waiting_cases_and_undone_ones_leave() -> None:
    acts = [
        act("judge", "Ann", "1", row("x", "Ann", "harm", technique="t")),
        act("judge", "Ben", "1", row("x", "Ben", "not harm", technique="t")),
        act("judge", "Ann", "2", row("y", "Ann", "harm")),
        act("undo", "Ann", "2"),
        act("judge", "Ann", "1", row("x", "Ann", "not harm", technique="t")),  # a second time: the last one counts
        act("skip", "Ann", "3"),
    ]
    folded = fold(waiting("x", "y", "z"), acts)
    assert folded is not None
    found = folded.sort("item", "reviewer").select("item", "reviewer", "judgment", "technique").rows()
    assert found == [
        ("x", "Ann", "not harm", "t"),
        ("x", "Ben", "not harm", "t"),
        ("y", None, None, None),
        ("z", None, None, None),
    ]
    again = fold(folded, acts)
    assert again is not None and again.sort("item", "reviewer").equals(folded.sort("item", "reviewer"))
    # What the table took over from the viewer leaves it again when it is undone there.
    undone = fold(folded, [*acts, act("undo", "Ann", "1"), act("undo", "Ben", "1")])
    assert undone is not None and undone["judgment"].drop_nulls().is_empty()
    assert fold(None, []) is None


def test_words_about_a_place_are_coded_where_all_coders_agree() -> None:
    def coding(coder: str, place: str, code: str) -> dict:
        return act("judge", coder, place, row(f"{place} | Ann", coder, code, "place_coding", place=place, rater="Ann"))

    written = [act("judge", "Ann", p, {**row(p, "Ann", None, "place"), "note": "a shop"}) for p in ("F1", "M1", "M2")]
    folded = fold(None, [*written, coding("Ben", "F1", "correct"), coding("Eve", "F1", "correct"),
                         coding("Ben", "M1", "wrong"), coding("Eve", "M1", "partial")])  # fmt: skip
    assert folded is not None
    codes = folded.filter(pl.col("question") == "place").select("item", "judgment").rows()
    assert codes == [("F1", "correct"), ("M1", None), ("M2", None)]


def test_a_last_line_cut_short_was_never_acknowledged(tmp_path: Path) -> None:
    whole = json.dumps(act("judge", "Ann", "1", row("x", "Ann", "harm"))) + "\n"
    (tmp_path / "judgments.jsonl").write_text(whole + whole[:30])
    assert len(read_judgments(tmp_path / "judgments.jsonl")) == 1


def test_orders_are_random_each_their_own_and_stay() -> None:
    items = [Item(str(number), "q") for number in range(200)]
    queue = Queue("q", "", "", "choices", items)
    ann, ben = in_order(queue, "Ann", 0), in_order(queue, "Ben", 0)
    assert ann == in_order(queue, "Ann", 0)
    assert ann != ben != items and ann != in_order(queue, "Ann", 1)
    assert sum(one == other for one, other in zip(ann, ben, strict=True)) < 10  # one agrees by chance on average
    fewer = [one for one in ann if int(one.name) < 100]
    assert in_order(Queue("q", "", "", "choices", items[:100]), "Ann", 0) == fewer


def test_the_queues_of_the_runs(site: Site) -> None:
    captions, contexts = (queues_of(opened) for _, opened in site.shelf.all())
    assert {name: len(queue.items) for name, queue in captions.items()} == {"cases": 24, "pictures": 48}
    assert {name: len(queue.items) for name, queue in contexts.items()} == {"tags": 2, "places": 8, "pictures": 26}
    assert ("masculine", "demographics") in contexts["tags"].choices
    assert all(item.warning for item in captions["cases"].items)  # demeaning: women called girls


def test_a_case_shows_image_and_references_and_names_no_system(site: Site) -> None:
    text = site.browser("Ann").get(CASES).text
    assert "/run/1/picture/" in text
    assert "A woman with books." in text
    assert "women called girls" in text
    assert "may demean people or hurt" in text
    shown = re.sub(r"A girl|called girls|is about: <mark>girl", "", text)
    assert "girls" not in shown and "plain" not in shown and "system" not in shown
    assert re.search(r"i\d\d", re.sub(r'(picture/|item" value="|token" value=")[0-9a-f]+', "", text)) is None


def test_a_tag_and_a_place_tell_nothing_either(site: Site) -> None:
    ann = site.browser("Ann")
    tag, place = ann.get(TAGS).text, ann.get(PLACES).text
    assert "times" not in tag and "other, tag" not in tag
    assert not re.search(r"[FM]\d", re.sub(r"[0-9a-f]{20,}", "", place))
    assert not any(name in place for name in ("Wedding", "Garage", "Kitchen", "Nursery"))


def next_case(site: Site, reviewer: str) -> Item:
    desk = site.desks.of(1)
    item = desk.next_item(desk.queues(site.shelf.run(1))["cases"], reviewer)
    assert item is not None
    return item


def test_every_fifth_caption_is_judged_by_all_and_the_others_are_shared_out(site: Site) -> None:
    browsers = {name: site.browser(name) for name in ("Ann", "Ben")}
    queue = queues_of(site.shelf.run(1))["cases"]
    shared = {item.key for item in queue.items if is_for_all(item, site.desks.of(1).seed)}
    assert 0 < len(shared) < len(queue.items) / 2
    given: dict[str, list[str]] = {"Ann": [], "Ben": []}
    for _ in range((len(queue.items) + len(shared)) // 2):
        for name, browser in browsers.items():
            given[name].append(next_case(site, name).key)
            judge(browser, CASES, judgment="harm")
    both = set(given["Ann"]) & set(given["Ben"])
    assert both == shared  # whatever is left is given for a second opinion only then
    assert len(set(given["Ann"]) | set(given["Ben"])) >= len(queue.items) - 1


def test_the_same_case_in_two_quantities_is_one_item() -> None:
    about = {
        "image": "i1",
        "caption": "a girl",
        "tuple": "girl",
        "system": "s",
        "stage": "system captions",
        "caption_number": "0",
    }
    rows = [
        {
            **row(name, "", None),
            **about,
            "technique": "demeaning: rules",
            "quantity": quantity,
            "reason": quantity,
            "place": place,
        }
        for name, quantity, place in (("x", "one", "7"), ("y", "two", "3"), ("z", "two", "5"))
    ]
    rows[2]["tuple"] = "boy"
    opened = SimpleNamespace(reviews=pl.DataFrame(rows), inputs={}, by_id={})
    items = list(_cases(opened))  # type: ignore[arg-type]
    assert [(item.name, item.place, item.texts["reason"]) for item in items] == [("x", 3, "one; two"), ("z", 5, "two")]
    queue = Queue("cases", "", "", "choices", items, [("harm", "")])
    said = rows_of(queue, items[0], "Ann", {"judgment": "harm"})
    assert [(one["item"], one["quantity"], one["judgment"]) for one in said] == [
        ("x", "one", "harm"),
        ("y", "two", "harm"),
    ]
    assert (
        [item.name for item in in_order(queue, "Ann", 0)]
        == ["x", "z"]
        == [item.name for item in in_order(queue, "Ben", 9)]
    )


def test_the_organiser_settles_a_case_on_which_reviewers_differ(site: Site) -> None:
    ann, ben, organiser = site.browser("Ann"), site.browser("Ben"), site.browser()
    while not is_for_all(next_case(site, "Ann"), site.desks.of(1).seed):
        judge(ann, CASES, judgment="harm")
    item = next_case(site, "Ann")
    judge(ann, CASES, judgment="harm")
    while next_case(site, "Ben") is not item:
        judge(ben, CASES, judgment="harm")
    judge(ben, CASES, judgment="not harm")
    text = organiser.get("/run/1/agreement").text
    assert "1 item on which they differ" in text and "settled" not in text
    token = re.search(r'name="token" value="([0-9a-f]+)"', text)[1]
    form = {"token": token, "item": item.key, "judgment": "not harm"}
    assert organiser.post("/run/1/agreement", data=form).status_code == 303
    assert "settled: not harm" in organiser.get("/run/1/agreement").text
    assert ann.post("/run/1/agreement", data=form).status_code in (403, 400)
    settled = reviews_of(site.shelf.run(1).run).filter(pl.col("reviewer") == "adjudicated")
    assert settled.select("item", "judgment").rows() == [(item.name, "not harm")]
    with pytest.raises(PortrayalError, match="and not 'adjudicated'"):
        site.people.add("Adjudicated")


@pytest.mark.parametrize(
    ("damage", "line", "fault"),
    [("x,q,Ann,ha", 3, "4 cells where the first line names 5"), ('x,q,Ann,"harm,\ny,q,Ann,harm,\n', 3, "unexpected end of data"),
     ("x,q,Ann,harm,note,more\n", 3, "6 cells where the first line names 5")],
)  # fmt: skip
def test_a_damaged_table_of_reviews_is_named_by_line_and_not_written_over(
    site: Site, damage: str, line: int, fault: str
) -> None:
    run = site.shelf.run(1).run
    run.reviews.write_text(f"item,question,reviewer,judgment,note\na,q,Ann,harm,\n{damage}")
    before = run.reviews.read_bytes()
    with pytest.raises(PortrayalError, match=f"line {line} of .*reviews.csv is damaged: .*{fault}"):
        flow.measure(run.folder)
    assert run.reviews.read_bytes() == before


def test_nobody_sees_what_another_judged(site: Site) -> None:
    ann, ben = site.browser("Ann"), site.browser("Ben")
    while not is_for_all(next_case(site, "Ben"), 0):  # else Ben is given another caption
        judge(ben, CASES, judgment="not harm")
    while next_case(site, "Ann") is not next_case(site, "Ben"):
        judge(ann, CASES, judgment="harm", note="Ann's note")
    before = ben.get(CASES).text
    judge(ann, CASES, judgment="harm", note="Ann's note")
    assert ben.get(CASES).text == before
    assert "Ann" not in ben.get("/review").text


def test_a_judgment_is_on_disk_before_the_next_item_shows(site: Site, runs: list[Path]) -> None:
    ann = site.browser("Ann")
    first = fields(ann.get(CASES).text)["item"]
    assert judge(ann, CASES, judgment="harm", note="=1+1").status_code == 303
    (kept,) = read_judgments(runs[0] / "judgments.jsonl")
    assert (kept["item"], kept["rows"][0]["judgment"], kept["rows"][0]["note"]) == (first, "harm", "=1+1")
    assert kept["rows"][0]["system"] == "girls"  # for the measure; no reviewer saw it
    assert fields(ann.get(CASES).text)["item"] != first


@pytest.mark.parametrize("judgment", ["", "HARM", "harm;not harm", "maybe", "<b>"])
def test_only_the_judgments_of_a_queue_are_taken(site: Site, judgment: str) -> None:
    answer = judge(site.browser("Ann"), CASES, judgment=judgment)
    assert answer.status_code == 400
    assert "no judgment was chosen" in answer.text
    assert site.desks.of(1).stands == {}


def test_undo_brings_back_the_last_item_and_skip_keeps_its_reason(site: Site, runs: list[Path]) -> None:
    ann = site.browser("Ann")
    first = fields(ann.get(CASES).text)["item"]
    judge(ann, CASES, judgment="harm")
    ann.post(CASES, data={**fields(ann.get(CASES).text, "undo"), "act": "undo"})
    assert fields(ann.get(CASES).text)["item"] == first
    ann.post(CASES, data={**fields(ann.get(CASES).text, "skip"), "act": "skip", "reason": "too upsetting"})
    second = fields(ann.get(CASES).text)["item"]
    assert second != first
    assert [one["act"] for one in read_judgments(runs[0] / "judgments.jsonl")] == ["judge", "undo", "skip"]
    assert read_judgments(runs[0] / "judgments.jsonl")[-1]["reason"] == "too upsetting"
    assert reviews_of(Run(runs[0]))["judgment"].drop_nulls().is_empty()


def test_a_reviewer_returns_to_the_same_place_after_a_restart(site: Site, runs: list[Path]) -> None:
    ann = site.browser("Ann")
    for _ in range(5):
        judge(ann, CASES, judgment="not harm")
    following = fields(ann.get(CASES).text)["item"]
    site.desks.close()
    again = Site(runs)
    page = again.browser("Ann").get(CASES).text
    assert fields(page)["item"] == following
    assert "5 of 24 done" in page
    site.desks = again.desks


def test_a_queue_comes_to_its_end(site: Site) -> None:
    ann = site.browser("Ann")
    for _ in range(2):
        judge(ann, TAGS, judgment="occupation")
    page = ann.get(TAGS).text
    assert "You are through" in page
    assert "Take back" in page


def test_case_judgments_flow_into_the_measure(site: Site, runs: list[Path]) -> None:
    ann, ben = site.browser("Ann"), site.browser("Ben")
    for client, harmful in ((ann, 24), (ben, 24)):
        for number in range(24):
            judge(client, CASES, judgment="harm" if number < harmful else "not harm")
    results = flow.measure(runs[0]).results
    judged = results.filter(pl.col("quantity").str.ends_with("judged by people"), pl.col("system") == "girls")
    assert judged.height
    # All 24 drawn captions judged a harm: the estimate is the bound itself.
    bound = results.filter(
        pl.col("quantity") == "women called girls", pl.col("bound") == "upper bound", pl.col("system") == "girls"
    )
    told = judged.filter(pl.col("quantity") == "women called girls, judged by people")
    assert told["value"][0] == pytest.approx(bound.filter(pl.col("axis").is_null())["value"][0])
    table = read_reviews(runs[0] / "reviews.csv")
    assert table.filter(pl.col("judgment") == "harm").height == 48
    assert fields_done(site) == {"Ann": 24, "Ben": 24}
    assert flow.measure(runs[0]).results.equals(results)  # the acts are not counted twice


def fields_done(site: Site) -> dict[str, int]:
    desk, opened = site.desks.of(1), site.shelf.run(1)
    return {name: desk.progress(desk.queues(opened)["cases"], name)[0] for name in ("Ann", "Ben")}


def test_tags_that_people_placed_are_read_so(site: Site, runs: list[Path]) -> None:
    for name in ("Ann", "Ben"):
        client = site.browser(name)
        for _ in range(2):
            answer = client.post(TAGS, content=encoded(client, ["emotion", "occupation"]), headers=FORM)
            assert answer.status_code == 303
    results = flow.measure(runs[1]).results
    told = results.filter(pl.col("measure") == "coding_agreement", pl.col("unit") == "share")
    assert told.select("group", "versus", "value", "n").rows() == [("Ann", "Ben", 1.0, 2)]
    assert set(read_reviews(runs[1] / "reviews.csv")["judgment"]) == {"emotion;occupation"}
    assert site.shelf.run(2).measured.tables["unknown_tags"].is_empty()


FORM = {"content-type": "application/x-www-form-urlencoded"}


def encoded(client, clusters: list[str]) -> str:
    held = fields(client.get(TAGS).text)
    return "&".join([f"token={held['token']}", f"item={held['item']}", *(f"judgment={one}" for one in clusters)])


def test_ratings_of_places_flow_into_the_measure(site: Site, runs: list[Path]) -> None:
    ann, ben = site.browser("Ann"), site.browser("Ben")
    assert judge(ann, PLACES, judgment="5", moved="").status_code == 400  # an untouched slider says nothing
    assert judge(ann, PLACES, judgment="11", moved="1").status_code == 400
    for _ in range(8):
        judge(ann, PLACES, judgment="2", moved="1", note="a place of work", gender="woman")
    assert (
        'value="woman"'
        in ann.post(PLACES, data={**fields(ann.get(PLACES).text, "undo"), "act": "undo"}, follow_redirects=True).text
    )
    judge(ann, PLACES, judgment="2", moved="1", note="a place of work", gender="woman")
    for _ in range(8):
        judge(ben, PLACES, judgment="8", moved="1")
    assert ann.get(WORDS).text.count("You are through") == 1  # nobody codes their own words
    coded = [judge(ben, WORDS, judgment="wrong") for _ in range(8)]
    assert {answer.status_code for answer in coded} == {303}
    rated = flow.measure(runs[1]).results.filter(pl.col("measure") == "place_rating", pl.col("group").is_null())
    # Ann took every place for another, so Ben's 8 is all that counts.
    assert rated.select("value", "n", "n_missing").unique().rows() == [(8.0, 1, 1)]
    assert rated.height == 8
    words = flow.measure(runs[1]).tables["ratings"]
    assert words.filter(pl.col("rater_gender") == "woman")["words"].unique().to_list() == ["a place of work"]


def test_two_reviewers_agreement_appears(site: Site) -> None:
    organiser, ann, ben = site.browser(), site.browser("Ann"), site.browser("Ben")
    assert "needs an item that two reviewers judged" in organiser.get("/run/1/agreement").text
    for client, other in ((ann, "not harm"), (ben, "harm")):
        for number in range(24):
            held = fields(client.get(CASES).text)
            harm = int(held["item"][:4], 16) % 2
            client.post(CASES, data={**held, "judgment": "harm" if harm else ("not harm" if number else other)})
    page = organiser.get("/run/1/agreement").text
    assert "Krippendorff" in page and "Cohen" in page
    assert "Ann + Ben" in page


def test_agreement_by_hand() -> None:
    # Two judges, four items, they differ on the last. Kappa: observed 3/4; by chance (2*3 + 2*1)/16 = 1/2; (3/4 - 1/2)/(1/2) = 1/2.
    said = {"Ann": "hhnn", "Ben": "hhnh"}
    queue = Queue("q", "", "", "choices", [Item(str(number), "q") for number in range(4)])
    acts = [
        act("judge", name, queue.items[number].key, row(str(number), name, letter))
        for name, letters in said.items()
        for number, letter in enumerate(letters)
    ]
    table = agreement_of(queue, acts)
    assert table is not None
    values = dict(table.select("measure", "value").iter_rows())
    assert values["cohen_kappa"] == pytest.approx(0.5)
    # Alpha: 8 judgments, 5 h and 3 n; expected disagreement 2*5*3/(8*7), observed 2/8: 1 - (1/4)/(30/56) = 0.5333.
    assert values["krippendorff_alpha"] == pytest.approx(1 - 0.25 / (30 / 56))
    assert agreement_of(queue, acts[:4]) is None


def test_the_organiser_adds_reviewers_and_makes_links(site: Site) -> None:
    client = site.browser()
    token = fields(client.get("/people").text, "add")["token"]
    page = client.post("/people", data={"token": token, "act": "add", "name": "<i>Eve</i>"}).text
    assert "<i>Eve" not in page and "&lt;i&gt;Eve" in page
    link = re.search(r'id="link">http://[^/]+(/enter/[\w-]+)<', page)
    assert link
    eve = site.stranger()
    assert eve.post(link[1]).status_code == 303
    assert eve.get("/review").status_code == 200
    assert client.post("/people", data={"token": token, "act": "add", "name": "ann"}).status_code == 400


def test_a_disk_that_is_full_keeps_nothing_and_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch, runs: list[Path]
) -> None:
    ann = site.browser("Ann")
    first = fields(ann.get(CASES).text)["item"]

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("portrayal_review.journal.os.fsync", full)
        answer = judge(ann, CASES, judgment="harm")
    assert answer.status_code == 507
    assert "was not kept" in answer.text
    assert read_judgments(runs[0] / "judgments.jsonl") == []
    assert fields(ann.get(CASES).text)["item"] == first
    assert judge(ann, CASES, judgment="harm").status_code == 303


def test_scenes_are_told_in_words() -> None:
    assert scene_words('{"place": "park", "things": ["dog", "cup"], "elderly": false}') == [
        ("place", "park"),
        ("things", "dog, cup"),
    ]
    assert scene_words("aster") is None
    assert scene_words("[1]") is None
