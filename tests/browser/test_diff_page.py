"""The page of a diff in a real browser: nothing scrolls sideways, axe finds nothing serious, every wave is on every chart."""

from __future__ import annotations

import shutil

import pytest
from benchmarks.waves import Case

from portrayal.reporting.page.diff import compare, render
from portrayal.study.calibration import SIMULATIONS
from portrayal.waves.waves import measure_waves

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (Debian: apt install chromium)"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = ("January", "February", "March", "April", "May")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Five waves of two encoders; the first test of one moves from the second wave on."""
    from importlib import import_module

    case = Case("associations", "clustered", 1.8)
    made = [import_module(SIMULATIONS[case.stem]).simulate(case.shape, 0, case.effect, wave) for wave in range(1, 6)]
    waves = measure_waves(NAMES, [one.study for one in made], [one.evidence for one in made])
    path = tmp_path_factory.mktemp("diff") / "diff.html"
    path.write_text(render(compare(waves), waves))
    return path


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_can_be_read_by_everybody(written, browser, width: int, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(written.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    wide, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= seen
    found = axe.run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_wave_is_on_every_chart_and_in_sight(written, browser, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(written.as_uri())
    charts = page.locator("figure.chart")
    assert charts.count() == 12
    for place in range(charts.count()):
        chart = charts.nth(place)
        assert set(NAMES) <= set(chart.locator("svg text").all_inner_texts()) or all(
            name in chart.inner_text() or name in chart.text_content() for name in NAMES
        )
        inside = chart.evaluate(
            "one => one.querySelector('svg').getBoundingClientRect().right <= one.getBoundingClientRect().right + 1"
        )
        assert inside
    assert "moved by February" in charts.nth(0).text_content()
    context.close()
