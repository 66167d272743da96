"""A viewer that was stopped or killed and started again: links and browsers of earlier times lead back to the same place."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from portrayal_review import links as kept_links
from portrayal_review.app import make_app
from portrayal_review.desk import Desks
from portrayal_review.links import NAME, kept_people, kept_port
from portrayal_review.opened import Shelf
from portrayal_review.people import ORGANISER
from review.conftest import HOST, fields

PICTURES = "/review/1/pictures"


class Started:
    """A viewer as `portrayal view` starts it, until it is stopped."""

    def __init__(self, folders: list[Path], reviewers: tuple[str, ...] = ()) -> None:
        self.people, shelf = kept_people(folders), Shelf(folders)
        self.people.port = 8000
        for name in reviewers:
            self.people.called_so(name)
        self.desks = Desks(shelf)
        self.app = make_app(self.desks, shelf, self.people, [HOST])

    def browser(self, cookies: dict[str, str] | None = None) -> TestClient:
        return TestClient(self.app, base_url=f"http://{HOST}", follow_redirects=False, cookies=cookies)

    def stop(self) -> None:
        self.desks.close()


def test_a_browser_and_an_unused_link_lead_back_after_a_restart(runs: list[Path]) -> None:
    first = Started(runs, ("Ann", "Ben"))
    links = {name: f"/enter/{first.people.invite(name)}" for name in ("Ann", "Ben")}
    ann = first.browser()
    assert ann.post(links["Ann"]).status_code == 303
    for _ in range(3):
        assert ann.post(PICTURES, data={**fields(ann.get(PICTURES).text), "judgment": "usable"}).status_code == 303
    here, cookies = fields(ann.get(PICTURES).text)["item"], dict(ann.cookies)
    first.stop()

    second = Started(runs)
    ann, ben = second.browser(cookies), second.browser()
    assert ann.get(links["Ann"]).headers["location"] == "/"  # the link she used, in the browser that used it
    assert ann.get("/").headers["location"] == "/review"
    assert fields(ann.get(PICTURES).text)["item"] == here
    assert "3 of 48 done" in ann.get(PICTURES).text
    assert "Hello, Ben" in ben.get(links["Ben"]).text
    assert ben.post(links["Ben"]).status_code == 303
    assert ben.get(PICTURES).status_code == 200
    stranger = second.browser()
    for link in links.values():  # both are used up, for everybody else
        refused = stranger.get(link)
        assert refused.status_code == 403 and "go on where you were" in refused.text
        assert stranger.post(link).status_code == 403
    second.stop()
    assert kept_people(runs).names == ["Ann", "Ben"] and kept_port(runs) == 8000


def test_a_further_link_leaves_the_earlier_one_and_a_new_one_does_not(runs: list[Path]) -> None:
    people = kept_people(runs)
    people.add("Ann")
    old = people.invite("Ann")
    again = kept_people(runs)
    further = again.invite(again.called_so("ann"), further=True)
    assert [kept_people(runs).owner(secret) for secret in (old, further)] == ["Ann", "Ann"]
    again.invite("Ann")
    assert [kept_people(runs).owner(secret) for secret in (old, further)] == [None, None]


def test_what_is_kept_holds_no_secret_and_nothing_of_the_organiser(runs: list[Path]) -> None:
    people = kept_people(runs[:1])
    _, cookie = people.enter(people.invite(ORGANISER))
    assert not (runs[0] / NAME).exists()  # a run that is only looked at stays as it is
    people.add("Ann")
    secret = people.invite("Ann")
    text = (runs[0] / NAME).read_text()
    assert stat.S_IMODE((runs[0] / NAME).stat().st_mode) == 0o600
    assert secret not in text and cookie not in text
    assert kept_people(runs[:1]).who(cookie) is None


def test_a_copy_of_a_run_brings_nobody_in(runs: list[Path], tmp_path: Path) -> None:
    people = kept_people(runs[:1])
    people.add("Ann")
    secret = people.invite("Ann")
    shutil.copytree(runs[0], tmp_path / "sent")
    assert kept_people([tmp_path / "sent"]).owner(secret) is None
    assert kept_people(runs[:1]).owner(secret) == "Ann"


def test_a_link_is_good_for_the_runs_it_was_made_for_and_no_further(runs: list[Path]) -> None:
    alone, both = kept_people(runs[:1]), kept_people(runs)
    alone.add("Ann")
    both.add("Ben")
    ann, ben = alone.invite("Ann"), both.invite("Ben")
    assert [kept_people(runs).owner(secret) for secret in (ann, ben)] == [None, "Ben"]
    assert [kept_people(runs[:1]).owner(secret) for secret in (ann, ben)] == ["Ann", "Ben"]


def test_a_link_is_good_for_thirty_days(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    people = kept_people(runs)
    people.add("Ann")
    secret = people.invite("Ann")
    made = next(iter(people.links.values())).made
    for days, owner in ((29.9, "Ann"), (30.1, None)):
        monkeypatch.setattr(kept_links.time, "time", lambda days=days: made + days * 86400)
        assert kept_people(runs).owner(secret) == owner


@pytest.mark.parametrize("text", ["", "{", "[]", '{"of": 1}', "[" * 100_000, '{"of": "PLACE", "names": [7]}'])
def test_a_damaged_file_means_new_links(runs: list[Path], text: str) -> None:
    (runs[0] / NAME).write_text(text.replace("PLACE", str(runs[0].stat().st_ino)))
    people = kept_people(runs[:1])
    assert people.names == [] and kept_port(runs[:1]) == 0
    people.add("Ann")
    people.invite("Ann")
    assert json.loads((runs[0] / NAME).read_text())["names"] == ["Ann"]
