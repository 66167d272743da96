"""The viewer in a real browser: judging by keyboard, coming back, agreement, text that stays text, sorting, accessibility."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest
import uvicorn

from portrayal.run.reviews import read_judgments
from portrayal_review.app import make_app
from portrayal_review.desk import Desks
from portrayal_review.links import kept_people
from portrayal_review.opened import Shelf
from portrayal_review.people import ORGANISER
from portrayal_review.serve import _listen, known_hosts
from review.made_runs import captions_run, contexts_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (Debian: apt install chromium)"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
ORGANISERS = ("/", "/people", "/run/1", "/run/1/results", "/run/1/answers", "/run/1/answers?row=3", "/run/1/compare",
              "/run/1/agreement", "/run/1/table/cases", "/run/1/answer?system=girls&stimulus=i07", "/run/2/answers")  # fmt: skip
# A picture that does not load is complete too. An idle network will not do: it is told once a page, so perhaps before.
ALL_COMPLETE = """Promise.all([...document.images].filter(one => !one.complete).map(
    one => new Promise(done => { one.onload = one.onerror = done; })))"""
REVIEWERS = ("/review", "/review/1/cases", "/review/1/pictures", "/review/2/tags", "/review/2/places")


class Served:
    """A viewer in a thread, over copies of the made runs."""

    def __init__(self, runs: list[Path], names: tuple[str, ...] = ("Ann", "Ben", "Eve"), port: int = 0) -> None:
        self.runs = runs
        self.people, shelf = kept_people(runs), Shelf(runs)
        for name in names:
            self.people.add(name)
        self.desks = Desks(shelf)
        self.socket = _listen("127.0.0.1", port)
        self.port = self.socket.getsockname()[1]
        app = make_app(self.desks, shelf, self.people, known_hosts("127.0.0.1", self.port))
        self.address = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()
        self.desks.close()

    def enter(self, page, name: str = ORGANISER) -> str:
        """Let a browser in by a new link, and return the link."""
        link = f"{self.address}/enter/{self.people.invite(name)}"
        page.goto(link)
        page.locator("button.main").press("Enter")
        page.wait_for_url(lambda url: "/enter/" not in url)
        return link


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return [captions_run(folder / "captions"), contexts_run(folder / "contexts")]


@pytest.fixture(scope="module")
def served(made):
    served = Served(made)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="module")
def browser(chromium):
    browser = chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


def press(page, key: str) -> None:
    """Press a key and wait for the page that comes of it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def test_twenty_items_by_keyboard_then_closed_and_back_to_the_same_place(served, chromium, tmp_path) -> None:
    def opened():
        return chromium.launch_persistent_context(str(tmp_path / "profile"), executable_path=CHROMIUM, args=FLAGS)

    context = opened()
    page = context.pages[0]
    served.enter(page, "Ann")
    page.goto(f"{served.address}/review/1/pictures")
    for number in range(20):
        press(page, "123"[number % 3])
    press(page, "u")
    page.keyboard.press("n")
    page.keyboard.type("1 torn edge")  # digits in a note judge nothing
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    press(page, "2")
    assert page.get_by_text("20 of 48 done").is_visible()
    here = page.locator(".judge img").get_attribute("src")
    context.close()
    context = opened()
    page = context.pages[0]
    page.goto(f"{served.address}/review/1/pictures")
    assert page.get_by_text("20 of 48 done").is_visible()
    assert page.locator(".judge img").get_attribute("src") == here
    context.close()
    acts = [act for act in read_judgments(served.runs[0] / "judgments.jsonl") if act["reviewer"] == "Ann"]
    assert [act["act"] for act in acts] == ["judge"] * 20 + ["undo", "judge"]
    assert acts[-1]["rows"][0]["note"] == "1 torn edge"
    assert acts[-1]["item"] == acts[19]["item"]


def test_after_a_restart_the_link_leads_back_to_the_same_place(made, browser, tmp_path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made[0], run, ignore=shutil.ignore_patterns("judgments.jsonl", "reviewers.json"))
    context = browser.new_context()
    page = context.new_page()
    first = Served([run], ("Ann",))
    link = first.enter(page, "Ann")
    page.goto(f"{first.address}/review/1/pictures")
    for key in "123":
        press(page, key)
    here = page.locator(".judge img").get_attribute("src")
    first.stop()
    again = Served([run], (), first.port)
    page.goto(link)  # used up, in the browser that used it
    assert page.url == f"{again.address}/review"
    page.locator("a[href='/review/1/pictures']").first.click()
    assert page.get_by_text("3 of 48 done").is_visible()
    assert page.locator(".judge img").get_attribute("src") == here
    stranger = browser.new_context().new_page()
    assert stranger.goto(link).status == 403
    stranger.context.close()
    context.close()
    again.stop()


