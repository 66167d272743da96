"""The page in a real browser: nothing leaves it, nothing runs in it, and it fits a phone."""

from __future__ import annotations

import shutil

import pytest

from portrayal.reporting.page.files import write_report
from reporting.factory import STEMS, five_sections, nasty_section

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (Debian: apt install chromium)"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("five"), five_sections(), "Five audits")


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("nasty"), [nasty_section()], "<script>window.__ran = 1</script>")


class Visit:
    """A page opened, and all it did."""

    def __init__(self, browser, path, width=1280, scheme="light"):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.mark.parametrize("name", ["report", "nasty"])
def test_nothing_leaves_the_page_and_nothing_runs_in_it(browser, name, request):
    with Visit(browser, request.getfixturevalue(name)) as visit:
        visit.page.mouse.wheel(0, 20_000)
        visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert visit.requests == [visit.address]
        assert visit.complaints == []
        assert visit.page.evaluate("window.__ran === undefined")
        assert visit.page.locator("script").count() == 0


def test_every_audit_has_its_section_and_its_charts(browser, report):
    with Visit(browser, report) as visit:
        for stem in STEMS:
            assert visit.page.locator(f"section#{stem}").is_visible()
            assert visit.page.locator(f"section#{stem} figure").count() == 2
            assert visit.page.locator(f"section#{stem} figure.main svg:visible").count() == 1


def test_unfinished_work_is_seen_without_scrolling(browser, report):
    with Visit(browser, report) as visit:
        box = visit.page.get_by_text("36 of 720 questions have no answer yet").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 300


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 2200])
@pytest.mark.parametrize("name", ["report", "nasty"])
def test_no_width_makes_the_page_scroll_sideways(browser, name, width, request):
    with Visit(browser, request.getfixturevalue(name), width=width) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        wide, seen = visit.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide <= seen


OVERLAPS = """() => {
  const bad = [];
  for (const row of document.querySelectorAll('table.results tbody tr')) {
    const boxes = [...row.children].filter(one => one.textContent.trim()).map(one => one.getBoundingClientRect());
    for (const [place, one] of boxes.entries()) for (const other of boxes.slice(place + 1)) {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 1 && down > 1) bad.push(row.textContent.slice(0, 40));
    }
    for (const one of row.children) if (one.scrollWidth > one.clientWidth + 1) bad.push(one.textContent.trim());
  }
  return bad;
}"""


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_cell_of_the_results_runs_into_another(browser, report, width):
    for path in (report, report.parent / "rows" / "contexts.html", report.parent / "rows" / "search.html"):
        with Visit(browser, path, width=width) as visit:
            visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert visit.page.locator("table.results tbody tr").first.is_visible()
            assert visit.page.evaluate(OVERLAPS) == []


def test_a_finding_leads_to_its_row_even_when_folded_away(browser, report):
    with Visit(browser, report) as visit:
        visit.page.locator("#search .trace").first.click()
        assert visit.page.locator("#search-row-1").is_visible()
        assert visit.page.url.endswith("#search-row-1")


def test_the_keyboard_skips_to_the_findings(browser, report):
    with Visit(browser, report) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.id") == "main"


CONTRAST = """scheme => {
  const channel = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const bright = rgb => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
  const ground = one => {
    for (let here = one; here; here = here.parentElement) {
      const color = parse(getComputedStyle(here).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const one of document.querySelectorAll('body *:not(svg *)')) {
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    if (!one.checkVisibility()) continue;
    const pair = [bright(parse(getComputedStyle(one).color)), bright(ground(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) bad.push([one.tagName, one.className, ratio.toFixed(2), one.textContent.slice(0, 30)]);
  }
  return bad;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_in_light_and_dark(browser, report, scheme):
    # 4.5:1 is what WCAG 2.2 asks of text (success criterion 1.4.3).
    with Visit(browser, report, scheme=scheme) as visit:
        assert visit.page.evaluate(CONTRAST, scheme) == []


def test_the_charts_follow_the_dark_page(browser, report):
    with Visit(browser, report, scheme="dark") as visit:
        label = visit.page.locator("#search figure svg text").first
        assert label.evaluate("one => getComputedStyle(one).fill") in ("rgb(232, 234, 237)", "rgb(167, 176, 186)")


def test_the_page_prints(browser, report):
    with Visit(browser, report) as visit:
        assert visit.page.pdf().startswith(b"%PDF")
