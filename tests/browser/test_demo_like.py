"""A report of every audit, like the demonstration's, in a real browser: short, one look a system, and everything opens."""

from __future__ import annotations

import re
import shutil

import pytest

from portrayal.reporting.charts.theme import GREYS
from portrayal.reporting.page.files import write_report
from portrayal.reporting.page.section import draw_all, report_looks
from reporting.demo_like import demo_like

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (Debian: apt install chromium)"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DESKTOP, PHONE = (1280, 800), (390, 844)


OUTSIDE = """() => {
  const bad = [];
  for (const canvas of document.querySelectorAll('figure.main .canvas')) {
    if (!canvas.checkVisibility()) continue;
    for (const one of canvas.querySelectorAll('.role-mark path, .role-mark text, .role-axis text, .role-legend text')) {
      const box = one.getBoundingClientRect();
      if (box.width + box.height && (box.left < -1 || box.right > innerWidth + 1)) bad.push([canvas.parentElement.id, one.textContent]);
    }
  }
  return bad;
}"""


SCALES = """() => [...document.querySelectorAll('.canvas.phone svg')]
  .map(one => one.getBoundingClientRect().width / one.viewBox.baseVal.width)"""
TOO_WIDE = """() => [...document.querySelectorAll('.canvas svg')]
  .filter(one => one.getBoundingClientRect().right > innerWidth).length"""
GAPS = """() => [...document.querySelectorAll('.canvas svg')].filter(svg => svg.checkVisibility()).flatMap(svg => {
  const top = svg.getBoundingClientRect().top;
  const boxes = [...svg.querySelectorAll('.role-axis')].filter(one => one.querySelector('text'))
    .map(one => one.getBoundingClientRect()).filter(box => box.width > box.height);
  const places = boxes.map(box => box.top - top).sort((one, other) => one - other);
  return places.map((at, place) => at - (place ? places[place - 1] : 0));
})"""
EMPTY = """() => [...document.querySelectorAll('.canvas svg')].filter(svg => ![...svg.querySelectorAll('.role-mark')]
  .some(one => one.children.length && !one.classList.contains('mark-rule'))).length"""
FOLDED = "document.querySelectorAll('details').forEach(one => one.open = true)"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("all"), demo_like(), "Every audit").parent


@pytest.fixture
def opened(browser, folder):
    contexts = []

    def open_page(size=DESKTOP, name="report.html", **further):
        contexts.append(browser.new_context(viewport={"width": size[0], "height": size[1]}, **further))
        page = contexts[-1].new_page()
        page.goto((folder / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("size", "most"), [(DESKTOP, 15), (PHONE, 30)])
def test_the_report_is_no_longer_than_readers_bear(opened, size, most):
    height = opened(size).evaluate("document.documentElement.scrollHeight")
    assert height / size[1] <= most


def test_it_prints_on_twenty_pages(opened):
    pages = re.findall(rb"/Type\s*/Page\b", opened().pdf(format="A4"))
    assert 2 <= len(pages) <= 20


def test_the_first_screen_answers_the_five_questions_and_has_a_card_an_audit(opened):
    page = opened()
    bottom = page.locator(".short dd").last.bounding_box()
    assert bottom["y"] + bottom["height"] < 500
    cards = page.locator(".card")
    assert cards.count() == 5
    for place in range(5):
        box = cards.nth(place).locator("h3").bounding_box()
        assert box["y"] + box["height"] < DESKTOP[1]
        assert cards.nth(place).locator("img, svg").count() == 1


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_every_figure_opens_rows_that_are_there(opened, folder, size):
    page = opened(size)
    figures = page.locator("figure.chart")
    assert figures.count() > 20
    for place in range(figures.count()):
        addresses = (
            figures.nth(place).locator("figcaption a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        )
        assert addresses, figures.nth(place).get_attribute("id")
        for address in addresses:
            name, _, anchor = address.partition("#")
            assert (folder / name).is_file()
            assert not anchor or f'id="{anchor}"' in (folder / name).read_text()


def test_a_sentence_opens_its_row_and_the_row_its_answers(opened):
    page = opened()
    for stem in ("contexts", "captions", "search"):
        page.wait_for_load_state()  # what is not parsed yet cannot be unfolded
        if not page.locator(f"#{stem} .findings a.trace").first.is_visible():  # nothing found: the sentences are folded
            page.evaluate(FOLDED)
        page.locator(f"#{stem} .findings a.trace").first.click()
        row = page.locator(page.evaluate("location.hash"))
        assert row.is_visible()
        row.get_by_role("link", name="the answers behind").click()
        assert page.get_by_role("heading", level=1).inner_text().split()[-1].startswith("answer")
        assert page.locator("tbody tr").count() > 0
        page.get_by_text("Back to the report").click()
        assert page.url.endswith(f"report.html#{stem}")


def test_on_a_phone_every_point_of_the_main_charts_is_in_sight(opened):
    page = opened(PHONE)
    shown = page.locator("figure.main .canvas.phone svg")
    assert shown.count() >= 8
    assert page.evaluate(OUTSIDE) == []
    sizes = page.evaluate(SCALES)
    assert min(sizes) > 0.75  # letters of 12 pixels are not smaller than 9


def test_on_a_phone_folded_charts_fit_the_screen_too(opened):
    page = opened(PHONE)
    page.evaluate(FOLDED)
    wide = page.evaluate(TOO_WIDE)
    assert wide == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_long_charts_keep_an_axis_in_sight(opened):
    page = opened()
    page.evaluate(FOLDED)
    gaps = page.evaluate(GAPS)
    assert gaps and max(gaps) <= 800


def test_no_empty_chart_is_drawn(opened):
    page = opened()
    empty = page.evaluate(EMPTY)
    assert empty == 0


def test_a_system_has_one_colour_in_all_charts_and_simulated_ones_are_grey():
    sections = demo_like()
    looks = report_looks(sections)
    assert any(look.simulated for look in looks.values())
    assert all((look.color in GREYS) == look.simulated for look in looks.values())
    seen: dict[str, set[str]] = {}
    for drawn in draw_all(sections):
        for one in drawn:
            for color, name in re.findall(r'fill="(#[0-9a-f]{6})"[^>]*/><text[^>]*>([^<]+)</text>', one.svg):
                if name in looks:
                    seen.setdefault(name, set()).add(color)
    assert all(colors == {looks[name].color} for name, colors in seen.items())


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_axe_finds_nothing_serious(opened, folder, size, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    for name in ("report.html", "rows/search.html", "rows/search-answers-1.html"):
        page = opened(size, name, bypass_csp=True, color_scheme=scheme)
        for unfolded in (False, True) if size == DESKTOP else (False,):  # what is folded is the same on a phone
            if unfolded:
                page.evaluate(FOLDED)
            grave = [
                (one["id"], one["nodes"][0]["html"][:160])
                for one in axe.run(page).response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert (name, grave) == (name, [])
