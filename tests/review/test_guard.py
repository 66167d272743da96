"""Guard of the viewer: people let in, and headers of every answer."""

from __future__ import annotations

import pytest

from portrayal.errors import PortrayalError
from portrayal_review.guard import refusal
from portrayal_review.people import ORGANISER, People, checked_name, form_token, is_token
from portrayal_review.serve import known_hosts
from review.conftest import HOST, fields

FORM = {"host": [HOST], "content-length": ["10"]}


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": [HOST]}, None),
        ("GET", {"host": ["evil.example:8000"]}, 421),  # a name pointed at this machine (DNS rebinding)
        ("GET", {"host": ["127.0.0.1:8001"]}, 421),
        ("GET", {}, 421),
        ("GET", {"host": [HOST, "evil.example"]}, 421),
        ("PUT", {"host": [HOST]}, 405),
        ("POST", FORM, None),
        ("POST", {**FORM, "origin": [f"http://{HOST}"], "sec-fetch-site": ["same-origin"]}, None),
        ("POST", {**FORM, "origin": ["http://evil.example"]}, 403),
        ("POST", {**FORM, "origin": ["null"]}, 403),
        ("POST", {**FORM, "origin": ["http://localhost:8000"]}, 403),  # ours, but not this page's
        ("POST", {**FORM, "sec-fetch-site": ["cross-site"]}, 403),
        ("POST", {**FORM, "sec-fetch-site": ["same-site"]}, 403),
        ("POST", {**FORM, "sec-fetch-site": ["none"]}, 403),
        ("POST", {"host": [HOST]}, 411),
        ("POST", {"host": [HOST], "content-length": ["-1"]}, 411),
        ("POST", {"host": [HOST], "content-length": ["70000"]}, 413),
    ],
)
def test_what_is_refused(method: str, headers: dict[str, list[str]], status: int | None) -> None:
    refused = refusal(method, headers, {HOST, "localhost:8000"})
    assert (refused and refused[0]) == status


def test_every_answer_carries_the_policy_and_nothing_is_cached(site) -> None:
    client = site.browser()
    for path in ("/", "/run/1", "/run/1/answers", "/people", "/nowhere", "/static/view.js", "/run/9"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["x-frame-options"] == "DENY"
        assert "no-store" in headers["cache-control"] or path.startswith("/static")
    assert client.get("/", headers={"host": "evil.example"}).headers["content-security-policy"] == policy


@pytest.mark.parametrize(
    "path",
    ["/", "/run/1", "/run/1/answers", "/run/1/agreement", "/people", "/review", "/review/1/cases", "/run/1/picture/0"],
)
def test_a_stranger_sees_nothing(site, path: str) -> None:
    answer = site.stranger().get(path)
    assert answer.status_code == 403
    assert "drawn captions" not in answer.text


def test_a_reviewer_sees_queues_and_nothing_of_the_organisers(site) -> None:
    ann = site.browser("Ann")
    assert ann.get("/").headers["location"] == "/review"
    for path in (
        "/run/1",
        "/run/1/results",
        "/run/1/answers",
        "/run/1/answer",
        "/run/1/compare",
        "/run/1/agreement",
        "/people",
    ):
        assert ann.get(path).status_code == 403
    assert ann.post("/people", data={"act": "add", "name": "Eve"}).status_code == 403
    assert site.people.names == ["Ann", "Ben"]


def test_a_link_works_once_and_looking_does_not_use_it_up(site) -> None:
    secret = site.people.invite("Ann")
    first, second = site.stranger(), site.stranger()
    assert "Hello, Ann" in first.get(f"/enter/{secret}").text
    assert "Hello, Ann" in second.get(f"/enter/{secret}").text
    entered = first.post(f"/enter/{secret}")
    cookie = entered.headers["set-cookie"].lower()
    assert entered.headers["location"] == "/review"
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert secret not in cookie
    assert second.post(f"/enter/{secret}").status_code == 403
    assert second.get(f"/enter/{secret}").status_code == 403
    assert first.get("/review").status_code == 200
    assert second.get("/review").status_code == 403


def test_a_new_link_voids_the_one_before_and_keeps_who_is_in(site) -> None:
    ann = site.browser("Ann")
    old = site.people.invite("Ann")
    site.people.invite("Ann")
    assert site.stranger().post(f"/enter/{old}").status_code == 403
    assert ann.get("/review").status_code == 200


def test_cross_site_forms_are_refused_and_keep_nothing(site) -> None:
    ann = site.browser("Ann")
    form = {**fields(ann.get("/review/1/cases").text), "judgment": "harm"}
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert ann.post("/review/1/cases", data=form, headers=headers).status_code == 403
    for token in ("", "0" * 64, form_token("another cookie")):
        assert ann.post("/review/1/cases", data={**form, "token": token}).status_code == 403
    assert site.desks.of(1).stands == {}
    assert ann.post("/review/1/cases", data=form, headers={"origin": f"http://{HOST}"}).status_code == 303


def test_a_form_of_one_session_is_nothing_in_another(site) -> None:
    ann, ben = site.browser("Ann"), site.browser("Ben")
    form = {**fields(ann.get("/review/1/cases").text), "judgment": "harm"}
    assert ben.post("/review/1/cases", data=form).status_code == 403


def test_the_organiser_and_a_reviewer_may_share_a_browser(site) -> None:
    client = site.browser()
    client.post(f"/enter/{site.people.invite('Ann')}")
    assert client.get("/run/1").status_code == 200
    assert client.get("/review/1/cases").status_code == 200
    form = {**fields(client.get("/review/1/cases").text), "judgment": "harm"}
    assert client.post("/review/1/cases", data=form).status_code == 303


def test_tokens_are_bound_to_their_cookie() -> None:
    assert is_token(form_token("a"), "a")
    assert not is_token(form_token("a"), "b")
    assert not is_token("ä", "a")


@pytest.mark.parametrize("name", ["", "  ", "a" * 41, "a\x00b", "\u202eevil", "\ud800"])
def test_names_nobody_can_read_are_refused(name: str) -> None:
    with pytest.raises(PortrayalError, match="a reviewer is called"):
        checked_name(name)


def test_two_of_one_name_are_refused() -> None:
    people = People.called(["Ann"])
    with pytest.raises(PortrayalError, match="already"):
        people.add(" ann ")
    with pytest.raises(PortrayalError, match="no reviewer 'Eve'"):
        people.invite("Eve")
    assert people.owner(people.invite(ORGANISER)) == ORGANISER


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        (("127.0.0.1", 80), ["127.0.0.1:80", "localhost:80"]),
        (("::1", 80), ["[::1]:80", "localhost:80", "127.0.0.1:80"]),
        (("10.0.0.7", 80), ["10.0.0.7:80"]),
        (("0.0.0.0", 80, "Audit.Example"), ["audit.example:80", "audit.example"]),
        (("0.0.0.0", 80, "audit.example:444"), ["audit.example:444"]),
    ],
)
def test_the_names_it_answers_to(given: tuple, hosts: list[str]) -> None:
    assert known_hosts(*given) == hosts


def test_every_address_needs_a_name() -> None:
    with pytest.raises(PortrayalError, match="--known-as NAME"):
        known_hosts("0.0.0.0", 80)