def test_no_picture_is_broken(served, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    served.enter(page)
    for path in ("/run/1", "/run/1/answers", "/run/2", "/run/2/answers", "/run/1/compare"):
        page.goto(served.address + path)
        page.evaluate("document.querySelectorAll('img').forEach(one => one.loading = 'eager')")
        page.evaluate(ALL_COMPLETE)
        broken = page.evaluate("[...document.images].filter(one => !one.naturalWidth).map(one => one.src)")
        assert (path, broken) == (path, [])
    context.close()


def test_a_warned_item_shows_when_asked_for_and_is_judged_only_then(served, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    served.enter(page, "Eve")
    page.goto(f"{served.address}/review/1/cases")
    caption = page.locator(".caption")
    assert not caption.is_visible()
    page.keyboard.press("1")
    assert page.get_by_text("0 of 24 done").is_visible()
    page.keyboard.press("w")
    assert caption.is_visible()
    press(page, "x")  # skipped
    page.keyboard.press("w")
    press(page, "1")
    assert page.get_by_text("2 of 24 done").is_visible()
    context.close()


def test_clusters_and_a_slider_by_keyboard(served, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    served.enter(page, "Eve")
    page.goto(f"{served.address}/review/2/tags")
    page.keyboard.press("1")
    page.keyboard.press("3")
    press(page, "Enter")
    page.goto(f"{served.address}/review/2/places")
    assert page.get_by_text("not moved yet").is_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    press(page, "Enter")
    context.close()
    acts = [act for act in read_judgments(served.runs[1] / "judgments.jsonl") if act["reviewer"] == "Eve"]
    assert [act["rows"][0]["judgment"] for act in acts] == ["emotion;occupation", "7"]


def test_two_reviewers_agreement_appears(served, browser) -> None:
    for name, keys in (("Ann", "1"), ("Ben", "1")):
        context = browser.new_context()
        page = context.new_page()
        served.enter(page, name)
        page.goto(f"{served.address}/review/2/tags")
        page.keyboard.press(keys)
        press(page, "Enter")
        page.keyboard.press("2")
        press(page, "Enter")
        context.close()
    context = browser.new_context()
    page = context.new_page()
    served.enter(page)
    page.goto(f"{served.address}/run/2/agreement")
    section = page.locator("section", has_text="Tags in no cluster")
    assert section.get_by_text("Krippendorff's alpha").first.is_visible()
    assert section.get_by_text("Ann + Ben").first.is_visible()
    context.close()


def test_a_caption_with_a_script_is_text_and_nothing_leaves(served, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    served.enter(page)
    for path in (
        "/run/1/answer?system=girls&stimulus=i07",
        "/run/1/answers?words=script",
        "/run/1/compare",
        "/run/1/table/cases",
    ):
        page.goto(served.address + path)
        assert page.evaluate("window.__ran === undefined")
        assert page.locator("script:not([src])").count() == 0
    page.goto(f"{served.address}/run/1/answers?words=script")
    assert page.get_by_text("<script>window.__ran = 1</script>").first.is_visible()
    assert complaints == []
    assert all(url.startswith(served.address) for url in asked)
    context.close()


def test_tables_sort_and_a_row_opens_its_answers(served, browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    served.enter(page)
    page.goto(f"{served.address}/run/1/results")
    place = page.locator("thead th").all_inner_texts().index("n")

    def column() -> list[int]:
        cells = page.locator(f"tbody tr td:nth-child({place + 1})").all_inner_texts()
        return [int(cell.replace(",", "")) for cell in cells if cell.strip("–")]

    # A click returns when the next page begins to come; on a busy machine half of its rows may be there.
    with page.expect_navigation(wait_until="load"):
        page.locator("thead a", has_text="n").filter(has_text="n").and_(
            page.get_by_role("link", name="n", exact=True)
        ).click()
    rising = column()
    assert len(set(rising)) > 1 and rising == sorted(rising)
    with page.expect_navigation(wait_until="load"):
        page.locator("thead th[aria-sort=ascending] a").click()
    falling = column()
    assert falling == sorted(falling, reverse=True) and falling[0] > rising[0]
    with page.expect_navigation(wait_until="load"):
        page.locator("tbody a", has_text="open").first.click()
    assert page.get_by_text("These are the answers behind row").is_visible()
    assert page.locator(".answer").count() > 0
    context.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(served, browser, width: int, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    context = browser.new_context(bypass_csp=True, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    served.enter(page)
    served.enter(page, "Ben")
    for path in (*ORGANISERS, *REVIEWERS):
        page.goto(served.address + path)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = axe.run(page).response["violations"]
        grave = [
            (one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert (path, grave) == (path, [])
        wide, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert (path, wide) <= (path, seen)
    context.close()
